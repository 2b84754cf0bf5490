package neural_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/neural"
)

var quick = neural.Environment{Client: llm.Config{MaxRetryWait: 20 * time.Millisecond, MaxRetries: 3}}

// open makes the metric of one server, or of several.
func open(t *testing.T, options string, s http.Handler, env neural.Environment, also ...http.Handler) (metrics.Metric, error) {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	for _, s := range also {
		second := httptest.NewServer(s)
		t.Cleanup(second.Close)
		options += ",also=" + second.URL + "/fake"
	}
	f := neural.Factory(func(context.Context) (neural.Environment, error) { return env, nil })
	return metrics.Registry{f}.Parse(t.Context(), "oip:"+h.URL+"/fake"+options)
}

func must(t *testing.T, options string, s http.Handler) metrics.Metric {
	t.Helper()
	m, err := open(t, options, s, quick)
	require.NoError(t, err)
	return m
}

var block = metrics.Block{
	Source:     "Es regnet.",
	Hypotheses: []string{"It rains.", "bad weather <today>", "It rains.", ""},
	References: []string{"It is raining.", "Rain.", "中文"},
}

func TestForms(t *testing.T) {
	want, err := must(t, "", &llmtest.OIP{}).Score(t.Context(), []metrics.Block{block})
	require.NoError(t, err)
	for name, s := range map[string]*llmtest.OIP{"plain": {}, "no facts": {NoFacts: true}, "spans": {Spans: true}, "flat": {Flat: true}, "NumPy's type": {Datatype: "FP64"},
		"a number": {Change: func(n int, a *llmtest.OIPAnswer) { // as squeeze makes of one
			if n == 1 {
				a.Outputs[0].Shape = nil
			}
		}},
		"columns": {Change: func(_ int, a *llmtest.OIPAnswer) { // as MLServer writes them
			for i := range a.Outputs {
				a.Outputs[i].Shape = append(a.Outputs[i].Shape, 1)
			}
		}},
		"rows of one": {Change: func(_ int, a *llmtest.OIPAnswer) {
			rows := [][]float32{}
			for _, v := range a.Outputs[0].Data.([]float32) {
				rows = append(rows, []float32{v})
			}
			a.Outputs[0].Data, a.Outputs[0].Shape = rows, []int{len(rows), 1}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := must(t, "", s)
			metricstest.Promises(t, m, block)
			assert.NotEqual(t, s.NoFacts, m.Info().Storable, "its scores are stored")
			got, err := m.Score(t.Context(), []metrics.Block{block})
			require.NoError(t, err)
			if !slices.Equal(got[0].Values, want[0].Values) {
				t.Errorf("%v, want %v", got[0].Values, want[0].Values)
			}
		})
	}
}
