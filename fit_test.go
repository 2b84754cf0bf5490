package refract_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// fitter records the references that it is fitted to.
type fitter struct {
	metrics.Metric
	to *[]string
}

func (f *fitter) Fitted() bool { return f.to != nil }

func (f *fitter) Fit(_ context.Context, references iter.Seq2[[]string, error]) (metrics.Metric, error) {
	out := &fitter{f.Metric, new([]string)}
	for texts, err := range references {
		if err != nil {
			return nil, err
		}
		*out.to = append(*out.to, strings.Join(texts, "+"))
	}
	return out, nil
}

// Fit passes all present references to each metric once, and an engine refuses a metric
// that is not fitted.
func TestFit(t *testing.T) {
	of := func(name string) metrics.Metric {
		return metrics.Func(metrics.Info{Name: name, NeedsReferences: true, Direction: metrics.HigherIsBetter, Upper: 1}, func(string, string) float64 { return 0 })
	}
	ds := refract.InMemory([]*refract.Segment{
		{ID: "1", References: []refract.Text{refract.NewText("a"), {}}, Variants: []refract.Variant{{Text: refract.NewText("")}}},
		{ID: "2"},
	})
	one, other, plain := &fitter{of("one"), nil}, &fitter{of("other"), nil}, of("plain")
	settings := []refract.Setting{
		{Metric: one, Aggregator: aggregate.Single}, {Metric: one, Aggregator: aggregate.Max},
		{Metric: other, Aggregator: aggregate.Max}, {Metric: plain, Aggregator: aggregate.Max},
	}
	if _, err := refract.NewEngine(settings, refract.Options{}); err == nil || !strings.Contains(err.Error(), "one is not fitted") {
		t.Errorf("an engine of metrics that are not fitted: %v", err)
	}
	got, err := refract.Fit(t.Context(), ds, settings)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Metric != got[1].Metric || got[0].Metric == got[2].Metric || got[3].Metric != plain || one.Fitted() {
		t.Errorf("settings %v of %v", got, settings)
	}
	if to := strings.Join(*got[0].Metric.(*fitter).to, "|"); to != "a+|" {
		t.Errorf("fitted to %q, want %q", to, "a+|")
	}
	if refract.NeedsFit(got) || !refract.NeedsFit(settings) {
		t.Errorf("after Fit, there is something to do: %v; before: %v", refract.NeedsFit(got), refract.NeedsFit(settings))
	}
	if _, err := refract.NewEngine(got, refract.Options{}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := refract.Fit(ctx, ds, settings); err == nil {
		t.Errorf("fitted after the end")
	}
}
