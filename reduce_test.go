package refract_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

func TestReduce(t *testing.T) {
	type want struct {
		value         float64
		status        metrics.Status
		used, missing int
		fails         bool // with aggregate.ErrMissing
	}
	const (
		exclude   = aggregate.Exclude
		propagate = aggregate.Propagate
		fail      = aggregate.Fail
	)
	hyps := []int{1, -1}
	full, holed, headless := []int{2, 5, 3}, []int{2, -1, 3}, []int{-1, 5}
	for _, c := range []struct {
		name string
		refs []int
		agg  string
		p    aggregate.Policy
		h    int
		want want
	}{
		{"max", full, "max", exclude, 0, want{value: 105, used: 3}},
		{"max, none missing", full, "max", fail, 0, want{value: 105, used: 3}},
		{"mean", full, "mean", propagate, 0, want{value: 310. / 3, used: 3}},
		{"single", full, "single", exclude, 0, want{value: 102, used: 1}},
		{"native", full, "native", fail, 0, want{value: 310, used: 3}},

		{"max without one", holed, "max", exclude, 0, want{value: 103, used: 2, missing: 1}},
		{"max lets it spread", holed, "max", propagate, 0, want{status: noR, used: 2, missing: 1}},
		{"max fails", holed, "max", fail, 0, want{fails: true}},
		{"native without one", holed, "native", exclude, 0, want{value: 205, used: 2, missing: 1}},
		{"native lets it spread", holed, "native", propagate, 0, want{status: noR, used: 2, missing: 1}},
		{"native fails", holed, "native", fail, 0, want{fails: true}},
		// single looks only at the first reference.
		{"single, another one missing", holed, "single", exclude, 0, want{value: 102, used: 1}},
		{"single, another one missing, propagate", holed, "single", propagate, 0, want{value: 102, used: 1}},
		{"single, another one missing, fail", holed, "single", fail, 0, want{value: 102, used: 1}},
		{"single without the first", headless, "single", exclude, 0, want{status: noR, missing: 1}},
		{"single without the first, fail", headless, "single", fail, 0, want{fails: true}},
		{"max without the first", headless, "max", exclude, 0, want{value: 105, used: 1, missing: 1}},
		{"native without the first", headless, "native", exclude, 0, want{value: 105, used: 1, missing: 1}},

		// The references are present and must not be counted as missing.
		{"missing hypothesis, max", full, "max", exclude, 1, want{status: noH}},
		{"missing hypothesis, single", full, "single", exclude, 1, want{status: noH}},
		{"missing hypothesis, native", full, "native", exclude, 1, want{status: noH}},
		{"missing hypothesis, native, propagate", full, "native", propagate, 1, want{status: noH}},
		{"missing hypothesis, max, fail", full, "max", fail, 1, want{fails: true}},
		{"missing hypothesis, native, fail", full, "native", fail, 1, want{fails: true}},

		{"no reference, max", nil, "max", exclude, 0, want{status: noR, missing: 1}},
		{"no reference, single", nil, "single", propagate, 0, want{status: noR, missing: 1}},
		{"no reference, native", nil, "native", exclude, 0, want{status: noR, missing: 1}},
		{"no reference, native, propagate", nil, "native", propagate, 0, want{status: noR, missing: 1}},
		{"no reference, native, fail", nil, "native", fail, 0, want{fails: true}},
		{"no reference and hypothesis, native", nil, "native", exclude, 1, want{status: noH}},
	} {
		m := prepared{sized(false, true)}
		ms := scoreOne(t, refract.Options{AllowNoReferences: true}, m, segment("s", 1, hyps, c.refs))
		e, err := refract.NewEngine(cross(t, []metrics.Metric{m}, c.agg), refract.Options{Missing: c.p})
		require.NoError(t, err)
		r := e.Reducer()
		for range 2 { // the second time with reused memory
			got, err := r.ReduceMatrix(ms, 0, c.h)
			if c.want.fails {
				assert.ErrorIs(t, err, aggregate.ErrMissing, "%s: %+v", c.name, got)
				continue
			}
			if got.Status != metrics.Scored {
				got.Value = 0
			}
			if w := (refract.Reduced{Value: c.want.value, Status: c.want.status, References: c.want.used, Missing: c.want.missing}); err != nil || got != w {
				t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, w)
			}
		}
	}
}

