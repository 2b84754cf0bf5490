package refract_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/metricstest"
)

// remote is a metric with a rule of its own for several references, and no
// workspace: the sum over references. Some hypotheses have no such score, some
// a report.
type remote struct {
	*fake
	cells, natives atomic.Int64
}

func newRemote() *remote {
	r := &remote{fake: sized(false, true)}
	r.info.Keep = metrics.KeepAlways
	score := r.score
	r.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
		for _, b := range blocks {
			r.cells.Add(int64(len(b.Hypotheses) * b.Columns()))
		}
		out, _ := score(ctx, blocks)
		return out, ctx.Err()
	}
	return r
}

func (r *remote) HasNative() bool { return true }

func (r *remote) ScoreNative(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	var out []metrics.Scores
	for _, b := range blocks {
		r.natives.Add(int64(len(b.Hypotheses)))
		s := metrics.Scores{Values: make([]float64, len(b.Hypotheses)), Status: make([]metrics.Status, len(b.Hypotheses)), Reports: make([]*analysis.Report, len(b.Hypotheses))}
		for h, hyp := range b.Hypotheses {
			if len(hyp)%4 == 3 {
				s.Status[h], s.Reports[h] = metrics.Unparseable, &analysis.Report{Outcome: analysis.Unparseable}
				continue
			}
			s.Values[h] = (&preparedWorkspace{b}).NativeStatistics(nil, h)[0]
		}
		out = append(out, s)
	}
	return out, ctx.Err()
}

func TestRemotePromises(t *testing.T) {
	metricstest.Promises(t, newRemote(), metrics.Block{Hypotheses: []string{"a", "bb", "ccc"}, References: []string{"a", "bcd"}})
}

// A native score by calls is what a workspace gives, whatever is missing and
// whatever is stored; cells are scored where a setting needs them alone.
func TestNativeByCalls(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		segs := segments().Draw(rt, "set")
		aggs := rapid.SampledFrom([][]string{{"native"}, {"native", "max"}, {"single", "native"}, {"max"}}).Draw(rt, "aggregators")
		o := refract.Options{AllowNoReferences: true, Scope: refract.Averaged, Batch: rapid.IntRange(1, 3).Draw(rt, "batch")}
		if rapid.Bool().Draw(rt, "stored") {
			o.Store = &values{all: map[[32]byte][]byte{}}
		}
		far := newRemote()
		score := func(m metrics.Metric) (*refract.Engine, []*refract.SegmentScores) {
			e, err := refract.NewEngine(cross(t, []metrics.Metric{m}, aggs...), o)
			if err != nil {
				rt.Fatal(err)
			}
			var out []*refract.SegmentScores
			if err := e.Run(context.Background(), list(segs), func(s *refract.SegmentScores) error { out = append(out, s); return nil }); err != nil {
				rt.Fatal(err)
			}
			return e, out
		}
		_, want := score(prepared{sized(false, true)})
		for range 2 {
			before, natives := far.cells.Load(), far.natives.Load()
			e, got := score(far)
			if asked := far.cells.Load() - before; len(aggs) == 1 && aggs[0] == "native" && asked != 0 {
				rt.Fatalf("%d cells are scored that nobody needs", asked)
			}
			if aggs[0] == "max" && far.natives.Load() > natives {
				rt.Fatal("native scores are made that nobody needs")
			}
			for i := range want {
				g, w := &got[i].Metrics[0], &want[i].Metrics[0]
				if (g.Native == nil) != (w.Native == nil) {
					rt.Fatalf("segment %d: native %v, want %v", i, g.Native, w.Native)
				}
				for h := range w.Native {
					status := w.NativeStatus[h]
					if status == metrics.Scored && len(segs[i].Hypotheses[h].Text.Value)%4 == 3 {
						if status = metrics.Unparseable; g.NativeReports[h] == nil {
							rt.Fatalf("segment %d, hypothesis %d has not its report", i, h)
						}
					}
					if g.NativeStatus[h] != status || status == metrics.Scored && g.Native[h] != w.Native[h] {
						rt.Fatalf("segment %d, hypothesis %d: %v %v, want %v %v", i, h, g.Native[h], g.NativeStatus[h], w.Native[h], status)
					}
					if k := slices.Index(aggs, "native"); k >= 0 {
						r, err := e.Reducer().Reduce(got[i], k, h)
						if err != nil || status == metrics.Scored && (r.Value != w.Native[h] || r.Status != status || r.References == 0) {
							rt.Fatalf("segment %d, hypothesis %d: %+v, %v", i, h, r, err)
						}
					}
				}
			}
			if o.Store != nil && far.natives.Load() > natives && before > 0 {
				rt.Fatal("a second run asks for native scores")
			}
		}
	})
}

// What breaks its promises is refused, as for cells.
func TestNativeRefused(t *testing.T) {
	segs := []*refract.Segment{segment("a", 1, []int{1}, []int{1, 2})}
	for _, bad := range [][]metrics.Scores{nil, {{}}, {{Values: []float64{math.NaN()}}}, {{Values: []float64{1}, Status: make([]metrics.Status, 2)}}} {
		for _, store := range []refract.ScoreStore{nil, &values{all: map[[32]byte][]byte{}}} {
			e, err := refract.NewEngine(cross(t, []metrics.Metric{&broke{newRemote(), bad}}, "native"), refract.Options{Store: store, Scope: refract.Averaged})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Score(t.Context(), segs); err == nil {
				t.Errorf("%+v is taken for a native score", bad)
			}
		}
	}
}

type broke struct {
	*remote
	gives []metrics.Scores
}

func (b *broke) ScoreNative(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return b.gives, nil
}
