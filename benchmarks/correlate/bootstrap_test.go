package correlate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// materialised returns the table in which each segment occurs as often as weights say.
func materialised(p *Pairs, weights []int32) *Pairs {
	m := &Pairs{Systems: p.Systems, GoldOK: []bool{}, MetricOK: []bool{}}
	for seg, w := range weights {
		from, to := p.Index(seg, 0), p.Index(seg+1, 0)
		for range w {
			m.Segments++
			m.Gold = append(m.Gold, p.Gold[from:to]...)
			m.Metric = append(m.Metric, p.Metric[from:to]...)
			m.GoldOK = append(m.GoldOK, p.GoldOK[from:to]...)
			m.MetricOK = append(m.MetricOK, p.MetricOK[from:to]...)
		}
	}
	return m
}

func drawTable(t *rapid.T) *Pairs {
	p := NewPairs(rapid.IntRange(0, 15).Draw(t, "segments"), rapid.IntRange(0, 5).Draw(t, "systems"))
	n := len(p.Gold)
	p.Gold, p.Metric = drawScores(t, n, "gold"), drawScores(t, n, "metric")
	for _, scores := range [][]float64{p.Gold, p.Metric} {
		for i, v := range scores {
			if math.Abs(v) < 1e-100 {
				scores[i] = 0 // their squares vanish next to others, and count only by themselves
			}
		}
	}
	mask := rapid.SliceOfN(rapid.SampledFrom([]bool{true, true, true, false}), n, n)
	p.GoldOK, p.MetricOK = mask.Draw(t, "gold mask"), mask.Draw(t, "metric mask")
	return p
}

type choice struct {
	statistic Statistic
	grouping  Grouping
}

// choices are all statistics with their possible groupings, except for soft accuracy, which
// leaves out other segments of a resample than of its table; see TestSoftAccuracyResamples.
var choices = func() (out []choice) {
	for i := range statistics {
		s := Statistic(i)
		if s == StatSoftAccuracy {
			continue
		}
		if out = append(out, choice{s, None}); !s.OfSystems() {
			out = append(out, choice{s, BySegment}, choice{s, BySystem})
		}
	}
	return out
}()

// A statistic is stated whole: its value, of a vector or of a table, and one way to the same
// number in resamples. That of accuracy is [meanRow].
func TestStatisticsAreWhole(t *testing.T) {
	for i, s := range statistics {
		of := func(f any) bool { return !reflect.ValueOf(f).IsNil() }
		ways := 0
		for _, f := range []any{s.pairs, s.row, s.table} {
			if of(f) {
				ways++
			}
		}
		switch {
		case s.name == "" || s.lower != 0 && s.lower != -1:
			t.Errorf("statistic %d: name %q, from %v", i, s.name, s.lower)
		case of(s.vector) == of(s.over):
			t.Errorf("%s: want one of vector and over", s.name)
		case ways != 1 && Statistic(i) != StatAccuracy:
			t.Errorf("%s: %d ways to resamples, want one", s.name, ways)
		case (of(s.pairs) || of(s.row)) && !of(s.vector), of(s.table) && !of(s.over), s.systems != of(s.rows):
			t.Errorf("%s: a way to a number of which the value is not stated", s.name)
		}
	}
}

func chosen(s Statistic, g Grouping) Measure {
	return Measure{Statistic: s, Grouping: g}
}

func mustResampler(p *Pairs, s Statistic, g Grouping) *resampler {
	rs, err := newResampler(p, p, chosen(s, g), nil)
	if err != nil {
		panic(err)
	}
	return rs
}

// weighted returns the statistic of one resample.
func (rs *resampler) weighted(weights []int32, s *scratch) float64 {
	out := make([]float64, 1)
	rs.values([][]int32{weights}, out, s)
	return out[0]
}

func TestWeightedEqualsMaterialised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawTable(t)
		weights := rapid.SliceOfN(rapid.Int32Range(0, 4), p.Segments, p.Segments).Draw(t, "weights")
		m := materialised(p, weights)
		var s scratch // shared, as in a goroutine of Bootstrap
		for _, c := range choices {
			want, err := chosen(c.statistic, c.grouping).Of(m)
			require.NoError(t, err)
			rs := mustResampler(p, c.statistic, c.grouping)
			for range 2 {
				got := rs.weighted(weights, &s)
				require.True(t, near(got, want.Value, 1e-12), "%v by %v: %v, materialised %v", c.statistic, c.grouping, got, want.Value)
			}
		}
	})
}

// simulated returns a table like one year of WMT: gold scores with many ties, and
// continuous metric scores that depend on them.
func simulated(segments, systems int) *Pairs {
	random := rand.New(rand.NewPCG(1, 2))
	p := NewPairs(segments, systems)
	for i := range p.Gold {
		p.Gold[i] = -math.Round(math.Abs(random.NormFloat64()*random.NormFloat64()) * 40 / 10)
		p.Metric[i] = p.Gold[i] + 8*random.NormFloat64() + float64(i%systems)/10
		p.GoldOK[i] = true
		p.MetricOK[i] = true
	}
	return p
}

func bootstrap(t *testing.T, p *Pairs, s Statistic, g Grouping, confidence float64, o Bootstrap) Interval {
	t.Helper()
	m := chosen(s, g)
	got, values, err := o.Resample(t.Context(), m, p)
	require.NoError(t, err)
	if want, err := m.Of(p); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v: %+v with resamples, want %+v (%v)", m, got, want, err)
	}
	return values.Interval(confidence)
}