func TestReduceDirection(t *testing.T) {
	m := sized(false, true)
	ms := scoreOne(t, refract.Options{}, m, segment("s", 1, []int{1}, []int{2, 5, 3}))
	for direction, want := range map[metrics.Direction]float64{metrics.HigherIsBetter: 105, metrics.LowerIsBetter: 102} {
		m.info.Direction = direction
		got, err := reduce(t, m, ms, "best", aggregate.Exclude, 0)
		if err != nil || got.Value != want {
			t.Errorf("direction %d: the best is %v, %v, want %v", direction, got.Value, err, want)
		}
	}
}

func TestReduceWithoutReferences(t *testing.T) {
	m := sized(true, false)
	for _, policy := range []aggregate.Policy{aggregate.Exclude, aggregate.Propagate, aggregate.Fail} {
		for _, agg := range []string{"single", "max", "native"} {
			reduced := func(source, hyp int) (refract.Reduced, error) {
				ms := scoreOne(t, refract.Options{}, m, segment("s", source, []int{hyp}, []int{1, 2}))
				return reduce(t, m, ms, agg, policy, 0)
			}
			if got, err := reduced(1, 3); err != nil || got != (refract.Reduced{Value: 10300}) {
				t.Errorf("%s, %s: %+v, %v", policy, agg, got, err)
			}
			for want, texts := range map[metrics.Status][2]int{noS: {-1, 3}, noH: {1, -1}} {
				got, err := reduced(texts[0], texts[1])
				if policy == aggregate.Fail {
					assert.ErrorIs(t, err, aggregate.ErrMissing, "%s, %s: %+v", policy, agg, got)
				} else if err != nil || got.Status != want {
					t.Errorf("%s, %s: %+v, %v, want %v", policy, agg, got, err, want)
				}
			}
		}
	}
}

func TestReduceErrors(t *testing.T) {
	m := sized(false, true)
	ms := scoreOne(t, refract.Options{}, m, segment("s", 1, []int{1}, []int{2, 3}))
	_, err := reduce(t, m, ms, "native", aggregate.Exclude, 0)
	assert.ErrorContains(t, err, "sized has no native score", "native of a metric without")
	ms.Values[1] = -1
	_, err = reduce(t, m, ms, "power:p=2", aggregate.Exclude, 0)
	assert.ErrorContains(t, err, "not defined for the score -1", "a power mean of a negative score")
}

const (
	ok  = metrics.Scored
	noH = metrics.MissingHypothesis
	noR = metrics.MissingReference
	noS = metrics.MissingSource
	bad = metrics.Failed
)

