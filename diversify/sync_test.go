package diversify_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
)

// The tests of this file run in synctest bubbles: time is simulated, Wait returns once all
// goroutines are blocked, and a leaked goroutine fails the test.

// endless is a dataset that counts the segments read.
type endless struct{ read *atomic.Int64 }

func (e endless) Segments(ctx context.Context) iter.Seq2[*refract.Segment, error] {
	return func(yield func(*refract.Segment, error) bool) {
		for ctx.Err() == nil {
			n := e.read.Add(1)
			seg := &refract.Segment{ID: fmt.Sprint(n), References: []refract.Text{refract.NewText(fmt.Sprintf("Reference %d.", n))}}
			if !yield(seg, nil) {
				return
			}
		}
		yield(nil, ctx.Err())
	}
}

// Exactly as many calls as allowed run at once, also across segments.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 7
		var inFlight atomic.Int64
		full := make(chan struct{})
		cfg := config(completer(func(ctx context.Context, r llm.Request) (llm.Response, error) {
			assert.True(t, inFlight.Add(1) <= limit, "too many calls at once")
			defer inFlight.Add(-1)
			<-full
			return echo(ctx, r)
		}))
		cfg.Concurrency, cfg.Prompts = limit, cfg.Prompts[:1]
		go func() {
			synctest.Wait()
			n := inFlight.Load()
			assert.True(t, n == limit, "%d calls at once, want %d", n, limit)
			close(full)
		}()
		_, s := mustRun(t, newExpander(t, cfg), numbered(40))
		assert.Equal(t, 80, s.Calls)
	})
}

// A slow call does not delay later segments, and memory stays bounded.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prompt := diversify.Prompts()[10]
		slow := make(chan struct{})
		var calls atomic.Int64
		cfg := config(completer(func(ctx context.Context, r llm.Request) (llm.Response, error) {
			calls.Add(1)
			if r.Prompt == prompt.Render("Reference 1.", "") {
				<-slow
			}
			return echo(ctx, r)
		}))
		cfg.Prompts = []diversify.Prompt{prompt}
		cfg.Concurrency = 4
		x := newExpander(t, cfg)
		ctx, cancel := context.WithCancel(t.Context())
		var read, yielded atomic.Int64
		end := make(chan error)
		go func() {
			_, err := x.Expand(ctx, endless{&read}, func(s *refract.Segment) error {
				n := yielded.Add(1)
				assert.Equal(t, fmt.Sprint(n), s.ID, "segment %s in place %d", s.ID, n)
				if n == 500 {
					cancel()
				}
				return nil
			})
			end <- err
		}()
		synctest.Wait()
		if c, r, y := calls.Load(), read.Load(), yielded.Load(); c < 60 || r > 200 || y != 0 {
			t.Errorf("%d calls, %d segments read, %d yielded while the first one is slow", c, r, y)
		}
		close(slow)
		if err := <-end; !errors.Is(err, context.Canceled) || yielded.Load() != 500 {
			t.Errorf("%v after %d segments", err, yielded.Load())
		}
	})
}

// slowStore is slow to store, and gives up when its context ends.
type slowStore struct {
	cache.Store
	put time.Duration
}

