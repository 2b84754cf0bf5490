package refract

import (
	"context"
	"iter"
	"math"

	"github.com/refract-eval/refract/metrics"
)

// Best is the best output of a segment by a setting.
type Best struct {
	Segment          *Segment
	Scores           []Reduced // of the hypotheses
	Chosen, RunnerUp int       // hypotheses by index; -1 for none
	Tied             []int     // the others with the score of the chosen one, but for rounding; it is the first of all
	Scored           int       // hypotheses with a score
}

// Margin is how much better the chosen output is than the runner-up, at least 0;
// false where there is no runner-up.
func (b *Best) Margin() (float64, bool) {
	if b.RunnerUp < 0 {
		return 0, false
	}
	if b.equal(b.Chosen, b.RunnerUp) {
		return 0, true
	}
	return math.Abs(b.Scores[b.Chosen].Value - b.Scores[b.RunnerUp].Value), true
}

// choose picks the best hypothesis, of equal ones the first.
func (b *Best) choose(d metrics.Direction) {
	b.Chosen = b.first(d, -1)
	b.RunnerUp = b.first(d, b.Chosen)
	for h := range b.Scores {
		if b.Scores[h].Status != metrics.Scored {
			continue
		}
		b.Scored++
		if h != b.Chosen && b.equal(h, b.Chosen) {
			b.Tied = append(b.Tied, h)
		}
	}
}

// first is the first of the hypotheses with the best score, but one; -1 where
// there is none.
func (b *Best) first(d metrics.Direction, but int) int {
	top := -1
	for h := range b.Scores {
		if h != but && b.Scores[h].Status == metrics.Scored && (top < 0 || float64(d)*b.Scores[h].Value > float64(d)*b.Scores[top].Value) {
			top = h
		}
	}
	for h := range max(top, 0) {
		if h != but && b.Scores[h].Status == metrics.Scored && b.equal(h, top) {
			return h
		}
	}
	return top
}

// rounding is the share of a score below which two differ by rounding alone: 1/3
// and 2/3 have the mean of 1/2 and 1/2, and their doubles do not.
const rounding = 1e-12

func (b *Best) equal(h, than int) bool {
	x, y := b.Scores[h].Value, b.Scores[than].Value
	return x == y || math.Abs(x-y) < rounding*max(math.Abs(x), math.Abs(y))
}

// Picker chooses the best output of each segment. Segments of the same id that
// follow each other, as [AgainstOthers] makes them, are one.
type Picker struct {
	reducer *Reducer
	setting int
	each    func(*Best) error
	open    *Best // nil before the first segment
}

// Picker returns one by a setting of the engine, given by its index. It calls each
// with every segment, in order.
func (e *Engine) Picker(setting int, each func(*Best) error) *Picker {
	return &Picker{reducer: e.Reducer(), setting: setting, each: each}
}

// Add takes in a segment's scores.
func (p *Picker) Add(s *SegmentScores) error {
	if p.open != nil && p.open.Segment.ID != s.Segment.ID {
		if err := p.End(); err != nil {
			return err
		}
	}
	if p.open == nil {
		whole := *s.Segment
		whole.Hypotheses = nil
		p.open = &Best{Segment: &whole}
	}
	for h := range s.Segment.Hypotheses {
		of, err := p.reducer.Reduce(s, p.setting, h)
		if err != nil {
			return err
		}
		p.open.Segment.Hypotheses = append(p.open.Segment.Hypotheses, s.Segment.Hypotheses[h])
		p.open.Scores = append(p.open.Scores, of)
	}
	return nil
}

// End chooses among the outputs of the last segment.
func (p *Picker) End() error {
	b := p.open
	if p.open = nil; b == nil {
		return nil
	}
	b.choose(p.reducer.engine.settings[p.setting].Metric.Info().Direction)
	return p.each(b)
}

// AgainstOthers makes a segment of each output of a dataset, whose references are
// the other outputs of its segment. The mean over them is what minimum Bayes risk
// decoding takes the best of. It asks for no score of an output against itself.
func AgainstOthers(ds Dataset) Dataset { return againstOthers{ds} }

type againstOthers struct{ of Dataset }

// Origin is the dataset of the outputs.
func (a againstOthers) Origin() Dataset { return a.of }

// Len says that the number of segments is not known.
func (a againstOthers) Len() (int, bool) { return 0, false }

func (a againstOthers) Segments(ctx context.Context) iter.Seq2[*Segment, error] {
	return func(yield func(*Segment, error) bool) {
		for s, err := range a.of.Segments(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			for h := range max(1, len(s.Hypotheses)) {
				if !yield(s.against(h), nil) {
					return
				}
			}
		}
	}
}

// against is the segment of one hypothesis, if there is any, with the others as
// references.
func (s *Segment) against(h int) *Segment {
	out := &Segment{ID: s.ID, Source: s.Source, Document: s.Document, Domain: s.Domain, Pos: s.Pos}
	for i := range s.Hypotheses {
		if i == h {
			out.Hypotheses = s.Hypotheses[h : h+1]
		} else if t := s.Hypotheses[i].Text; t.Valid {
			out.References = append(out.References, t)
		}
	}
	return out
}