func TestMissingTexts(t *testing.T) {
	for _, c := range []struct {
		name         string
		source, refs bool // what the metric needs
		seg          *refract.Segment
		values       []float64 // 0 where not scored
		status       []metrics.Status
		native       []float64
		first, all   []float64
	}{
		{name: "all there", refs: true, seg: segment("s", 1, []int{1, 2}, []int{3, 4}),
			values: []float64{103, 104, 203, 204}, status: []metrics.Status{ok, ok, ok, ok},
			native: []float64{207, 407}, first: []float64{103, 203}, all: []float64{207, 407}},
		{name: "empty is not missing", refs: true, seg: segment("s", 1, []int{0, 2}, []int{3, 0}),
			values: []float64{3, 0, 203, 200}, status: []metrics.Status{ok, ok, ok, ok},
			native: []float64{3, 403}, first: []float64{3, 203}, all: []float64{3, 403}},
		{name: "missing hypothesis", refs: true, seg: segment("s", -1, []int{1, -1, 2}, []int{3, 4}),
			values: []float64{103, 104, 0, 0, 203, 204}, status: []metrics.Status{ok, ok, noH, noH, ok, ok},
			native: []float64{207, 0, 407}, first: []float64{103, 0, 203}, all: []float64{207, 0, 407}},
		{name: "missing reference in the middle", refs: true, seg: segment("s", 1, []int{1, 2}, []int{3, -1, 5}),
			values: []float64{103, 0, 105, 203, 0, 205}, status: []metrics.Status{ok, noR, ok, ok, noR, ok},
			native: []float64{208, 408}, first: []float64{103, 203}, all: []float64{208, 408}},
		{name: "missing first reference", refs: true, seg: segment("s", 1, []int{1}, []int{-1, 5}),
			values: []float64{0, 105}, status: []metrics.Status{noR, ok},
			native: []float64{105}, all: []float64{105}},
		{name: "both", refs: true, seg: segment("s", 1, []int{-1, 2}, []int{3, -1}),
			values: []float64{0, 0, 203, 0}, status: []metrics.Status{noH, noH, ok, noR},
			native: []float64{0, 203}, first: []float64{0, 203}, all: []float64{0, 203}},
		{name: "no hypothesis present", refs: true, seg: segment("s", 1, []int{-1, -1}, []int{3}),
			values: []float64{0, 0}, status: []metrics.Status{noH, noH}},
		{name: "no hypothesis at all", refs: true, seg: segment("s", 1, nil, []int{3})},
		{name: "no reference", refs: true, seg: segment("s", 1, []int{1, -1}, nil),
			values: []float64{0, 0}, status: []metrics.Status{noR, noH}},
		{name: "missing references only", refs: true, seg: segment("s", 1, []int{1}, []int{-1, -1}),
			values: []float64{0, 0}, status: []metrics.Status{noR, noR}},
		{name: "source and references", source: true, refs: true, seg: segment("s", 2, []int{1}, []int{3, 4}),
			values: []float64{20103, 20104}, status: []metrics.Status{ok, ok},
			native: []float64{40207}, first: []float64{20103}, all: []float64{40207}},
		{name: "empty source", source: true, refs: true, seg: segment("s", 0, []int{1}, []int{3}),
			values: []float64{103}, status: []metrics.Status{ok},
			native: []float64{103}, first: []float64{103}, all: []float64{103}},
		{name: "missing source", source: true, refs: true, seg: segment("s", -1, []int{1, -1}, []int{3, -1}),
			values: []float64{0, 0, 0, 0}, status: []metrics.Status{noS, noS, noH, noH}},
		{name: "reference-free", seg: segment("s", 1, []int{1, -1, 2}, []int{3, -1}),
			values: []float64{100, 0, 200}, status: []metrics.Status{ok, noH, ok},
			native: []float64{100, 0, 200}, first: []float64{100, 0, 200}, all: []float64{100, 0, 200}},
		{name: "reference-free without references", source: true, seg: segment("s", 1, []int{1, 2}, nil),
			values: []float64{10100, 10200}, status: []metrics.Status{ok, ok},
			native: []float64{10100, 10200}, first: []float64{10100, 10200}, all: []float64{10100, 10200}},
		{name: "reference-free without source", source: true, seg: segment("s", -1, []int{1}, []int{3}),
			values: []float64{0}, status: []metrics.Status{noS}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sized(c.source, c.refs)
			batched := scoreOne(t, refract.Options{AllowNoReferences: true}, f, c.seg)
			whole := scoreOne(t, refract.Options{AllowNoReferences: true}, prepared{f}, c.seg)
			columns := 1
			if c.refs {
				columns = max(1, c.seg.NumReferences())
			}
			for _, ms := range []*refract.MetricScores{batched, whole} {
				if ms.Columns != columns || !slices.Equal(ms.Values, c.values) || !slices.Equal(ms.Status, c.status) {
					t.Errorf("%d columns of %v, %v; want %d of %v, %v", ms.Columns, ms.Values, ms.Status, columns, c.values, c.status)
				}
			}
			if batched.Native != nil || batched.First != nil || batched.All != nil {
				t.Errorf("a metric without the capability has native scores or statistics")
			}
			if !slices.Equal(whole.Native, c.native) || !slices.Equal(whole.First, c.first) || !slices.Equal(whole.All, c.all) {
				t.Errorf("native %v, statistics %v and %v, want %v, %v and %v", whole.Native, whole.First, whole.All, c.native, c.first, c.all)
			}
			for h, st := range whole.NativeStatus {
				assert.Equal(t, c.seg.Hypotheses[h].Text.Valid, (st == ok), "status of native score %d is %v", h, st)
			}
		})
	}
}

func TestColumnsAreOriginalsThenVariants(t *testing.T) {
	seg := segment("s", 1, []int{1}, []int{2, -1})
	for _, n := range []int{7, -1, 5} {
		seg.Variants = append(seg.Variants, refract.Variant{Prompt: "p", Text: sizedText(n)})
	}
	ms := scoreOne(t, refract.Options{}, sized(false, true), seg)
	if want := []float64{102, 0, 107, 0, 105}; ms.Columns != 5 || !slices.Equal(ms.Values, want) {
		t.Errorf("%d columns %v, want %v", ms.Columns, ms.Values, want)
	}
	want := []metrics.Status{ok, noR, ok, noR, ok}
	assert.True(t, slices.Equal(ms.Status, want), "statuses %v, want %v", ms.Status, want)
	// A segment may have only variants.
	seg.References = nil
	if ms := scoreOne(t, refract.Options{}, prepared{sized(false, true)}, seg); !slices.Equal(ms.Values, []float64{107, 0, 105}) || !slices.Equal(ms.First, []float64{107}) {
		t.Errorf("only variants: %v, first %v", ms.Values, ms.First)
	}
}

