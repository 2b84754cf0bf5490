package evidence

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract/cmd/refract/internal/page"
)

// mostBytes bounds the segments of a page, so that the page has at most 8 MB.
var mostBytes = 7_400_000.0

// choose returns all segments, or those that tell most if all would take too much.
func (h *Held) choose(ctx context.Context) (chosen []scored) {
	all, bytes := h.segments, 0.0
	for i := range all {
		bytes += all[i].bytes()
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
	for i := range sample {
		sampled += sample[i].bytes()
	}
	tried := *h.explorer
	tried.Segments = h.explore(ctx, sample)
	size, err := tried.Pack(ctx)
	share := float64(size) / sampled
	if err != nil || share*bytes <= mostBytes { // whoever writes them meets the error
		return all
	}
	var indices []int
	left := 0.95 * mostBytes / share
	for i := range h.telling(h.explore(ctx, all)) {
		if left -= all[i].bytes(); left < 0 {
			break
		}
		indices = append(indices, i)
	}
	slices.Sort(indices)
	for _, i := range indices {
		chosen = append(chosen, all[i])
	}
	h.explorer.Note = fmt.Sprintf("The list shows %s of %s segments, and leaves out %s: it has those with the largest gains and losses against one reference, and those whose outputs people and metrics order most differently. All numbers and figures above are of all segments.",
		humanize.Comma(int64(len(chosen))), humanize.Comma(int64(len(all))), humanize.Comma(int64(len(all)-len(chosen))))
	return chosen
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
func (h *Held) telling(segments iter.Seq2[*page.Segment, error]) iter.Seq[int] {
	all := make([]int, len(h.segments))
	for i := range all {
		all[i] = i
	}
	values := make([][]float64, 3*len(h.settings)) // of each order, by segment
	for k := range values {
		values[k] = make([]float64, len(all))
	}
	i := 0
	for s, err := range segments {
		if err != nil {
			break // whoever writes them meets the error
		}
		people, under := make([]float64, len(s.Outputs)), make([]float64, len(s.Outputs)) // higher is better
		for o, out := range s.Outputs {
			people[o] = append(out.Human, math.NaN())[0]
		}
		for k, set := range h.settings {
			sign, first := float64(set.Metric.Info().Direction), slices.Index(h.metric, h.metric[k]) // of the metric's settings, usually single
			for o, out := range s.Outputs {
				under[o] = sign * out.Scores[k].Value
				if more := under[o] - sign*out.Scores[first].Value; !math.IsNaN(more) {
					values[3*k][i] += more
					values[3*k+1][i] -= more
				}
			}
			values[3*k+2][i] = footrule(people, under)
		}
		i++
	}
	var orders [][]int
	for _, of := range values {
		order := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !(of[i] > 0) })
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(of[j], of[i]) })
		orders = append(orders, order)
	}
	return func(yield func(int) bool) {
		seen := make([]bool, len(all))
		for _, turns := range [][][]int{orders, {all}} {
			for more := true; more; {
				more = false
				for k, order := range turns {
					for len(order) > 0 && seen[order[0]] {
						order = order[1:]
					}
					if len(order) > 0 {
						if more, seen[order[0]] = true, true; !yield(order[0]) {
							return
						}
					}
					turns[k] = order
				}
			}
		}
	}
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
