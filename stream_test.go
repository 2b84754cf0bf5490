package refract_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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
					if s.Segment.ID != fmt.Sprint(yielded) {
						t.Errorf("segment %s in place %d", s.Segment.ID, yielded)
					}
					if ctx.Err() != nil {
						t.Errorf("segment %d is yielded after the end", yielded)
					}
					if c.yield != nil {
						return c.yield(yielded)
					}
					return nil
				})
				if !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				if late := time.Since(start) - c.stop; late < 0 || late > time.Second {
					t.Errorf("it ended %v after the reason to", late)
				}
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
			if !errors.Is(err, context.Canceled) || yielded != 500 {
				t.Errorf("%v after %d segments", err, yielded)
			}
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
			if err != nil {
				t.Fatal(err)
			}
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
			if n != 100 || ended < 100-20-4*(workers-1) {
				t.Errorf("%d segments, %d ended", n, ended)
			}
			scores := systems.Scores()
			if s := scores[0]; s.OK || s.Status != metrics.Ended {
				t.Errorf("a mean of what the metric came to: %+v", s)
			}
			if s := scores[2]; !s.OK || s.Segments != 100 {
				t.Errorf("the other metric: %+v", s)
			}
		})
	}
}