// The numbers pin the random draws: if they change, every interval ever printed changes.
func TestBootstrapIsReproducible(t *testing.T) {
	p := simulated(40, 5)
	want := bootstrap(t, p, StatKendall, None, 0.95, Bootstrap{Resamples: 200, Seed: 7})
	pinned := (Interval{Low: 0.22368916464164823, High: 0.36344979226387675})
	assert.Equal(t, want, pinned)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		if got := bootstrap(t, p, StatKendall, None, 0.95, Bootstrap{Resamples: 200, Seed: 7}); got != want {
			t.Errorf("with %d processors %+v, want %+v", procs, got, want)
		}
	}
	got := bootstrap(t, p, StatKendall, None, 0.95, Bootstrap{Resamples: 200, Seed: 8})
	assert.True(t, got != want, "another seed gave %+v again", got)
}

// Segments without a pair of scores are not part of the sample.
func TestBootstrapLeavesOutUnjudged(t *testing.T) {
	p := simulated(50, 3)
	more := NewPairs(80, 3)
	copy(more.Gold, p.Gold)
	copy(more.Metric, p.Metric)
	copy(more.GoldOK, p.GoldOK)
	copy(more.MetricOK, p.MetricOK)
	for i := len(p.Gold); i < len(more.Gold); i++ {
		more.MetricOK[i] = true
	}
	o := Bootstrap{Resamples: 100, Seed: 3}
	for _, c := range choices {
		a, b := bootstrap(t, p, c.statistic, c.grouping, 0.9, o), bootstrap(t, more, c.statistic, c.grouping, 0.9, o)
		assert.Equal(t, b, a, "%v by %v: %+v, with unjudged segments %+v", c.statistic, c.grouping, a, b)
	}
}

func TestBootstrapUndefined(t *testing.T) {
	o := Bootstrap{Resamples: 400, Seed: 1}
	// Three segments of one system: a resample that draws one of them three times, one in
	// nine, is constant.
	p := table(t, "1/1", "2/2", "3/4")
	got := bootstrap(t, p, StatKendall, None, 0.9, o)
	if !near(got.Low, 1, 1e-15) || !near(got.High, 1, 1e-15) || got.Undefined < 20 || got.Undefined > 80 {
		t.Errorf("%+v, want [1, 1] with about 44 undefined", got)
	}
	for _, p := range []*Pairs{NewPairs(0, 0), NewPairs(5, 2), table(t, "1/1"), table(t, "2/1 2/3")} {
		got := bootstrap(t, p, StatKendall, None, 0.9, o)
		if !math.IsNaN(got.Low) || !math.IsNaN(got.High) || got.Undefined != o.Resamples {
			t.Errorf("%+v, want all undefined", got)
		}
	}
}

func TestBootstrapOptionErrors(t *testing.T) {
	p := table(t, "1/1 2/2", "3/4")
	for _, o := range []Bootstrap{
		{}, {Resamples: -1}, {Resamples: MaxResamples + 1},
		{Resamples: 1, Units: Units{0}}, {Resamples: 1, Units: Units{0, -1}},
	} {
		_, _, err := o.Resample(t.Context(), Measure{}, p)
		assert.Error(t, err, "%+v: no error", o)
	}
}

func TestBootstrapCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := simulated(3000, 15)
	o := Bootstrap{Resamples: MaxResamples} // takes minutes
	done := make(chan error, 1)
	go func() {
		_, _, err := o.Resample(ctx, Measure{}, p)
		done <- err
	}()
	cancel()
	select {
	case err := <-done:
		assert.ErrorIs(t, err, context.Canceled, "error")
	case <-time.After(time.Minute):
		t.Fatal("still running a minute after the context was cancelled")
	}
}

// BenchmarkWMT22 takes 1,000 resamples of BLEU on WMT22 zh-en on one core.
func BenchmarkWMT22(b *testing.B) {
	p := readPairs(b, "BLEU-refA")
	boot := Bootstrap{Resamples: 1000, Seed: 1}
	for _, s := range []Statistic{StatKendall, StatSpearman, StatPearson, StatAccuracy, StatKendallC} {
		m := Measure{Statistic: s}
		b.Run(s.String(), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			for b.Loop() {
				_, _, err := boot.Resample(b.Context(), m, p)
				require.NoError(b, err)
			}
		})
	}
}

func TestResamplable(t *testing.T) {
	large := simulated(600, 5) // 3,000 cells, 4.5 million pairs
	for _, tt := range []struct {
		m    Measure
		many bool
	}{
		{Measure{Statistic: StatAcc23}, true},
		{Measure{Statistic: StatAcc23, Grouping: BySegment}, false},
		{Measure{Statistic: StatPlainAcc23}, false},
		{Measure{Statistic: StatKendall}, false},
	} {
		if err := tt.m.Resamplable(large); errors.Is(err, ErrTooManyPairs) != tt.many || err != nil != tt.many {
			t.Errorf("%v: Resamplable gives %v", tt.m, err)
		}
		_, _, err := Bootstrap{Resamples: 1}.Resample(t.Context(), tt.m, large)
		assert.Equal(t, tt.many, errors.Is(err, ErrTooManyPairs), "%v: Resample gives %v", tt.m, err)
	}
}
