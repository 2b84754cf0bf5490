package diversity_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/diversity"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
	"github.com/refract-eval/refract/metrics/ter"
)

type memory []*refract.Segment

func (m memory) Segments(context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for _, s := range m {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// set makes segments "0", "1", … of variants; "-" is a missing text.
func set(variants ...[]string) memory {
	var out memory
	for i, texts := range variants {
		s := &refract.Segment{ID: fmt.Sprint(i), References: []refract.Text{refract.NewText("the original")}}
		for _, t := range texts {
			v := refract.Variant{Text: refract.NewText(t)}
			if t == "-" {
				v.Text = refract.Text{}
			}
			s.Variants = append(s.Variants, v)
		}
		out = append(out, s)
	}
	return out
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func selfBLEU() diversity.Measure {
	return must(diversity.Self(must(bleu.New(bleu.Options{}))))
}

func selfChrF() diversity.Measure {
	return must(diversity.Self(must(chrf.New(chrf.Defaults()))))
}

func ExampleOf() {
	ds := set(
		[]string{"The dog barks at the door.", "At the door the dog is barking."},
		[]string{"It rains.", "It rains."},
	)
	got, err := diversity.Of(context.Background(), ds, []diversity.Measure{selfChrF(), diversity.Distinct(1)}, diversity.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range got.Results {
		fmt.Printf("%s %.2f over %d segments\n", r.Measure, r.Value, r.N)
	}
	// Output:
	// self-chrf 73.54 over 2 segments
	// distinct-1 0.52 over 2 segments
}

func TestCoverage(t *testing.T) {
	ds := set([]string{"a b", "c d", "-", " "}, []string{"a", "-"}, nil, []string{"…", "!"})
	measures := []diversity.Measure{diversity.Distinct(2), selfChrF()}
	got := must(diversity.Of(t.Context(), ds, measures, diversity.Options{}))
	if got.Segments != 4 || got.Few != 2 || got.Texts != 4 || got.Missing != 2 || got.Blank != 1 {
		t.Errorf("coverage %+v", got)
	}
	if r := got.Results[0]; r.N != 1 || r.Undefined != 1 || r.Value != 1 || !math.IsNaN(r.Low) {
		t.Errorf("distinct-2 %+v", r)
	}
	if r := got.Results[1]; r.N != 2 || r.Undefined != 0 || r.MoreIsHigher {
		t.Errorf("self-chrf %+v", r)
	}
	with := must(diversity.Of(t.Context(), ds, measures, diversity.Options{Originals: true}))
	if with.Few != 1 || with.Texts != 8 {
		t.Errorf("with originals %+v", with)
	}
	none := must(diversity.Of(t.Context(), set(nil, nil), measures, diversity.Options{Bootstrap: diversity.Bootstrap{Resamples: 10, Ends: ends(0.9)}}))
	if r := none.Results[0]; !math.IsNaN(r.Value) || !math.IsNaN(r.Low) || r.N != 0 {
		t.Errorf("nothing to measure gives %+v", r)
	}
}

// Self scores are those of the metric: each text against all others at once.
func TestSelfIsTheMetricAgainstTheOthers(t *testing.T) {
	text := rapid.SampledFrom([]string{"a b c d e", "a b c x y", "e d c b a", "a b c d e f g", "q", "a b"})
	for _, m := range []metrics.Preparer{must(bleu.New(bleu.Options{})), must(chrf.New(chrf.Defaults()))} {
		measure := must(diversity.Self(m))
		rapid.Check(t, func(t *rapid.T) {
			texts := rapid.SliceOfN(text, 2, 6).Draw(t, "texts")
			var want float64
			for i := range texts {
				var others []string
				for j := range texts {
					if j != i {
						others = append(others, texts[j])
					}
				}
				w := m.NewWorkspace().(metrics.NativeWorkspace)
				w.Load(metrics.Block{Hypotheses: texts[i : i+1], References: others})
				want += w.Native(nil)[0]
			}
			want /= float64(len(texts))
			got := must(measure.Score(t.Context(), [][]string{texts, texts}))
			if got[0] != want || got[1] != want {
				t.Fatalf("%v, want %v", got, want)
			}
		})
	}
}

func TestExtremes(t *testing.T) {
	equal := [][]string{{"The dog barks at the door.", "The dog barks at the door."}}
	apart := [][]string{{"abcdef ghijkl mnopqr stuvwx", "123456 789012 345678 901234"}}
	for _, tc := range []struct {
		m            diversity.Measure
		equal, apart float64
		within       float64
	}{
		{selfBLEU(), 100, 0, 7}, // the smoothing of BLEU
		{selfChrF(), 100, 0, 1e-9},
		{diversity.Distinct(1), 0.5, 1, 0.1}, // "the" is there twice
		{diversity.Distinct(3), 0.5, 1, 1e-9},
		{diversity.Semantic(letters{}), 0, 1, 1e-9},
	} {
		if got := must(tc.m.Score(t.Context(), equal))[0]; math.Abs(got-tc.equal) > tc.within {
			t.Errorf("%s of equal texts: %v, want %v", tc.m.Name(), got, tc.equal)
		}
		if got := must(tc.m.Score(t.Context(), apart))[0]; math.Abs(got-tc.apart) > tc.within {
			t.Errorf("%s of texts with nothing in common: %v, want %v", tc.m.Name(), got, tc.apart)
		}
	}
}

// letters embeds a text as its letter counts.
type letters struct{}

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for _, t := range texts {
		if strings.Contains(t, "fail") {
			return nil, errors.New("no server")
		}
		v := make([]float32, 128)
		for _, c := range strings.ReplaceAll(t, " ", "") {
			v[c%128]++
		}
		out = append(out, v)
	}
	return out, nil
}

// The semantic measure by the definition, whatever the batches.
func TestSemantic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := set(rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching(`[a-d]{1,4}`), 2, 5), 1, 9).Draw(t, "texts")...)
		var want float64
		for _, s := range ds {
			var sum float64
			pairs := 0
			for i := range s.Variants {
				for j := range i {
					v := must(letters{}.Embed(t.Context(), []string{s.Variants[i].Text.Value, s.Variants[j].Text.Value}))
					var dot, a, b float64
					for d := range v[0] {
						dot += float64(v[0][d] * v[1][d])
						a += float64(v[0][d] * v[0][d])
						b += float64(v[1][d] * v[1][d])
					}
					sum += 1 - dot/math.Sqrt(a*b)
					pairs++
				}
			}
			want += sum / float64(pairs)
		}
		want /= float64(len(ds))
		got := must(diversity.Of(t.Context(), ds, []diversity.Measure{diversity.Semantic(letters{})}, diversity.Options{}))
		if math.Abs(got.Results[0].Value-want) > 1e-9 {
			t.Fatalf("%v, want %v", got.Results[0].Value, want)
		}
	})
}

