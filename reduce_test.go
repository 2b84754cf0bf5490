package refract_test

import (
	"errors"
	"strings"
	"testing"

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
		if err != nil {
			t.Fatal(err)
		}
		r := e.Reducer()
		for range 2 { // the second time with reused memory
			got, err := r.ReduceMatrix(ms, 0, c.h)
			if c.want.fails {
				if !errors.Is(err, aggregate.ErrMissing) {
					t.Errorf("%s: %+v, %v, want ErrMissing", c.name, got, err)
				}
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
					if !errors.Is(err, aggregate.ErrMissing) {
						t.Errorf("%s, %s: %+v, %v, want ErrMissing", policy, agg, got, err)
					}
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
	if err == nil || !strings.Contains(err.Error(), "sized has no native score") {
		t.Errorf("native of a metric without: %v", err)
	}
	ms.Values[1] = -1
	_, err = reduce(t, m, ms, "power:p=2", aggregate.Exclude, 0)
	if err == nil || !strings.Contains(err.Error(), "not defined for the score -1") {
		t.Errorf("a power mean of a negative score: %v", err)
	}
}
