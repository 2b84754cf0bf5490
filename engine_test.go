package refract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
)

func realMetrics(t testing.TB) []metrics.Metric {
	t.Helper()
	b, err := bleu.New(bleu.Options{})
	require.NoError(t, err)
	c, err := chrf.New(chrf.Defaults())
	require.NoError(t, err)
	return []metrics.Metric{b, c}
}

// segments generates a test set in which some texts are missing, some systems
// appear late, and some segments have no reference.
func segments() *rapid.Generator[[]*refract.Segment] {
	return rapid.Custom(func(t *rapid.T) []*refract.Segment {
		missing := func(s string) refract.Text {
			if rapid.IntRange(0, 5).Draw(t, "missing") == 0 {
				return refract.Text{}
			}
			return refract.NewText(s)
		}
		out := make([]*refract.Segment, rapid.IntRange(0, 12).Draw(t, "segments"))
		for i := range out {
			b := metricstest.Block().Draw(t, "block")
			s := &refract.Segment{ID: fmt.Sprint(i), Source: missing("source")}
			first := rapid.IntRange(0, 1).Draw(t, "first system")
			for h, text := range b.Hypotheses {
				s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: fmt.Sprint("sys", first+h), Text: missing(text)})
			}
			originals := rapid.IntRange(0, len(b.References)).Draw(t, "originals")
			for _, text := range b.References[:originals] {
				s.References = append(s.References, missing(text))
			}
			if rapid.Bool().Draw(t, "expanded") {
				for _, text := range b.References[originals:] {
					s.Variants = append(s.Variants, refract.Variant{Text: missing(text)})
				}
			}
			out[i] = s
		}
		return out
	})
}

// slow scores as m does, after a delay that depends only on the text.
func slow(m *fake, longest time.Duration) *fake {
	out := *m
	out.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
		h := 0
		for _, b := range blocks {
			for _, c := range b.Hypotheses[0] {
				h = (h*31 + int(c)) % 1009
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(longest * time.Duration(h) / 1009):
			return m.score(ctx, blocks)
		}
	}
	return &out
}

// With any number of workers at any speed, Run yields the same bits as Score, in order.
func TestRunEqualsScore(t *testing.T) {
	ms := append(realMetrics(t), slow(sized(false, true), 300*time.Microsecond), prepared{sized(true, false)})
	rapid.Check(t, func(rt *rapid.T) {
		segs := segments().Draw(rt, "set")
		aggs := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"single", "native", "max"}), 0, 3, rapid.ID).Draw(rt, "aggregators")
		o := refract.Options{Scope: rapid.SampledFrom([]refract.Scope{refract.Auto, refract.Averaged}).Draw(rt, "scope"), Workers: 1, Batch: 1, AllowNoReferences: true}
		want := engine(t, o, ms, aggs...)
		o.Workers, o.Batch = rapid.IntRange(0, 8).Draw(rt, "workers"), rapid.IntRange(0, 5).Draw(rt, "batch")
		e := engine(t, o, ms, aggs...)
		n := 0
		err := e.Run(t.Context(), list(segs), func(got *refract.SegmentScores) error {
			if got.Segment != segs[n] {
				return fmt.Errorf("segment %s in place %d", got.Segment.ID, n)
			}
			one, err := want.Score(t.Context(), segs[n:n+1])
			if err != nil {
				return err
			}
			for k := range ms {
				if !sameScores(&got.Metrics[k], &one[0].Metrics[k]) {
					return fmt.Errorf("segment %d, %s: %+v from Run, %+v from Score", n, ms[k].Info().Name, got.Metrics[k], one[0].Metrics[k])
				}
			}
			n++
			return nil
		})
		var none *refract.NoSourceError
		if errors.As(err, &none) && !slices.ContainsFunc(segs, func(s *refract.Segment) bool { return s.Source.Valid }) {
			err = nil
		}
		require.True(rt, err == nil && n == len(segs), "%d of %d segments, %v", n, len(segs), err)
	})
}

