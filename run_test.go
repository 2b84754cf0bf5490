package refract_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/metrics"
)

// The tests of this file run in synctest bubbles: time is simulated, Wait returns once
// all goroutines are blocked, and a leaked goroutine fails the test.

// endless is a dataset that counts the segments read. After fail segments it ends
// with err.
type endless struct {
	read *atomic.Int64
	fail int64
	err  error
}

func (e endless) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for ctx.Err() == nil {
			n := e.read.Add(1)
			if n > e.fail && e.fail > 0 {
				yield(nil, e.err)
				return
			}
			if !yield(segment(fmt.Sprint(n), 1, []int{1}, []int{2}), nil) {
				return
			}
		}
		// Like a careless reader, it ends without an error when the context ends.
	}
}

// waiting is a metric that takes an hour for a batch, unless the context
// ends.
func waiting() *fake {
	f := sized(false, true)
	score := f.score
	f.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Hour):
			return score(ctx, blocks)
		}
	}
	return f
}

// drowsy is a Preparer that takes a tenth of a second for each segment and ignores
// the context.
type drowsy struct{ prepared }

func (drowsy) NewWorkspace() metrics.Workspace { return &drowsyWorkspace{} }

type drowsyWorkspace struct{ preparedWorkspace }

func (w *drowsyWorkspace) Cells(dst []float64) []float64 {
	time.Sleep(100 * time.Millisecond)
	return w.preparedWorkspace.Cells(dst)
}

func TestRunStops(t *testing.T) {
	boom := errors.New("boom")
	fine := sized(false, true)
	broken := sized(false, true)
	broken.score = func(context.Context, []metrics.Block) ([]metrics.Scores, error) {
		time.Sleep(time.Minute)
		return nil, boom
	}
	later := sized(false, true)
	later.score = func(context.Context, []metrics.Block) ([]metrics.Scores, error) {
		time.Sleep(time.Hour)
		return nil, boom
	}
	for _, c := range []struct {
		name    string
		metrics []metrics.Metric
		fail    int64         // number of segments after which the dataset fails
		cancel  time.Duration // when the context ends
		yield   func(n int) error
		stop    time.Duration // when the reason to stop occurs
		want    error
	}{
		{name: "cancelled before", metrics: []metrics.Metric{fine}, cancel: -1, want: context.Canceled},
		{name: "cancelled in a slow metric", metrics: []metrics.Metric{fine, waiting()}, cancel: 90 * time.Minute, stop: 90 * time.Minute, want: context.Canceled},
		{name: "cancelled in a slow workspace", metrics: []metrics.Metric{drowsy{prepared{fine}}}, cancel: time.Minute, stop: time.Minute, want: context.Canceled},
		{name: "cancelled while yield is slow", metrics: []metrics.Metric{fine}, cancel: time.Minute, stop: time.Minute,
			yield: func(int) error { time.Sleep(700 * time.Millisecond); return nil }, want: context.Canceled},
		{name: "error of yield", metrics: []metrics.Metric{drowsy{prepared{fine}}}, stop: 1600 * time.Millisecond,
			yield: func(n int) error {
				if n == 3 {
					return boom
				}
				return nil
			}, want: boom},
		{name: "error of the dataset", metrics: []metrics.Metric{waiting()}, fail: 20, want: boom},
		{name: "error of the dataset at once", metrics: []metrics.Metric{fine}, fail: 1, want: boom},
		{name: "error of a metric", metrics: []metrics.Metric{broken}, stop: time.Minute, want: boom},
		{name: "errors of all metrics", metrics: []metrics.Metric{broken, later}, stop: time.Hour, want: boom},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel < 0 {
					cancel()
				} else if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				start, yielded := time.Now(), 0
				e := engine(t, refract.Options{Workers: 3}, c.metrics)
				err := e.Run(ctx, endless{new(atomic.Int64), c.fail, boom}, func(s *refract.SegmentScores) error {
					yielded++
					assert.Equal(t, fmt.Sprint(yielded), s.Segment.ID, "segment %s in place %d", s.Segment.ID, yielded)
					assert.NoError(t, ctx.Err(), "segment %d is yielded after the end", yielded)
					if c.yield != nil {
						return c.yield(yielded)
					}
					return nil
				})
				assert.ErrorIs(t, err, c.want)
				late := time.Since(start) - c.stop
				assert.True(t, late >= 0 && late <= time.Second, "it ended %v after the reason to", late)
			})
		})
	}
}

// Few segments are held, however slow the reader of the scores is.
func TestRunHoldsFewSegments(t *testing.T) {
	for _, c := range []struct{ workers, batch int }{{1, 1}, {1, 16}, {4, 3}, {8, 1}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var read atomic.Int64
			yielded, most := int64(0), int64(0)
			e := engine(t, refract.Options{Workers: c.workers, Batch: c.batch}, []metrics.Metric{sized(false, true)})
			err := e.Run(ctx, endless{read: &read}, func(*refract.SegmentScores) error {
				if yielded%7 == 0 {
					synctest.Wait() // until nothing more can be read
				}
				most = max(most, read.Load()-yielded)
				if yielded++; yielded == 500 {
					cancel()
				}
				return nil
			})
			assert.True(t, errors.Is(err, context.Canceled) && yielded == 500, "%v after %d segments", err, yielded)
			if limit := int64(256 + 4*c.batch); most > limit || most < int64(c.workers*c.batch) {
				t.Errorf("%d workers, batches of %d: %d segments held, want at most %d and work for all", c.workers, c.batch, most, limit)
			}
		})
	}
}

