package evidence

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// Explorer returns the segments for a page, once all are added, and says so if these are not all.
// They are computed while they are read, under ctx. human names the judgements that all numbers are
// based on, "" for none, and ratings are the errors that people marked.
func (h *Held) Explorer(ctx context.Context, human string, ratings []dataset.MQMRating) *page.Explorer {
	h.rate(ratings)
	if at := slices.Index(h.humans, human); at > 0 { // they come first
		h.humans = slices.Insert(slices.Delete(h.humans, at, at+1), 0, human)
	}
	e := &page.Explorer{Systems: h.names, Humans: h.humans, Prompts: h.prompts}
	h.explorer, h.at = e, make([]int, len(h.metrics))
	digits := make([]int, len(h.metrics))
	for i, m := range h.metrics {
		digits[i] = h.digits(i)
		if info := m.Info(); info.NeedsReferences {
			h.at[i] = len(e.Metrics)
			e.Metrics = append(e.Metrics, page.Measure{Name: report.Display(info.Name), LowerIsBetter: info.Direction == metrics.LowerIsBetter, Digits: digits[i], Metric: -1})
		} else {
			h.at[i] = -1
		}
	}
	for k, s := range h.settings {
		info := s.Metric.Info()
		e.Settings = append(e.Settings, page.Measure{
			Name: report.Display(s.String()), Metric: h.at[h.metric[k]], LowerIsBetter: info.Direction == metrics.LowerIsBetter, Digits: digits[h.metric[k]],
		})
	}
	e.Segments = h.explore(ctx, h.choose(ctx))
	return e
}

// digits returns how many decimals are needed to distinguish the scores of a metric.
func (h *Held) digits(metric int) int {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range h.segments {
		ms := &h.segments[i].scores[metric]
		for k, v := range ms.Values {
			if ms.Status[k] == metrics.Scored {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return report.Decimals(low, high, 1)
}

// explore yields some segments in order. They are computed on all cores.
func (h *Held) explore(ctx context.Context, segments []scored) iter.Seq2[*page.Segment, error] {
	return page.InOrder(ctx, func(yield func(*scored, error) bool) {
		for i := range segments {
			if !yield(&segments[i], nil) {
				return
			}
		}
	}, h.segment)
}

// segment returns a segment as the page shows it.
func (h *Held) segment(s *scored) (*page.Segment, error) {
	seg := s.segment
	out := &page.Segment{ID: seg.ID, Document: seg.Document, Domain: seg.Domain, Source: seg.Source}
	for _, t := range seg.References {
		out.References = append(out.References, page.Reference{Text: t, Prompt: -1})
	}
	for i := range seg.Variants {
		v := &seg.Variants[i]
		out.References = append(out.References, page.Reference{
			Text: v.Text, Prompt: slices.Index(h.prompts, promptOf(v)), Detail: detail(v, len(seg.References)),
		})
	}
	reducer := h.engine.Reducer()
	for k := range seg.Hypotheses {
		o, err := h.output(reducer, s, k)
		if err != nil {
			return nil, fmt.Errorf("segment %q: %w", seg.ID, err)
		}
		out.Outputs = append(out.Outputs, o)
	}
	return out, nil
}

// detail names the model that made a variant and, if there are several originals, the
// original it comes from.
func detail(v *refract.Variant, originals int) string {
	s := v.Model
	join := func(part string) {
		if s != "" {
			s += ", "
		}
		s += part
	}
	if v.Sample > 0 {
		join(fmt.Sprintf("sample %d", v.Sample))
	}
	if originals > 1 {
		join(fmt.Sprintf("of reference %d", v.Reference+1))
	}
	return s
}

// output returns a hypothesis as the page shows it.
func (h *Held) output(reducer *refract.Reducer, s *scored, hyp int) (page.Output, error) {
	seg := s.segment
	from := &seg.Hypotheses[hyp]
	o := page.Output{System: h.index[from.System], Text: from.Text, Human: make([]float64, len(h.humans))}
	for i := range o.Human {
		o.Human[i] = math.NaN()
	}
	for _, j := range seg.Judgements {
		if j.System == from.System && j.Valid {
			o.Human[slices.Index(h.humans, j.Name)] = j.Score
		}
	}
	decided := make([][]int, len(h.metrics)) // by metric
	for k, set := range h.settings {
		ms := &s.scores[h.metric[k]]
		red, err := reducer.ReduceMatrix(ms, k, hyp)
		if err != nil {
			return o, fmt.Errorf("system %q: %w", from.System, err)
		}
		score := page.NoScore()
		if r := decider(ms, set, hyp); red.Status == metrics.Scored && r >= 0 {
			score = page.DecidedBy(r, red.Value)
			decided[h.metric[k]] = append(decided[h.metric[k]], r)
		} else if red.Status == metrics.Scored {
			score.Value = red.Value
		}
		o.Scores = append(o.Scores, score)
	}
	o.Cells = make([]page.Numbers, len(h.explorer.Metrics))
	for k, c := range h.at {
		if c < 0 || seg.NumReferences() == 0 {
			continue
		}
		ms := &s.scores[k]
		row := make([]float64, ms.Columns)
		for i := range row {
			row[i] = math.NaN()
			if ms.Status[hyp*ms.Columns+i] == metrics.Scored {
				row[i] = ms.Values[hyp*ms.Columns+i]
			}
		}
		o.Cells[c] = row
	}
	o.Reports = append(slices.Clone(h.rated[output{seg.ID, from.System}]), h.reports(s, hyp, decided)...)
	return o, nil
}

// decider returns the reference whose score is the result of a setting for hypothesis h:
// the first reference under single, and the earliest with the largest or smallest score
// under max, min and best:k=1. It returns -1 for other aggregators and without a score.
func decider(ms *refract.MetricScores, s refract.Setting, h int) int {
	info := s.Metric.Info()
	if !info.NeedsReferences {
		return -1
	}
	row := ms.Values[h*ms.Columns : (h+1)*ms.Columns]
	status := ms.Status[h*ms.Columns : (h+1)*ms.Columns]
	if s.Aggregator.Single() {
		if status[0] != metrics.Scored {
			return -1
		}
		return 0
	}
	sign := float64(s.Aggregator.Extreme(info.Direction == metrics.HigherIsBetter))
	if sign == 0 {
		return -1
	}
	best := -1
	for i, v := range row {
		if status[i] == metrics.Scored && (best < 0 || sign*v > sign*row[best]) {
			best = i
		}
	}
	return best
}
