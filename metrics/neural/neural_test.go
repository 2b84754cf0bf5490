package neural_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/metricstest"
	"github.com/refract-eval/refract/metrics/neural"
	"github.com/refract-eval/refract/metrics/neural/oiptest"
)

var quick = llm.Config{MaxRetryWait: 20 * time.Millisecond, MaxRetries: 3}

// serve starts servers.
func serve(t *testing.T, servers ...*oiptest.Server) (urls []string) {
	t.Helper()
	for _, s := range servers {
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		urls = append(urls, h.URL)
	}
	return urls
}

func open(t *testing.T, options string, servers ...*oiptest.Server) (metrics.Metric, error) {
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

func must(t *testing.T, options string, servers ...*oiptest.Server) metrics.Metric {
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

func TestPromises(t *testing.T) {
	for name, s := range map[string]*oiptest.Server{
		"by segment": {}, "flat": {Flat: true}, "counts": {Flat: true, Counts: true}, "no source": {NoSource: true},
		"batches": {Flat: true, MaxBatch: 2}, "no facts": {NoFacts: true}, "spans": {Spans: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := block
			if s.NoSource {
				b.Source = ""
			}
			metricstest.Promises(t, must(t, "", s), b)
		})
	}
}