// newPaced returns a metric with its own pace, whose calls take the given time.
func newPaced(pace metrics.Pace, time func(), calls *atomic.Int64) metrics.Metric {
	f := sized(false, true)
	f.info.Pace = pace
	score := f.score
	f.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
		calls.Add(1)
		time()
		return score(ctx, blocks)
	}
	return f
}

// Every metric runs at its own pace: a fast one finishes all segments that the run
// holds while a slow one waits for its first answer.
func TestMetricsRunAtTheirOwnPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fast, slow atomic.Int64
		first := make(chan struct{})
		ms := []metrics.Metric{
			newPaced(metrics.Pace{Batch: 10, Calls: 1}, func() {}, &fast),
			newPaced(metrics.Pace{Batch: 50, Calls: 4}, func() { <-first; time.Sleep(time.Hour) }, &slow),
		}
		go func() {
			synctest.Wait()
			// The run holds two batches for each call of the slow one.
			if f, s := fast.Load(), slow.Load(); f < 2*50*4/10 || f > 2*50*4/10+1 || s != 4 {
				t.Errorf("%d calls of the fast metric, %d of the slow one", f, s)
			}
			close(first)
		}()
		var ds list
		for i := range 1000 {
			ds = append(ds, segment(fmt.Sprint(i), 1, []int{1}, []int{2}))
		}
		start, n := time.Now(), 0
		err := engine(t, refract.Options{}, ms).Run(t.Context(), ds, func(s *refract.SegmentScores) error {
			if s.Segment != ds[n] || s.Metrics[0].Values[0] != 102 || s.Metrics[1].Values[0] != 102 {
				t.Errorf("segment %s in place %d: %+v", s.Segment.ID, n, s.Metrics)
			}
			n++
			return nil
		})
		if took := time.Since(start); err != nil || n != 1000 || took != 5*time.Hour || slow.Load() != 20 || fast.Load() != 100 {
			t.Errorf("%v: %d segments in %v, %d and %d calls", err, n, took, fast.Load(), slow.Load())
		}
	})
}

// A metric that fails stops no other: the cells that it did not reach have the status
// Ended, and the other metrics are complete.
func TestFailedMetricStopsNoOther(t *testing.T) {
	for _, workers := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			boom := errors.New("boom")
			fails := sized(false, true)
			fails.info.Name = "fails"
			score := fails.score
			fails.score = func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
				time.Sleep(time.Minute)
				if len(blocks[0].References[0]) == 20 {
					return nil, boom
				}
				return score(ctx, blocks)
			}
			var ds list
			for i := range 100 {
				ds = append(ds, segment(fmt.Sprint(i), 1, []int{1, -1}, []int{i}))
			}
			var settings []refract.Setting
			for _, m := range []metrics.Metric{fails, prepared{sized(false, true)}} {
				settings = append(settings, cross(t, []metrics.Metric{m}, "max")...)
			}
			e, err := refract.NewEngine(settings, refract.Options{Workers: workers, Batch: 4, Missing: aggregate.Exclude})
			require.NoError(t, err)
			systems := e.Systems()
			n, ended := 0, 0
			err = e.Run(t.Context(), ds, func(s *refract.SegmentScores) error {
				// Calls concurrent to the failing one may give scores, which are kept.
				if status := s.Metrics[0].Status[0]; status == metrics.Ended {
					ended++
				} else if status != metrics.Scored || n == 20 || n >= 20+4*workers {
					t.Errorf("segment %d: %v", n, status)
				}
				if s.Metrics[0].Status[1] != metrics.MissingHypothesis || s.Metrics[1].Values[0] != float64(100+n) {
					t.Errorf("segment %d: %+v", n, s.Metrics)
				}
				n++
				return systems.Add(s)
			})
			var incomplete *refract.Incomplete
			if !errors.As(err, &incomplete) || !errors.Is(err, boom) || len(incomplete.Metrics) != 1 || incomplete.Metrics[0] != "fails" || !strings.HasPrefix(err.Error(), "fails, segments") {
				t.Errorf("%v", err)
			}
			assert.True(t, n == 100 && ended >= 100-20-4*(workers-1), "%d segments, %d ended", n, ended)
			scores := systems.Scores()
			s := scores[0]
			assert.True(t, !s.OK && s.Status == metrics.Ended, "a mean of what the metric came to: %+v", s)
			if s := scores[2]; !s.OK || s.Segments != 100 {
				t.Errorf("the other metric: %+v", s)
			}
		})
	}
}

// fake is a metric without capabilities that scores with a function.
type fake struct {
	info  metrics.Info
	score func(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error)
}

