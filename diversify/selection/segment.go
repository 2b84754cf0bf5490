package selection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/alarm"
)

// NotSelected is the verdict on a variant that a selection left out.
const NotSelected = "not selected"

// Selector orders the variants of segments. It is safe for concurrent use.
type Selector struct {
	Method Method
	// Similarity compares texts; needed if Method.Compares.
	Similarity Similarity
	Seed       uint64 // for ByRandom
	// WithoutAlarms never keeps a variant that may have changed the meaning.
	WithoutAlarms bool
	// Language is that of the references, for alarms; "" means those that segments state.
	Language string
}

// can reports whether a variant can be chosen.
func (s *Selector) can(seg *refract.Segment, v *refract.Variant) bool {
	return usable(v.Text) && !(s.WithoutAlarms && len(alarm.Of(s.Language, seg, v)) > 0)
}

// String returns a description such as "farthest over ngrams".
func (s *Selector) String() string {
	switch {
	case s.Method.Compares() && s.Similarity != nil:
		return s.Method.String() + " over " + s.Similarity.Name()
	case s.Method == ByRandom:
		return fmt.Sprintf("random, seed %d", s.Seed)
	}
	return s.Method.String()
}

// Orders returns, for each segment, the indexes of its variants in the order of choice,
// so every prefix is the selection of that size. Variants with a missing or blank text
// are left out, and with WithoutAlarms those with an alarm. The segment's originals count as chosen already.
func (s *Selector) Orders(ctx context.Context, segments []*refract.Segment) ([][]int, error) {
	out := make([][]int, len(segments))
	texts := make([][]string, len(segments))
	given := make([]int, len(segments))
	for i, seg := range segments {
		for _, r := range seg.References {
			if usable(r) {
				texts[i] = append(texts[i], r.Value)
			}
		}
		given[i] = len(texts[i])
		for v := range seg.Variants {
			if s.can(seg, &seg.Variants[v]) {
				texts[i] = append(texts[i], seg.Variants[v].Text.Value)
				out[i] = append(out[i], v)
			}
		}
	}
	var matrices []Matrix
	if s.Method.Compares() {
		if s.Similarity == nil {
			return nil, fmt.Errorf("selection by %s: there is nothing to compare texts by; set Similarity", s.Method)
		}
		var err error
		if matrices, err = s.Similarity.Matrices(ctx, texts); err != nil {
			return nil, fmt.Errorf("selection by %s: %w", s, err)
		}
	}
	for i, seg := range segments {
		var order []int
		switch s.Method {
		case ByRandom:
			order = random(len(out[i]), s.Seed, seg.ID)
		case ByFarthest:
			order = farthest(matrices[i], given[i])
		case ByFacility:
			order = facility(matrices[i], given[i])
		default:
			continue
		}
		for k, c := range order {
			order[k] = out[i][c]
		}
		out[i] = order
	}
	return out, nil
}

// usable reports whether a text can be compared.
func usable(t refract.Text) bool { return t.Valid && strings.TrimSpace(t.Value) != "" }

// Select keeps k variants of each segment, or all if there are fewer, and moves the
// others to the rejected ones.
func (s *Selector) Select(ctx context.Context, segments []*refract.Segment, k int) error {
	orders, err := s.Orders(ctx, segments)
	if err != nil {
		return err
	}
	for i, seg := range segments {
		Keep(seg, orders[i], k, s.String())
	}
	return nil
}

// Keep keeps the first k variants of an order, in their positions in the segment, and
// moves the others to the end of the rejected ones with the verdict NotSelected. by names
// the selection in their details.
func Keep(seg *refract.Segment, order []int, k int, by string) {
	k = max(0, min(k, len(order)))
	kept := make([]refract.Variant, 0, k)
	for i, v := range seg.Variants {
		place := slices.Index(order, i)
		if place >= 0 && place < k {
			kept = append(kept, v)
			continue
		}
		v.Verdict, v.Detail = NotSelected, "no text"
		if usable(v.Text) {
			v.Detail = "it has an alarm"
		}
		if place >= 0 {
			v.Detail = fmt.Sprintf("place %d by %s, %d kept", place+1, by, k)
		}
		seg.Rejected = append(seg.Rejected, v)
	}
	seg.Variants = kept
}
