package neural_test

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/oiptest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/metricstest"
)

// weighing is a server that weighs runes by the references of a run.
func weighing() *oiptest.Server {
	return &oiptest.Server{Weighs: true, NoSource: true, Facts: strings.Replace(oiptest.Facts, `"source",`, "", 1)}
}

// lists yields references as segments have them.
func lists(of ...[]string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, texts := range of {
			if !yield(texts, nil) {
				return
			}
		}
	}
}

func fit(t *testing.T, m metrics.Metric, of ...[]string) metrics.Metric {
	t.Helper()
	f := m.(metrics.Fitter)
	if f.Fitted() {
		t.Fatal("it is fitted before")
	}
	out, err := f.Fit(t.Context(), lists(of...))
	if err != nil {
		t.Fatal(err)
	}
	if !out.(metrics.Fitter).Fitted() || f.Fitted() || out.Info() != m.Info() {
		t.Error("it is not a fitted metric of the same kind")
	}
	return out
}

// TestFit weighs by all references of a run, equal ones as often as they stand there,
// however many requests that takes, and says in the signature which they are.
func TestFit(t *testing.T) {
	weighed := weighing()
	first := must(t, "", weighed)
	fitted := fit(t, first, []string{"aa", "b"}, nil, []string{"b"}, []string{"c", "d"})
	metricstest.Promises(t, fitted, metrics.Block{Hypotheses: []string{"ab", "dd", ""}, References: []string{"a", "bc"}})
	got, err := fitted.Score(t.Context(), []metrics.Block{{Hypotheses: []string{"ab"}, References: []string{"a", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := math.Log(6.0/2), math.Log(6.0/3) // of 5 references: 1 has an "a", 2 a "b"
	for i, want := range []float64{a / (a + b), b / (a + b)} {
		if math.Abs(got[0].Values[i]-want) > 1e-6 {
			t.Errorf("%v in place of %v", got[0].Values[i], want)
		}
	}
	if sig := fitted.Signature(metrics.Sentence).String(); !strings.Contains(sig, "|idf-references:5|idf-set:") {
		t.Error(sig)
	}

	many := make([][]string, 3000)
	for i := range many {
		many[i] = []string{fmt.Sprint(strings.Repeat("x", 50), i%7)}
	}
	s := weighing()
	m := must(t, "", s)
	f, other := fit(t, m, many...), fit(t, m, many[1:]...)
	if s.Calls() < 4 {
		t.Errorf("%d requests", s.Calls())
	}
	if x, y := f.Signature(0).String(), other.Signature(0).String(); x == y || !strings.Contains(x, "references:3000|") {
		t.Errorf("%s and %s", x, y)
	}
	if _, err := m.(metrics.Fitter).Fit(t.Context(), lists()); err == nil {
		t.Error("it is fitted to nothing")
	}
	if plain := must(t, "", &oiptest.Server{}); !plain.(metrics.Fitter).Fitted() {
		t.Error("a model without weights is to be fitted")
	}
}

// TestFitFaults has a server count wrong.
func TestFitFaults(t *testing.T) {
	for want, data := range map[string][]int32{
		"begin with the number of references, 2": {3, 97, 1},
		"holds something else than pairs":        {2, 97},
		"gave 3 as value 3":                      {2, 97, 3},
		"gave 0 as value 3":                      {2, 97, 0},
		"gave -1 as value 2":                     {2, -1, 1},
	} {
		s := weighing()
		s.Change = func(n int, a *oiptest.Answer) {
			if i := slices.IndexFunc(a.Outputs, func(o oiptest.Tensor) bool { return o.Name == "idf" }); i >= 0 {
				a.Outputs[i].Data, a.Outputs[i].Shape = data, []int{len(data)}
			}
		}
		_, err := must(t, "", s).(metrics.Fitter).Fit(t.Context(), lists([]string{"a", "b"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