func (f *fake) Info() metrics.Info { return f.info }

func (f *fake) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{{Key: "fake", Value: f.info.Name}}
}

func (f *fake) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return f.score(ctx, blocks)
}

// sized returns a metric whose scores encode the lengths of its texts: 10,000 for
// each byte of the source, 100 for each of the hypothesis and 1 for each of the
// reference.
func sized(needsSource, needsReferences bool) *fake {
	return &fake{
		info: metrics.Info{Name: "sized", NeedsSource: needsSource, NeedsReferences: needsReferences,
			Direction: metrics.HigherIsBetter, Lower: 0, Upper: math.Inf(1)},
		score: func(_ context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
			out := make([]metrics.Scores, len(blocks))
			for i, b := range blocks {
				out[i].Values = sizes(b)
			}
			return out, nil
		},
	}
}

func sizes(b metrics.Block) []float64 {
	var out []float64
	for _, h := range b.Hypotheses {
		for c := range b.Columns() {
			v := 10000*len(b.Source) + 100*len(h)
			if len(b.References) > 0 {
				v += len(b.References[c])
			}
			out = append(out, float64(v))
		}
	}
	return out
}

// prepared is the same metric with all capabilities. Its native score is the
// sum over references, its only statistic the score.
type prepared struct{ *fake }

func (p prepared) NewWorkspace() metrics.Workspace          { return &preparedWorkspace{} }
func (p prepared) CorpusScore(statistics []float64) float64 { return -statistics[0] }

type preparedWorkspace struct{ b metrics.Block }

func (w *preparedWorkspace) Load(b metrics.Block)          { w.b = b }
func (w *preparedWorkspace) Cells(dst []float64) []float64 { return append(dst, sizes(w.b)...) }

func (w *preparedWorkspace) Native(dst []float64) []float64 {
	for h := range w.b.Hypotheses {
		dst = w.NativeStatistics(dst, h)
	}
	return dst
}

func (w *preparedWorkspace) CellStatistics(dst []float64, h, r int) []float64 {
	return append(dst, sizes(w.b)[h*w.b.Columns()+r])
}

func (w *preparedWorkspace) NativeStatistics(dst []float64, h int) []float64 {
	sum, n := 0.0, w.b.Columns()
	for _, v := range sizes(w.b)[h*n : (h+1)*n] {
		sum += v
	}
	return append(dst, sum)
}

// segment creates a segment with texts of the given lengths; -1 is a missing
// text.
func segment(id string, source int, hyps, refs []int) *refract.Segment {
	s := &refract.Segment{ID: id, Source: sizedText(source)}
	for i, n := range hyps {
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: fmt.Sprintf("sys%d", i), Text: sizedText(n)})
	}
	for _, n := range refs {
		s.References = append(s.References, sizedText(n))
	}
	return s
}

func sizedText(n int) refract.Text {
	if n < 0 {
		return refract.Text{}
	}
	return refract.NewText(strings.Repeat("x", n))
}

// list is a dataset in memory.
type list = refract.InMemory

func aggregator(t testing.TB, spec string) aggregate.Aggregator {
	t.Helper()
	a, err := aggregate.Parse(spec)
	require.NoError(t, err)
	return a
}

// engine creates an engine that scores all cells of the metrics, and whatever else
// the aggregators need.
func engine(t testing.TB, o refract.Options, ms []metrics.Metric, aggregators ...string) *refract.Engine {
	t.Helper()
	var settings []refract.Setting
	for _, m := range ms {
		settings = append(settings, refract.Setting{Metric: m})
	}
	e, err := refract.NewEngine(append(settings, cross(t, ms, aggregators...)...), o)
	require.NoError(t, err)
	return e
}

// scoreOne scores a segment with one metric and all its capabilities.
func scoreOne(t testing.TB, o refract.Options, m metrics.Metric, s *refract.Segment) *refract.MetricScores {
	t.Helper()
	out, err := engine(t, o, []metrics.Metric{m}, "single", "native").Score(t.Context(), []*refract.Segment{s})
	require.NoError(t, err)
	return &out[0].Metrics[0]
}

// reduce aggregates a matrix of a metric.
func reduce(t testing.TB, m metrics.Metric, ms *refract.MetricScores, agg string, p aggregate.Policy, h int) (refract.Reduced, error) {
	t.Helper()
	e, err := refract.NewEngine(cross(t, []metrics.Metric{m}, agg), refract.Options{Missing: p})
	require.NoError(t, err)
	return e.Reducer().ReduceMatrix(ms, 0, h)
}

// sameScores compares scores bit by bit.
func sameScores(a, b *refract.MetricScores) bool {
	same := func(a, b []float64) bool {
		return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y float64) bool {
			return math.Float64bits(x) == math.Float64bits(y)
		})
	}
	return a.Columns == b.Columns && same(a.Values, b.Values) && slices.Equal(a.Status, b.Status) &&
		same(a.Native, b.Native) && slices.Equal(a.NativeStatus, b.NativeStatus) && same(a.First, b.First) && same(a.All, b.All)
}
