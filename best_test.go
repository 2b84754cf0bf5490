package refract_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

// Minimum Bayes risk is the plain computation: every output against every other
// one, a pair at a time, the mean of these, the first of the best.
func TestBestAgainstOthers(t *testing.T) {
	var ms []metrics.Metric
	for _, f := range []metrics.Factory{chrf.Factory(), ter.Factory()} {
		m, err := metrics.Registry{f}.Parse(t.Context(), f.Name)
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(ms).Draw(t, "metric")
		sign := float64(m.Info().Direction)
		var all dataset.InMemory
		for i := range rapid.IntRange(1, 4).Draw(t, "segments") {
			s := &refract.Segment{ID: string(rune('a' + i))}
			for k := range rapid.IntRange(0, 5).Draw(t, "outputs") {
				s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: string(rune('A' + k)),
					Text: refract.Text{Value: rapid.StringMatching(`[abc ]{0,9}`).Draw(t, "text"), Valid: rapid.IntRange(0, 5).Draw(t, "present") > 0}})
				if h := &s.Hypotheses[k]; !h.Text.Valid {
					h.Text.Value = ""
				}
			}
			all = append(all, s)
		}
		eng, err := refract.NewEngine([]refract.Setting{{Metric: m, Aggregator: aggregate.Must("mean")}},
			refract.Options{Scope: refract.Averaged, AllowNoReferences: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []*refract.Best
		p := eng.Picker(0, func(b *refract.Best) error { got = append(got, b); return nil })
		if err := eng.Run(context.Background(), refract.AgainstOthers(all), p.Add); err != nil {
			t.Fatal(err)
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(all) {
			t.Fatalf("%d segments of %d", len(got), len(all))
		}
		for i, s := range all {
			type scored struct {
				at    int
				value float64
			}
			var want []scored
			for h, of := range s.Hypotheses {
				var sum float64
				n := 0
				for o, other := range s.Hypotheses {
					if o == h || !other.Text.Valid || !of.Text.Valid {
						continue
					}
					one, err := m.Score(context.Background(), []metrics.Block{{Hypotheses: []string{of.Text.Value}, References: []string{other.Text.Value}}})
					if err != nil {
						t.Fatal(err)
					}
					sum, n = sum+one[0].Values[0], n+1
				}
				if n > 0 {
					want = append(want, scored{h, sum / float64(n)})
				}
			}
			b := got[i]
			if b.Segment.ID != s.ID || len(b.Segment.Hypotheses) != len(s.Hypotheses) || b.Scored != len(want) {
				t.Fatalf("segment %s: %d outputs, %d scored; want %d, %d", b.Segment.ID, len(b.Segment.Hypotheses), b.Scored, len(s.Hypotheses), len(want))
			}
			for _, w := range want {
				if d := b.Scores[w.at].Value - w.value; d > 1e-9 || d < -1e-9 {
					t.Fatalf("segment %s, output %d: %v, want %v", s.ID, w.at, b.Scores[w.at].Value, w.value)
				}
			}
			if len(want) == 0 {
				if b.Chosen != -1 || b.RunnerUp != -1 || b.Tied != nil {
					t.Fatalf("chosen of nothing: %+v", b)
				}
				continue
			}
			// By the program's own scores, as sums round in any order, and to fewer digits.
			for k := range want {
				want[k].value = math.Round(b.Scores[want[k].at].Value*1e9) / 1e9
			}
			slices.SortStableFunc(want, func(x, y scored) int { return cmp.Compare(sign*y.value, sign*x.value) })
			ties := 0
			for _, w := range want[1:] {
				if w.value == want[0].value {
					ties++
				}
			}
			margin, ok := b.Margin()
			if b.Chosen != want[0].at || len(b.Tied) != ties || ok != (len(want) > 1) {
				t.Fatalf("chosen %d with %d ties; want %d with %d: %v", b.Chosen, len(b.Tied), want[0].at, ties, want)
			}
			if ok && (b.RunnerUp != want[1].at || math.Abs(margin-sign*(want[0].value-want[1].value)) > 1e-8) {
				t.Fatalf("runner-up %d, margin %v; want %d: %v", b.RunnerUp, margin, want[1].at, want)
			}
		}
	})
}
