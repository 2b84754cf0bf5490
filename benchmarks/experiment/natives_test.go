package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
)

// remote is a metric that makes calls and has its own rule for several references. It
// records what it was asked for, and fails if a list has as many references as fails says.
type remote struct {
	mu    *sync.Mutex
	asked map[string]int
	fails int
}

func (m *remote) Info() metrics.Info {
	return metrics.Info{Name: "remote", NeedsReferences: true, Direction: metrics.HigherIsBetter, Upper: 1000}
}

func (m *remote) Signature(metrics.Level) metrics.Signature { return nil }
func (m *remote) HasNative() bool                           { return true }

func (m *remote) Score(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		for _, h := range b.Hypotheses {
			for _, r := range b.References {
				out[i].Values = append(out[i].Values, float64(len(h)*len(r)%97))
			}
		}
	}
	return out, nil
}

func (m *remote) ScoreNative(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		if len(b.References) == m.fails {
			return nil, errors.New("the server is gone")
		}
		m.asked[fmt.Sprintf("%q %q", b.Hypotheses, b.References)]++
		for _, h := range b.Hypotheses {
			out[i].Values = append(out[i].Values, float64(len(h)*len(strings.Join(b.References, ""))%89))
		}
	}
	return out, nil
}

const nativeSets = `
datasets: [{name: sample, dataset: "jsonl:sample.jsonl"}]
references: [original, all, {first: 1}, {first: 99}, {name: some, prompts: [order]}]
metrics: [remote, bleu]
aggregators: [single, native]
statistics: [kendall]
bootstrap: {resamples: 0}
significance: {resamples: 0}
curves: [{counts: [0, 1], aggregators: [native]}]
analyses: []
`

// TestNativeOnce checks that the native scores of each list of references are requested
// once, however many sets and points of curves have it.
func TestNativeOnce(t *testing.T) {
	e := parseText(t, nativeSets)
	e.Dir = "testdata"
	m := &remote{mu: new(sync.Mutex), asked: map[string]int{}}
	r := runner(e)
	parse := r.Metric
	r.Metric = func(ctx context.Context, spec string) (metrics.Metric, error) {
		if spec == "remote" {
			return m, nil
		}
		return parse(ctx, spec)
	}
	_, err := r.Run(t.Context(), e)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(m.asked), 10)
	for list, n := range m.asked {
		// One reference of a segment is missing: with all references, and with all but that one,
		// the metric sees the same texts, but the scores state different counts.
		if n != 1 && !strings.Contains(list, "after I get home") {
			t.Errorf("asked %d times: %s", n, list)
		}
	}

	// A metric that fails here ends without stopping the others.
	m.fails = 1
	e.Curves = nil
	res, err := r.Run(t.Context(), e)
	failed := (*refract.Incomplete)(nil)
	require.True(t, errors.As(err, &failed) && len(failed.Metrics) == 1, err)
	if len(res.Ended) != 1 || res.Ended[0].Metric != "remote" || !strings.Contains(res.Ended[0].Reason, "the server is gone") {
		t.Errorf("ended: %v", res.Ended)
	}
	for _, row := range res.Rows {
		assert.Equal(t, "bleu", row.Setting.Metric, "a row of %s", row.Setting)
	}
}
