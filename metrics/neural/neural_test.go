package neural_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/metricstest"
	"github.com/refract-eval/refract/metrics/neural"
)

var quick = llm.Config{MaxRetryWait: 20 * time.Millisecond, MaxRetries: 3}

// serve starts servers.
func serve(t *testing.T, servers ...*llmtest.OIP) (urls []string) {
	t.Helper()
	for _, s := range servers {
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		urls = append(urls, h.URL)
	}
	return urls
}

// open makes the metric of servers.
func open(t *testing.T, options string, servers ...*llmtest.OIP) (metrics.Metric, error) {
	t.Helper()
	spec := "oip:"
	for i, u := range serve(t, servers...) {
		if i > 0 {
			spec += ",also="
		}
		spec += u + "/fake"
	}
	f := neural.Factory(func(context.Context) (neural.Environment, error) { return neural.Environment{Client: quick}, nil })
	return metrics.Registry{f}.Parse(t.Context(), spec+options)
}

func must(t *testing.T, options string, servers ...*llmtest.OIP) metrics.Metric {
	t.Helper()
	m, err := open(t, options, servers...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var block = metrics.Block{
	Source:     "Es regnet.",
	Hypotheses: []string{"It rains.", "bad weather <today>", "It rains.", ""},
	References: []string{"It is raining.", "Rain.", "中文"},
}

// forms are servers of one model, in all forms of requests.
func forms() map[string]*llmtest.OIP {
	return map[string]*llmtest.OIP{
		"by segment": {}, "flat": {Flat: true}, "counts": {Flat: true, Counts: true},
		"no facts": {NoFacts: true}, "spans": {Spans: true},
		"columns": {Change: func(_ int, a *llmtest.OIPAnswer) { // as MLServer writes them
			for i := range a.Outputs {
				a.Outputs[i].Shape = append(a.Outputs[i].Shape, 1)
			}
		}},
	}
}

func TestForms(t *testing.T) {
	want, err := must(t, "", &llmtest.OIP{}).Score(t.Context(), []metrics.Block{block})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range forms() {
		t.Run(name, func(t *testing.T) {
			m := must(t, "", s)
			metricstest.Promises(t, m, block)
			if stored := m.Info().Keep == metrics.KeepAlways; stored == s.NoFacts {
				t.Errorf("its scores are stored: %t", stored)
			}
			got, err := m.Score(t.Context(), []metrics.Block{block})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0].Values, want[0].Values) {
				t.Errorf("%v in place of %v", got[0].Values, want[0].Values)
			}
		})
	}
}
