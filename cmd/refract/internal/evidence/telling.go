package evidence

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/metrics"
)

// mostBytes bounds the segments of a page, so that the page has at most 8 MB.
var mostBytes = 7_400_000.0

// choose returns the segments for a page, in order: all, or those that tell most if all would take too much.
func (h *Held) choose(ctx context.Context, e *page.Explorer, at []int) []int {
	all, bytes := make([]int, len(h.segments)), 0.0
	for i := range h.segments {
		all[i] = i
		bytes += h.segments[i].bytes()
	}
	if bytes < mostBytes/2 { // less, even if nothing can be compressed
		return all
	}
	// Some runs of segments show how well the rest can be compressed.
	const runs, length = 8, 64
	sample, sampled := all, 0.0
	if len(all) > 2*runs*length {
		sample = nil
		for i := range runs {
			sample = append(sample, all[i*(len(all)-length)/(runs-1):][:length]...)
		}
	}
	for _, i := range sample {
		sampled += h.segments[i].bytes()
	}
	tried := *e
	tried.Segments = h.explore(ctx, e, at, sample)
	size, err := tried.Size(ctx)
	if err != nil {
		return all // whoever writes them meets the error
	}
	share := float64(size) / sampled
	if share*bytes <= mostBytes {
		return all
	}
	var out []int
	left := 0.95 * mostBytes / share
	for i := range h.telling() {
		if left -= h.segments[i].bytes(); left < 0 {
			break
		}
		out = append(out, i)
	}
	slices.Sort(out)
	e.Note = fmt.Sprintf("The list shows %s of %s segments, and leaves out %s: it has those with the largest gains and losses against one reference, and those whose outputs people and metrics order most differently. All numbers and figures above are of all segments.",
		humanize.Comma(int64(len(out))), humanize.Comma(int64(len(all))), humanize.Comma(int64(len(all)-len(out))))
	return out
}

// bytes is about how much a segment adds to a page before it is compressed.
func (s *scored) bytes() float64 {
	n := len(s.segment.ID) + len(s.segment.Source.Value)
	for _, t := range s.segment.AllReferences(nil) {
		n += len(t.Value)
	}
	for i := range s.segment.Hypotheses {
		n += len(s.segment.Hypotheses[i].Text.Value)
	}
	for i := range s.scores {
		n += 8 * len(s.scores[i].Values)
	}
	return float64(n)
}

// telling yields the numbers of the segments, those that tell most first: by turns the next one of
// each order, which are by gain, by loss and by disagreement with people under each setting.
func (h *Held) telling() iter.Seq[int] {
	var orders [][]int
	by := func(values []float64) {
		var order []int
		for i, v := range values {
			if v > 0 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
		orders = append(orders, order)
	}
	reducer, n := h.engine.Reducer(), len(h.segments)
	for k, metric := range h.metric {
		first := slices.Index(h.metric, metric) // of the metric's settings, usually single
		gains, losses, apart := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range h.segments {
			scores := h.under(reducer, k, i)
			apart[i] = footrule(h.judged(i), scores)
			for o, v := range h.under(reducer, first, i) {
				if more := scores[o] - v; !math.IsNaN(more) {
					gains[i] += more
					losses[i] -= more
				}
			}
		}
		by(gains)
		by(losses)
		by(apart)
	}
	rest := make([]int, n)
	for i := range rest {
		rest[i] = i
	}
	return func(yield func(int) bool) {
		seen := make([]bool, len(h.segments))
		for more := true; more; {
			more = false
			for k, order := range orders {
				for len(order) > 0 && seen[order[0]] {
					order = order[1:]
				}
				if len(order) > 0 {
					more, seen[order[0]] = true, true
					if !yield(order[0]) {
						return
					}
				}
				orders[k] = order
			}
			if !more && rest != nil {
				orders, rest, more = [][]int{rest}, nil, true
			}
		}
	}
}

// under returns the scores of a segment's outputs under a setting, NaN where there is none; higher is better.
func (h *Held) under(reducer *refract.Reducer, setting, segment int) []float64 {
	s := &h.segments[segment]
	ms := &s.scores[h.metric[setting]]
	out := make([]float64, len(s.segment.Hypotheses))
	for k := range out {
		out[k] = math.NaN()
		if red, err := reducer.ReduceMatrix(ms, setting, k); err == nil && red.Status == metrics.Scored {
			out[k] = red.Value
			if h.settings[setting].Metric.Info().Direction == metrics.LowerIsBetter {
				out[k] = -red.Value
			}
		}
	}
	return out
}

// judged returns what people say of a segment's outputs by the first kind of judgements, NaN for nothing.
func (h *Held) judged(segment int) []float64 {
	s := h.segments[segment].segment
	out := make([]float64, len(s.Hypotheses))
	for k := range out {
		out[k] = math.NaN()
		for _, j := range s.Judgements {
			if j.Valid && j.Name == h.humans[0] && j.System == s.Hypotheses[k].System {
				out[k] = j.Score
			}
		}
	}
	return out
}

// footrule is Spearman's footrule of the values that both have, as the page's script computes it,
// as a share of its maximum.
func footrule(x, y []float64) float64 {
	both := func(i int) bool { return !math.IsNaN(x[i]) && !math.IsNaN(y[i]) }
	n, sum := 0, 0
	for i := range x {
		if !both(i) {
			continue
		}
		n++
		apart := 0 // twice the difference of the ranks
		for j := range x {
			if both(j) {
				apart += cmp.Compare(x[j], x[i]) - cmp.Compare(y[j], y[i])
			}
		}
		sum += max(apart, -apart)
	}
	if n < 2 {
		return 0
	}
	return float64(sum) / 2 / float64(n*n/2)
}
