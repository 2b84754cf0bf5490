package refract_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/metricstest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/chrf"
)

func realMetrics(t testing.TB) []metrics.Metric {
	t.Helper()
	b, err := bleu.New(bleu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := chrf.New(chrf.Defaults())
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil || n != len(segs) {
			rt.Fatalf("%d of %d segments, %v", n, len(segs), err)
		}
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
		"some":  {[]int{1, -1}, "", "1 of 2 segments have no source, which sized needs: it has no score of them"},
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
			if strings.Join(warnings, "") != c.warning {
				t.Errorf("%q", warnings)
			}
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
	if err != nil || n != 2 {
		t.Errorf("%d segments, %v", n, err)
	}
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
		{"a prepared value too few", misshapen{prepared{f}, -1, 0}, `sized, segment "a": 1 values for 2 cells`},
		{"a native score too many", misshapen{prepared{f}, 0, 1}, `sized, segment "a": 2 values for 1 cells`},
	} {
		e := engine(t, refract.Options{}, []metrics.Metric{c.m}, "native")
		_, err := e.Score(t.Context(), []*refract.Segment{segment("a", 1, []int{1}, []int{1, 2}), segment("b", 1, []int{1, 2}, []int{3, 4})})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
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