func (s slowStore) Put(ctx context.Context, records ...cache.Record) ([][]byte, error) {
	select {
	case <-time.After(s.put):
		return s.Store.Put(ctx, records...)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An answer that arrived before the run was cancelled is stored, unless storing takes long.
func TestCancelKeepsAnswers(t *testing.T) {
	for _, c := range []struct {
		put    time.Duration
		stored int
	}{{400 * time.Millisecond, 5}, {time.Hour, 0}} {
		synctest.Test(t, func(t *testing.T) {
			below := cache.NewMemory()
			cfg := config(completer(echo))
			cfg.Store = slowStore{below, c.put}
			cfg.Concurrency = 5
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, s, err := run(ctx, newExpander(t, cfg), numbered(3))
			took := time.Since(begin)
			assert.True(t, errors.Is(err, context.DeadlineExceeded) && took <= time.Second, "%v after %v", err, took)
			n := 0
			for _, err := range cache.NewAnswers(below).Entries(t.Context()) {
				require.NoError(t, err)
				n++
			}
			if n != c.stored || s.Calls != c.stored {
				t.Errorf("%d answers stored, %d counted, want %d", n, s.Calls, c.stored)
			}
		})
	}
}

// Cancelling one caller does not fail another that shares its call; the other asks again.
func TestSharedCall(t *testing.T) {
	for leaver := range 2 {
		synctest.Test(t, func(t *testing.T) {
			var calls, cancelled atomic.Int64
			cfg := config(completer(func(ctx context.Context, r llm.Request) (llm.Response, error) {
				calls.Add(1)
				select {
				case <-time.After(time.Minute):
					return echo(ctx, r)
				case <-ctx.Done():
					cancelled.Add(1)
					return llm.Response{}, ctx.Err()
				}
			}))
			cfg.Prompts = cfg.Prompts[:1]
			x := newExpander(t, cfg)
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			contexts := [2]context.Context{t.Context(), t.Context()}
			contexts[leaver] = short

			seg := numbered(1)[0]
			seg.References = seg.References[:1]
			var errs [2]error
			var sums [2]diversify.Summary
			var wg sync.WaitGroup
			for i, ctx := range contexts {
				wg.Go(func() { _, sums[i], errs[i] = expandOne(ctx, x, seg) })
				synctest.Wait()
			}
			wg.Wait()
			if !errors.Is(errs[leaver], context.DeadlineExceeded) || errs[1-leaver] != nil || calls.Load() != int64(2-leaver) || cancelled.Load() != int64(1-leaver) {
				t.Errorf("leaver %d: %v; %d calls, %d cancelled", leaver, errs, calls.Load(), cancelled.Load())
			}
			s := sums[1-leaver]
			assert.True(t, s.Calls == 1 && s.Cached == 0, "the call is not counted for who got its answer: %+v", s)
		})
	}
}

// If a call was given up but its answer is being stored, a new caller waits for the store
// instead of making another call.
func TestAbandonedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		cfg := config(completer(func(ctx context.Context, r llm.Request) (llm.Response, error) {
			calls.Add(1)
			return echo(ctx, r)
		}))
		cfg.Prompts = cfg.Prompts[:1]
		cfg.Store = slowStore{cfg.Store, 400 * time.Millisecond}
		x := newExpander(t, cfg)
		seg := numbered(1)[0]
		seg.References = seg.References[:1]
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error)
		go func() {
			_, _, err := expandOne(ctx, x, seg)
			first <- err
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		_, s, err := expandOne(t.Context(), x, seg)
		if err != nil || calls.Load() != 1 || s.Calls+s.Cached != 1 {
			t.Errorf("%v; %d calls; %+v", err, calls.Load(), s)
		}
		if err := <-first; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the one that left: %v", err)
		}
	})
}

// Expand returns only after its calls have ended, even if yield fails or panics.
func TestExpandWaitsForItsCalls(t *testing.T) {
	for _, panics := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var inFlight atomic.Int64
			cfg := config(completer(func(ctx context.Context, r llm.Request) (llm.Response, error) {
				inFlight.Add(1)
				defer inFlight.Add(-1)
				if r.Prompt == diversify.Prompts()[10].Render("The first reference of segment 0.", "") {
					return echo(ctx, r)
				}
				time.Sleep(time.Minute)
				return echo(ctx, r)
			}))
			cfg.Prompts = []diversify.Prompt{diversify.Prompts()[10]}
			ds := numbered(50)
			ds[0].References = ds[0].References[:1]
			broken := errors.New("broken")
			defer func() {
				p := recover()
				assert.Equal(t, panics, (p != nil), "panic %v", p)
				n := inFlight.Load()
				assert.True(t, n == 0, "%d calls are left", n)
			}()
			_, err := newExpander(t, cfg).Expand(t.Context(), ds, func(*refract.Segment) error {
				synctest.Wait()
				assert.True(t, inFlight.Load() != 0, "no call is in flight")
				if panics {
					panic("broken")
				}
				return broken
			})
			assert.True(t, err == broken, "error %v", err)
		})
	}
}
