package experiment_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

func registry() metrics.Registry {
	return metrics.Registry{bleu.Factory(), chrf.Factory(), ter.Factory()}
}

// counted is a metric that counts the cells it scores.
type counted struct {
	metrics.Metric
	cells *atomic.Int64
}

func (c counted) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	for _, b := range blocks {
		c.cells.Add(int64(len(b.Hypotheses) * b.Columns()))
	}
	return c.Metric.Score(ctx, blocks)
}

// parse parses an experiment.
func parse(t testing.TB, path string) *experiment.Plan {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	e, err := experiment.Parse(path, f)
	require.NoError(t, err)
	return e
}

// runner opens the datasets of the plan.
func runner(*experiment.Plan) *experiment.Runner { return &experiment.Runner{Metric: registry().Parse} }

// run runs an experiment.
func run(t testing.TB, e *experiment.Plan) *experiment.Result {
	t.Helper()
	res, err := runner(e).Run(t.Context(), e)
	require.NoError(t, err)
	return res
}

// aggregator parses a spec in a test.
func aggregator(t rapid.TB, spec string) aggregate.Aggregator {
	t.Helper()
	a, err := aggregate.Parse(spec)
	require.NoError(t, err)
	return a
}

// parseText parses an experiment in a test.
func parseText(t testing.TB, text string) *experiment.Plan {
	t.Helper()
	e, err := experiment.Parse("file.yaml", strings.NewReader(text))
	require.NoError(t, err)
	return e
}
