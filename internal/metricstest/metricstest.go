// Package metricstest tests that a metric keeps the promises of metrics.Metric.
package metricstest

import (
	"context"
	"testing"

	"github.com/refract-eval/refract/metrics"
)

// Promises tests on a block that all ways of scoring give the same numbers, that
// scores stay within their bounds, and that scoring stops when the context ends.
func Promises(t *testing.T, m metrics.Metric, b metrics.Block) {
	t.Helper()
	ctx := context.Background()
	info := m.Info()
	if info.Name == "" || info.Direction == 0 {
		t.Errorf("incomplete info %+v", info)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	promised := func(score func(context.Context, []metrics.Block) ([]metrics.Scores, error), cells int) []metrics.Scores {
		t.Helper()
		out, err := score(ctx, []metrics.Block{b, b})
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != 2 {
			t.Fatalf("2 blocks gave %d matrices", len(out))
		}
		for i, s := range out {
			if len(s.Values) != cells || s.Status != nil && len(s.Status) != cells || s.Reports != nil && len(s.Reports) != cells {
				t.Fatalf("block %d: %d values, %d statuses, %d reports for %d cells", i, len(s.Values), len(s.Status), len(s.Reports), cells)
			}
			for c, v := range s.Values {
				if s.Status != nil && s.Status[c] != metrics.Scored {
					continue
				}
				if !(v >= info.Lower && v <= info.Upper+1e-9) {
					t.Errorf("%s: score %v outside [%v, %v] for %q", info.Name, v, info.Lower, info.Upper, b)
				}
				if v != out[0].Values[c] {
					t.Errorf("%s: the same block scored %v and %v", info.Name, out[0].Values[c], v)
				}
			}
		}
		if _, err := score(cancelled, []metrics.Block{b}); err == nil {
			t.Errorf("%s: no error under a cancelled context", info.Name)
		}
		return out
	}
	out := promised(m.Score, len(b.Hypotheses)*b.Columns())
	if n, ok := m.(metrics.NativeScorer); ok && n.HasNative() {
		promised(n.ScoreNative, len(b.Hypotheses))
	}
	if p, ok := m.(metrics.Preparer); ok {
		testWorkspace(t, info.Name, p.NewWorkspace(), b, out[0].Values)
	}
}

// testWorkspace tests that a workspace which has scored before gives the values of a new one.
func testWorkspace(t *testing.T, name string, w metrics.Workspace, b metrics.Block, want []float64) {
	t.Helper()
	w.Load(metrics.Block{Hypotheses: []string{"what was loaded before"}, References: []string{"must not matter", "at all"}})
	w.Load(b)
	for c, v := range w.Cells(nil) {
		if v != want[c] {
			t.Errorf("%s: a workspace in use gives %v, a new one %v", name, v, want[c])
		}
	}
}
