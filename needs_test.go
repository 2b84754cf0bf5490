package refract_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// costly is a metric with integer scores from -3 to 0 that counts its cells as calls.
// Some cells have no score.
type costly struct{ calls atomic.Int64 }

func (c *costly) Info() metrics.Info {
	return metrics.Info{Name: "costly", NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: -3, Upper: 0}
}

func (c *costly) Signature(metrics.Level) metrics.Signature { return nil }

func (c *costly) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		for _, hyp := range b.Hypotheses {
			for _, ref := range b.References {
				c.calls.Add(1)
				v, status := cost(hyp, ref)
				out[i].Values, out[i].Status = append(out[i].Values, v), append(out[i].Status, status)
			}
		}
	}
	return out, nil
}

func cost(hyp, ref string) (float64, metrics.Status) {
	sum := 7
	for _, r := range hyp + "|" + ref {
		sum = (sum*31 + int(r)) % 10007
	}
	if sum%11 == 0 {
		return 0, metrics.Unparseable
	}
	return -float64(sum % 4), metrics.Scored
}

func costlySegments(t *rapid.T) []*refract.Segment {
	var out []*refract.Segment
	for i := range rapid.IntRange(1, 9).Draw(t, "segments") {
		s := &refract.Segment{ID: fmt.Sprint(i)}
		for r := range rapid.IntRange(1, 6).Draw(t, "references") {
			s.References = append(s.References, refract.Text{Value: fmt.Sprintf("r%d.%d", i, r), Valid: rapid.IntRange(0, 9).Draw(t, "there") > 0})
		}
		s.References[len(s.References)-1].Valid = true
		for h := range 3 {
			s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: fmt.Sprint("s", h),
				Text: refract.Text{Value: fmt.Sprintf("h%d.%d", i, h), Valid: rapid.IntRange(0, 9).Draw(t, "there") > 0}})
		}
		out = append(out, s)
	}
	return out
}

// Leaving out cells that no setting needs changes no score.
func TestSkippingCellsChangesNoScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segs := costlySegments(t)
		specs := rapid.SampledFrom([][]string{{"single"}, {"single", "mean"}, {"max"}}).Draw(t, "aggregators")
		score := func(save bool, workers int) (*costly, []refract.SystemScore, []metrics.Status) {
			m := &costly{}
			var settings []refract.Setting
			for _, s := range specs {
				a, err := aggregate.Parse(s)
				if err != nil {
					t.Fatal(err)
				}
				settings = append(settings, refract.Setting{Metric: m, Aggregator: a})
			}
			eng, err := refract.NewEngine(settings, refract.Options{EveryCell: !save, Workers: workers, Batch: 4})
			if err != nil {
				t.Fatal(err)
			}
			acc := eng.Systems()
			var status []metrics.Status
			err = eng.Run(context.Background(), list(segs), func(s *refract.SegmentScores) error {
				status = append(status, s.Metrics[0].Status...)
				return acc.Add(s)
			})
			if err != nil {
				t.Fatal(err)
			}
			scores := acc.Scores()
			for i := range scores {
				scores[i].MissingReferences = 0 // known only for the cells that were scored
				scores[i].MinReferences, scores[i].MaxReferences = 0, 0
			}
			return m, scores, status
		}
		all, want, _ := score(false, 1)
		some, got, one := score(true, 1)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		_, _, many := score(true, 4)
		if d := cmp.Diff(one, many); d != "" {
			t.Fatalf("what is left out depends on the workers: %s", d)
		}
		left := 0
		for _, s := range one {
			if s == metrics.Unneeded {
				left++
			}
		}
		if len(specs) > 1 && left > 0 {
			t.Fatalf("%d cells left out that the mean needs", left)
		}
		if int(all.calls.Load()-some.calls.Load()) != left {
			t.Fatalf("%d calls and %d, %d cells left out", all.calls.Load(), some.calls.Load(), left)
		}
	})
}

// max refuses a matrix that has only its first column.
func TestMaxNeedsEveryCell(t *testing.T) {
	ms := &refract.MetricScores{Columns: 2, Values: []float64{0, 0}, Status: []metrics.Status{metrics.Scored, metrics.Unneeded}}
	for spec, ok := range map[string]bool{"single": true, "max": false} {
		red, err := reduce(t, &costly{}, ms, spec, aggregate.Exclude, 0)
		if (err == nil) != ok || err == nil && red.Value != 0 {
			t.Errorf("%s: %v, %v", spec, red, err)
		}
	}
}