// A metric that needs sources ends if there are none while others go on. If only some are
// missing, there is a warning.
func TestRunWithoutSources(t *testing.T) {
	for name, c := range map[string]struct {
		sources       []int
		want, warning string
	}{
		"none":  {[]int{-1, -1}, "no segment has a source, which sized needs; add the sources to the data, or leave the metric out", ""},
		"some":  {[]int{1, -1}, "", "without a source, which sized needs, and so without its score: 1 of 2 segments"},
		"empty": {[]int{0, 0}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			warnings, n := []string(nil), 0
			e := engine(t, refract.Options{Warn: func(m string) { warnings = append(warnings, m) }},
				[]metrics.Metric{sized(true, false), prepared{sized(false, true)}}, "max")
			err := e.Run(t.Context(), list{segment("a", c.sources[0], []int{1}, []int{1}), segment("b", c.sources[1], []int{1}, []int{1})},
				func(*refract.SegmentScores) error { n++; return nil })
			var failed *refract.Incomplete
			if errors.As(err, &failed) != (c.want != "") || err != nil && err.Error() != c.want || n != 2 {
				t.Errorf("%v after %d segments", err, n)
			}
			assert.Equal(t, c.warning, strings.Join(warnings, ""), warnings)
		})
	}
}

func TestRunWithoutMetrics(t *testing.T) {
	n := 0
	e := engine(t, refract.Options{}, nil)
	err := e.Run(t.Context(), list{segment("a", 1, nil, nil), segment("b", 1, []int{1}, nil)}, func(s *refract.SegmentScores) error {
		n++
		return nil
	})
	assert.True(t, err == nil && n == 2, "%d segments, %v", n, err)
}

// misshapen is a Preparer that breaks its promises.
type misshapen struct {
	prepared
	cells, native int // number of excess values
}

func (m misshapen) NewWorkspace() metrics.Workspace {
	return &misshapenWorkspace{preparedWorkspace{}, m}
}

type misshapenWorkspace struct {
	preparedWorkspace
	m misshapen
}

func resize(s []float64, by int) []float64 {
	if by < 0 {
		return s[:len(s)+by]
	}
	return append(s, make([]float64, by)...)
}

func (w *misshapenWorkspace) Cells(dst []float64) []float64 {
	return resize(w.preparedWorkspace.Cells(dst), w.m.cells)
}

func (w *misshapenWorkspace) Native(dst []float64) []float64 {
	return resize(w.preparedWorkspace.Native(dst), w.m.native)
}

func TestWrongShapes(t *testing.T) {
	f := sized(false, true)
	returns := func(change func([]metrics.Scores) []metrics.Scores) *fake {
		out := *f
		out.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
			s, err := f.score(ctx, blocks)
			return change(s), err
		}
		return &out
	}
	for _, c := range []struct {
		name string
		m    metrics.Metric
		want string
	}{
		{"no matrix", returns(func([]metrics.Scores) []metrics.Scores { return nil }), `sized, segments "a" to "b": 0 matrices for 2 blocks`},
		{"a value too few", returns(func(s []metrics.Scores) []metrics.Scores { s[1].Values = s[1].Values[1:]; return s }), `sized, segments "a" to "b": 3 values, 0 statuses and 0 reports for 4 cells`},
		{"a status too few", returns(func(s []metrics.Scores) []metrics.Scores { s[1].Status = make([]metrics.Status, 3); return s }), `sized, segments "a" to "b": 4 values, 3 statuses and 0 reports for 4 cells`},
		{"no number", returns(func(s []metrics.Scores) []metrics.Scores { s[0].Values[0] = math.NaN(); return s }), `sized, segment "a": system "sys0" has the score NaN; a metric without a number must say so by a status`},
		{"a prepared value too few", misshapen{prepared{f}, -1, 0}, `sized, segment "a": 1 value for 2 cells`},
		{"a native score too many", misshapen{prepared{f}, 0, 1}, `sized, segment "a": 2 values for 1 cell`},
	} {
		e := engine(t, refract.Options{}, []metrics.Metric{c.m}, "native")
		_, err := e.Score(t.Context(), []*refract.Segment{segment("a", 1, []int{1}, []int{1, 2}), segment("b", 1, []int{1, 2}, []int{3, 4})})
		assert.EqualError(t, err, c.want, c.name)
	}
}