// single is a metric without a rule for several references.
type single struct{ metrics.Metric }

func TestErrorsNameTheSegments(t *testing.T) {
	ds := set([]string{"a", "b"}, []string{"a", "fail"})
	_, err := diversity.Of(t.Context(), ds, []diversity.Measure{diversity.Semantic(letters{})}, diversity.Options{})
	if err == nil || err.Error() != `semantic, segments "0" to "1": no server` {
		t.Errorf("error %v", err)
	}
	if _, err := diversity.Self(single{ter.New(ter.Options{})}); err == nil || !strings.Contains(err.Error(), "self-ter") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := diversity.Of(ctx, ds, []diversity.Measure{diversity.Distinct(1)}, diversity.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func ends(confidence float64) func([]float64) (low, high float64) {
	return func(means []float64) (low, high float64) {
		interval := correlate.Percentiles(means, confidence)
		return interval.Low, interval.High
	}
}

func TestIntervals(t *testing.T) {
	var texts [][]string
	for i := range 50 {
		texts = append(texts, []string{"a b c d", strings.TrimSpace(strings.Repeat("a ", i%4) + "x y")})
	}
	b := diversity.Bootstrap{Resamples: 300, Seed: 3, Ends: ends(0.95)}
	measures := []diversity.Measure{diversity.Distinct(1)}
	one := must(diversity.Of(t.Context(), set(texts...), measures, diversity.Options{Bootstrap: b}))
	again := must(diversity.Of(t.Context(), set(texts...), measures, diversity.Options{Bootstrap: b}))
	r := one.Results[0]
	if !(r.Low < r.Value && r.Value < r.High) || r != again.Results[0] {
		t.Errorf("intervals %+v and %+v", r, again.Results[0])
	}
	b.Ends = ends(0.5)
	narrow := must(diversity.Of(t.Context(), set(texts...), measures, diversity.Options{Bootstrap: b})).Results[0]
	if !(r.Low < narrow.Low && narrow.High < r.High) {
		t.Errorf("50%% interval [%v, %v] is not inside [%v, %v]", narrow.Low, narrow.High, r.Low, r.High)
	}
}

func TestMinusIsPaired(t *testing.T) {
	a := set([]string{"a", "b"}, []string{"a", "a"}, []string{"c", "c"})
	b := set([]string{"a", "b"}, []string{"a", "b"}, nil)
	b[0].ID, b[1].ID = b[1].ID, b[0].ID // another order, and one segment fewer
	measures := []diversity.Measure{diversity.Distinct(1)}
	boot := diversity.Bootstrap{Resamples: 50, Ends: ends(0.9)}
	sa := must(diversity.Of(t.Context(), a, measures, diversity.Options{}))
	sb := must(diversity.Of(t.Context(), b, measures, diversity.Options{}))
	d := must(sb.Minus(t.Context(), sa, boot))[0]
	if d.N != 2 || d.Value != 0.25 || d.Low != 0 || d.High != 0.5 {
		t.Errorf("difference %+v", d)
	}
	self := must(sa.Minus(t.Context(), sa, boot))[0]
	if self.N != 3 || self.Value != 0 || self.Low != 0 || self.High != 0 {
		t.Errorf("difference to itself %+v", self)
	}
	if _, err := sa.Minus(t.Context(), &diversity.Set{}, boot); err == nil {
		t.Error("sets of different measures were compared")
	}
}
