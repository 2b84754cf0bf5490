package guard

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/refract-eval/refract/metrics"
)

func TestVerdicts(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		lower                 bool
		control, canary, good float64
		want                  Count
	}{
		{false, 10, 10, 90, Count{Planted: 1, SeenThrough: 1}},
		{false, 10, 0, 90, Count{Planted: 1, SeenThrough: 1, gains: -10}},
		{false, 10, 11, 90, Count{Planted: 1, Fooled: 1, gains: 1}},
		{false, 90, 95, 90, Count{Planted: 1, Fooled: 1, gains: 5}},
		{false, 90, 90, 90, Count{Planted: 1, Blind: 1}},
		{false, 95, 92, 90, Count{Planted: 1, Blind: 1, gains: -3}},
		{false, 10, 10, none, Count{Planted: 1, SeenThrough: 1}},
		{false, 10, 11, none, Count{Planted: 1, Fooled: 1, gains: 1}},
		{false, none, 100, 1, Count{Planted: 1, NoScore: 1}},
		{false, 100, none, 1, Count{Planted: 1, NoScore: 1}},
		{true, 90, 10, 5, Count{Planted: 1, Fooled: 1, gains: 80}},
		{true, 90, 90, 5, Count{Planted: 1, SeenThrough: 1}},
		{true, 5, 5, 5, Count{Planted: 1, Blind: 1}},
	} {
		direction := metrics.HigherIsBetter
		if c.lower {
			direction = metrics.LowerIsBetter
		}
		var got Count
		if got.add(direction, c.control, c.canary, c.good); got != c.want {
			t.Errorf("%v: %+v, want %+v", c, got, c.want)
		}
	}
	if _, ok := (Count{Planted: 2, NoScore: 2}).MeanGain(); ok {
		t.Error("a mean of nothing")
	}
}

type needing struct {
	metrics.Metric
	info metrics.Info
}

func (n needing) Info() metrics.Info { return n.info }

func (n needing) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) { return nil, nil }

func TestPoolSegments(t *testing.T) {
	choose := func(m metrics.Info, n int, seed uint64) (names []string) {
		p := NewPool([]metrics.Metric{needing{info: m}}, n, seed)
		for i := range 100 {
			name := fmt.Sprint("s", i)
			s := CanarySource{Source: &name, References: []string{"a reference"}, Hypotheses: []string{name}}
			switch i % 4 {
			case 1:
				s.Source = nil
			case 2:
				s.References = nil
			}
			p.Add(s)
		}
		for _, s := range p.segments {
			names = append(names, s.Hypotheses[0])
		}
		return names
	}
	all := metrics.Info{NeedsSource: true, NeedsReferences: true}
	if got := choose(all, 1000, 1); len(got) != 50 || slices.Contains(got, "s1") || slices.Contains(got, "s2") {
		t.Errorf("of 50 segments that have all, %d are kept: %v", len(got), got)
	}
	if got := choose(metrics.Info{}, 1000, 1); len(got) != 100 {
		t.Errorf("%d segments for a judge that needs nothing, want 100", len(got))
	}
	few := choose(all, 4, 1)
	if len(few) != 4+spareSegments {
		t.Errorf("%d segments are kept for 4 canaries", len(few))
	}
	if !slices.Equal(few, choose(all, 4, 1)) || slices.Equal(few, choose(all, 4, 2)) {
		t.Error("the choice is not the seed's")
	}
}