func TestMetricErrorSaysWhere(t *testing.T) {
	boom := errors.New("boom")
	f := sized(false, true)
	f.score = func(context.Context, []metrics.Block) ([]metrics.Scores, error) { return nil, boom }
	e := engine(t, refract.Options{}, []metrics.Metric{f})
	_, err := e.Score(t.Context(), []*refract.Segment{segment("a", 1, []int{1}, []int{1}), segment("b", 1, []int{1}, []int{1})})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), `sized, segments "a" to "b"`) {
		t.Errorf("%v, want boom, the metric and the segments", err)
	}
}

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
	_, err := refract.NewEngine(settings, refract.Options{})
	assert.ErrorContains(t, err, "one is not fitted", "an engine of metrics that are not fitted")
	got, err := refract.Fit(t.Context(), ds, settings)
	require.NoError(t, err)
	if got[0].Metric != got[1].Metric || got[0].Metric == got[2].Metric || got[3].Metric != plain || one.Fitted() {
		t.Errorf("settings %v of %v", got, settings)
	}
	assert.Equal(t, "a+|", strings.Join(*got[0].Metric.(*fitter).to, "|"), "fitted to")
	if refract.NeedsFit(got) || !refract.NeedsFit(settings) {
		t.Errorf("after Fit, there is something to do: %v; before: %v", refract.NeedsFit(got), refract.NeedsFit(settings))
	}
	_, err = refract.NewEngine(got, refract.Options{})
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = refract.Fit(ctx, ds, settings)
	assert.Error(t, err, "fitted after the end")
}

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
				require.NoError(t, err)
				settings = append(settings, refract.Setting{Metric: m, Aggregator: a})
			}
			eng, err := refract.NewEngine(settings, refract.Options{EveryCell: !save, Workers: workers, Batch: 4})
			require.NoError(t, err)
			acc := eng.Systems()
			var status []metrics.Status
			err = eng.Run(context.Background(), list(segs), func(s *refract.SegmentScores) error {
				status = append(status, s.Metrics[0].Status...)
				return acc.Add(s)
			})
			require.NoError(t, err)
			scores := acc.Scores()
			for i := range scores {
				scores[i].MissingReferences = 0 // known only for the cells that were scored
				scores[i].MinReferences, scores[i].MaxReferences = 0, 0
			}
			return m, scores, status
		}
		all, want, _ := score(false, 1)
		some, got, one := score(true, 1)
		require.Empty(t, cmp.Diff(want, got))
		_, _, many := score(true, 4)
		require.Empty(t, cmp.Diff(one, many), "what is left out depends on the workers")
		left := 0
		for _, s := range one {
			if s == metrics.Unneeded {
				left++
			}
		}
		require.False(t, len(specs) > 1 && left > 0, "%d cells left out that the mean needs", left)
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

func TestTextJSON(t *testing.T) {
	for in, want := range map[string]refract.Text{
		`null`:      {},
		`""`:        refract.NewText(""),
		`"a\u00e9"`: refract.NewText("aé"),
		`"null"`:    refract.NewText("null"),
	} {
		got := refract.NewText("from before")
		err := json.Unmarshal([]byte(in), &got)
		assert.True(t, err == nil && got == want, "%s is read as %+v, %v, want %+v", in, got, err, want)
	}
	for _, bad := range []string{`1`, `{}`, `["a"]`, `true`} {
		var got refract.Text
		err := json.Unmarshal([]byte(bad), &got)
		assert.True(t, err != nil && !got.Valid, "%s is read as %+v, %v, want an error", bad, got, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		want := []refract.Text{{}, refract.NewText(rapid.String().Draw(t, "text"))}
		b, err := json.Marshal(want)
		require.NoError(t, err)
		var got []refract.Text
		err = json.Unmarshal(b, &got)
		require.True(t, err == nil && slices.Equal(got, want), "%s comes back as %+v, %v", b, got, err)
	})
}

func TestPosition(t *testing.T) {
	for want, p := range map[string]refract.Position{
		`"a\nb":3`: {File: "a\nb", Line: 3},
		"":         {Line: 3}, "a.jsonl": {File: "a.jsonl"}, "a.jsonl:3": {File: "a.jsonl", Line: 3},
	} {
		assert.Equal(t, want, p.String(), "%+v is written", p)
	}
}
