package review

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/alarm"
	"github.com/refract-eval/refract/internal/english"
)

// Wanted says how many answers a person sees.
type Wanted struct {
	// Drawn is how many accepted answers are drawn at random to estimate precision.
	// If a run has drawn some already (refract.Variant.Audit), all of those are shown
	// instead.
	Drawn    int
	Alarmed  int // accepted answers with the most alarms, besides
	Rejected int // of each pattern of rejection
	Seed     uint64
	Language string // of the references, for alarms; "" means those that segments state
}

// Item is an answer to decide about, as a page shows it. All its strings may be untrusted text.
type Item struct {
	Answer    string   `json:"answer"` // names it in decisions
	Segment   string   `json:"segment"`
	Prompt    string   `json:"prompt"`
	Model     string   `json:"model"`
	Group     string   `json:"group"` // items of a group follow each other
	Drawn     bool     `json:"drawn"` // at random: it counts for the estimate
	Source    string   `json:"source"`
	Reference string   `json:"reference"`
	Text      string   `json:"text"`
	Raw       string   `json:"raw"` // before cleaning, "" where that is the text
	Verdict   string   `json:"verdict"`
	Detail    string   `json:"detail"`
	Alarms    []string `json:"alarms"`
	Choice    string   `json:"choice"` // what was decided before: "" or accept, reject, edit
	Edited    string   `json:"edited"` // the wording of an edit
}

// The groups of accepted answers.
const (
	groupDrawn   = "accepted, drawn at random"
	groupAlarmed = "accepted, with alarms"
)

// Pick chooses answers of a dataset: those with alarms, those drawn at random,
// then the rejected ones by pattern, the most frequent pattern first. The
// choice depends only on the answers and the seed, not on their order. Answers that were
// decided before show their decision; decided may be nil.
func Pick(ctx context.Context, ds refract.Dataset, w Wanted, decided *Decisions) ([]Item, error) {
	drawn, alarmed, audited := least{n: w.Drawn}, least{n: w.Drawn + w.Alarmed}, least{n: math.MaxInt}
	patterns := map[string]*least{}
	for s, err := range ds.Segments(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for i, v := range slices.Concat(s.Variants, s.Rejected) {
			key := Key(s, &v)
			rank, accepted := chance(w.Seed, key), i < len(s.Variants)
			if accepted {
				v.Alarms = alarm.Of(w.Language, s, &v)
			}
			switch {
			case v.Audit != "": // accepted when it was drawn
				audited.offer(s, &v, key, rank)
			case !accepted:
				pattern := diversify.Pattern(&v)
				if patterns[pattern] == nil {
					patterns[pattern] = &least{n: w.Rejected}
				}
				patterns[pattern].offer(s, &v, key, rank)
			case v.Text.Valid:
				drawn.offer(s, &v, key, rank)
				if len(v.Alarms) > 0 {
					alarmed.offer(s, &v, key, rank-float64(len(v.Alarms)))
				}
			}
		}
	}
	var out []Item
	shown := map[string]bool{}
	add := func(from *least, group string, most int) {
		for _, c := range from.items {
			if most == 0 {
				return
			}
			if shown[c.key] {
				continue
			}
			shown[c.key] = true
			out = append(out, c.item(group, decided))
			most--
		}
	}
	if audited.offered > 0 {
		drawn = audited
	}
	add(&drawn, groupDrawn, drawn.n)
	sample := out
	out = nil
	add(&alarmed, groupAlarmed, w.Alarmed)
	out = append(out, sample...)
	names := slices.SortedFunc(maps.Keys(patterns), func(a, b string) int {
		return cmp.Or(cmp.Compare(patterns[b].offered, patterns[a].offered), cmp.Compare(a, b))
	})
	for _, name := range names {
		add(patterns[name], fmt.Sprintf("rejected, %s (%s)", name, english.Thousands(patterns[name].offered, "answer")), w.Rejected)
	}
	return out, nil
}

// chance returns a number from 0 to 1 that depends only on the seed and the answer.
func chance(seed uint64, key string) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, key))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// least keeps the n answers with the lowest rank.
type least struct {
	n       int
	offered int
	items   []candidate // by rank, then key
}

type candidate struct {
	rank    float64
	key     string
	segment *refract.Segment
	variant *refract.Variant
}

func (l *least) offer(s *refract.Segment, v *refract.Variant, key string, rank float64) {
	l.offered++
	c := candidate{rank, key, s, v}
	i, _ := slices.BinarySearchFunc(l.items, c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.key, b.key))
	})
	if i >= l.n {
		return
	}
	if l.items = slices.Insert(l.items, i, c); len(l.items) > l.n {
		l.items = l.items[:l.n]
	}
}

// item returns an answer as the page shows it.
func (c *candidate) item(group string, decided *Decisions) Item {
	v := c.variant
	it := Item{
		Answer: c.key, Segment: c.segment.ID, Prompt: v.Prompt, Model: v.Model, Group: group, Drawn: group == groupDrawn,
		Source: c.segment.Source.Value, Verdict: v.Verdict, Detail: v.Detail, Alarms: v.Alarms, Text: v.Text.Value,
	}
	if v.Reference < len(c.segment.References) {
		it.Reference = c.segment.References[v.Reference].Value
	}
	if v.Origin != nil && v.Origin.Raw.Valid && v.Origin.Raw != v.Text {
		it.Raw = v.Origin.Raw.Value
	}
	if decided != nil {
		d := decided.by[c.key]
		it.Choice, it.Edited = d.Choice, d.Text
	}
	return it
}
