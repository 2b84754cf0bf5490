package refract

import (
	"context"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/refract-eval/refract/metrics"
)

// InMemory is a dataset of segments in memory.
type InMemory []*Segment

// Segments implements [Dataset].
func (m InMemory) Segments(ctx context.Context) iter.Seq2[*Segment, error] {
	return func(yield func(*Segment, error) bool) {
		for _, s := range m {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Texts are texts that are there. The zero Text is a missing one.
func Texts(of ...string) []Text {
	all := make([]Text, len(of))
	for i, s := range of {
		all[i] = NewText(s)
	}
	return all
}

// Outputs are the hypotheses of systems by their names, in the order of the names.
func Outputs(of map[string]string) []Hypothesis {
	var all []Hypothesis
	for _, system := range slices.Sorted(maps.Keys(of)) {
		all = append(all, Hypothesis{System: system, Text: NewText(of[system])})
	}
	return all
}

// Scores are the scores of a dataset under one setting, in the units of its metric. NaN is
// a score that is missing, which is not 0.
type Scores struct {
	Setting   Setting
	Signature string             // all that the scores of systems depend on, of the first system
	Systems   map[string]float64 // by system
	Totals    []SystemScore      // the same with their coverage, in the order of the systems
	Segments  []SegmentScore     // in the order of the dataset
}

// SegmentScore has the scores of one segment.
type SegmentScore struct {
	ID      string
	Systems map[string]float64
	Status  map[string]metrics.Status // by system, why a score is missing; others are metrics.Scored
}

// Score scores all hypotheses of a dataset under one setting, and keeps the scores of all
// segments. An [Engine] scores under several settings at a time, without keeping them.
func Score(ctx context.Context, ds Dataset, setting Setting) (*Scores, error) {
	settings, err := Fit(ctx, ds, []Setting{setting})
	if err != nil {
		return nil, err
	}
	engine, err := NewEngine(settings, Options{})
	if err != nil {
		return nil, err
	}
	out := &Scores{Setting: setting, Systems: map[string]float64{}}
	reducer, systems := engine.Reducer(), engine.Systems()
	err = engine.Run(ctx, ds, func(s *SegmentScores) error {
		of := SegmentScore{ID: s.Segment.ID, Systems: map[string]float64{}, Status: map[string]metrics.Status{}}
		for h := range s.Segment.Hypotheses {
			r, err := reducer.Reduce(s, 0, h)
			if err != nil {
				return err
			}
			if r.Status != metrics.Scored {
				r.Value = math.NaN()
			}
			name := s.Segment.Hypotheses[h].System
			of.Systems[name], of.Status[name] = r.Value, r.Status
		}
		out.Segments = append(out.Segments, of)
		return systems.Add(s)
	})
	if err != nil {
		return nil, err
	}
	out.Totals = systems.Scores()
	for i := range out.Totals {
		total := &out.Totals[i]
		if out.Systems[total.System] = total.Value; !total.OK {
			out.Systems[total.System] = math.NaN()
		}
		if i == 0 {
			out.Signature = systems.Signature(total).String()
		}
	}
	return out, nil
}