func TestNoReferencesError(t *testing.T) {
	seg := segment("x1", 1, []int{1}, nil)
	seg.Pos = refract.Position{File: "set.jsonl", Line: 7}
	e := engine(t, refract.Options{}, []metrics.Metric{sized(false, false), sized(false, true)})
	_, err := e.Score(t.Context(), []*refract.Segment{segment("x0", 1, []int{1}, []int{1}), seg})
	var none *refract.NoReferencesError
	if !errors.As(err, &none) || none.ID != "x1" || none.Metric != "sized" {
		t.Fatalf("%v, want a NoReferencesError of x1", err)
	}
	want := `set.jsonl:7: segment "x1" has no reference, which sized needs`
	assert.True(t, strings.HasPrefix(err.Error(), want), "%q does not begin with %q", err, want)
	seg.Pos = refract.Position{}
	_, err = e.Score(t.Context(), []*refract.Segment{seg})
	assert.True(t, strings.HasPrefix(err.Error(), `segment "x1"`), "an unknown position is stated: %v", err)
}

// Statuses that a metric returns go to the cells of the texts that it was given.
func TestFailedCells(t *testing.T) {
	f := sized(false, true)
	f.score = func(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
		out := make([]metrics.Scores, len(blocks))
		for i, b := range blocks {
			out[i].Values = sizes(b)
			out[i].Status = make([]metrics.Status, len(out[i].Values))
			out[i].Status[len(out[i].Status)-1] = metrics.Failed
		}
		return out, nil
	}
	ms := scoreOne(t, refract.Options{}, f, segment("s", 1, []int{1, -1, 2}, []int{3, -1, 4}))
	want := []metrics.Status{ok, noR, ok, noH, noH, noH, ok, noR, bad}
	assert.True(t, slices.Equal(ms.Status, want), "statuses %v, want %v", ms.Status, want)
}

// A block contains only what the metric asks for, and a segment with nothing to score is
// not passed to the metric.
func TestMetricsGetOnlyWhatTheyNeed(t *testing.T) {
	for _, c := range []struct {
		source, refs bool
		want         string
	}{
		{true, true, "[{xx [x] [xxx xxxx]}]"},
		{true, false, "[{xx [x] []}]"},
		{false, true, "[{ [x] [xxx xxxx]}]"},
		{false, false, "[{ [x] []}]"},
	} {
		f := sized(c.source, c.refs)
		score, seen := f.score, ""
		f.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
			seen += fmt.Sprint(blocks)
			return score(ctx, blocks)
		}
		e := engine(t, refract.Options{}, []metrics.Metric{f})
		_, err := e.Score(t.Context(), []*refract.Segment{
			segment("a", 2, []int{1, -1}, []int{3, -1, 4}),
			segment("b", 2, []int{-1}, []int{3}),
			segment("c", 2, nil, []int{3}),
		})
		if err != nil || seen != c.want {
			t.Errorf("needs source %v, references %v: it saw %s, %v, want %s", c.source, c.refs, seen, err, c.want)
		}
	}
}

// A segment with too much text is refused before scoring, unless the bound is raised.
func TestTooLong(t *testing.T) {
	seg := segment("long", 1, []int{100}, []int{50, 60})
	seg.Pos = refract.Position{File: "a.jsonl", Line: 7}
	_, err := engine(t, refract.Options{MaxText: 209}, []metrics.Metric{sized(false, true)}).Score(t.Context(), []*refract.Segment{seg})
	var long *refract.TooLongError
	if !errors.As(err, &long) || long.Bytes != 210 || !strings.HasPrefix(err.Error(), `a.jsonl:7: segment "long" has `) || !strings.Contains(err.Error(), "--max-text") {
		t.Errorf("%v", err)
	}
	for _, most := range []int{0, 210, -1} {
		_, err := engine(t, refract.Options{MaxText: most}, []metrics.Metric{sized(false, true)}).Score(t.Context(), []*refract.Segment{seg})
		assert.NoError(t, err, most)
	}
}
