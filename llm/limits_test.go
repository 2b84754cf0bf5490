package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// drive makes n calls with different prompts from several workers, and returns how long it took on
// the bubble's clock.
func drive(t *testing.T, c *llm.Client, workers, n int) time.Duration {
	t.Helper()
	start := time.Now()
	work := make(chan int, n)
	for i := range n {
		work <- i
	}
	close(work)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range work {
				resp, err := c.Complete(t.Context(), request(fmt.Sprint("prompt ", i)))
				assert.True(t, err == nil && resp.HasText, "%d: %+v, %v", i, resp, err)
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

func TestMaxInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most := 0
		h := &llmtest.Handler{Decide: after(time.Second), Forget: true}
		c := local(t, h, func(cfg *llm.Config) {
			cfg.MaxInFlight = 10
			cfg.Transport = gauge(cfg.Transport, &most)
		})
		took := drive(t, c, 100, 1000)
		assert.True(t, most == 10 && took == 100*time.Second, "%d in flight, %v", most, took)
	})
}

// after delays answers.
func after(d time.Duration) func(*llmtest.Request) llmtest.Fault {
	return func(r *llmtest.Request) llmtest.Fault {
		select {
		case <-time.After(d):
			return nil
		case <-r.Context().Done():
			return func(http.ResponseWriter, *llmtest.Request) {} // the client is gone
		}
	}
}

// crowded answers after a delay, and refuses requests beyond a number of concurrent ones.
func crowded(most int32, d time.Duration) func(*llmtest.Request) llmtest.Fault {
	var inFlight atomic.Int32
	wait := after(d)
	return func(r *llmtest.Request) llmtest.Fault {
		defer inFlight.Add(-1)
		if inFlight.Add(1) > most {
			return llmtest.Status(http.StatusTooManyRequests, "too many requests at once")
		}
		return wait(r)
	}
}

// gauge records the maximum number of requests in flight.
func gauge(base http.RoundTripper, most *int) http.RoundTripper {
	var mu sync.Mutex
	now := 0
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		now++
		*most = max(*most, now)
		mu.Unlock()
		defer func() {
			mu.Lock()
			now--
			mu.Unlock()
		}()
		return base.RoundTrip(r)
	})
}

// Even if a server refuses calls beyond a number, all calls get answers.
func TestCrowdedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &llmtest.Handler{Decide: crowded(24, time.Second), Forget: true}
		c := local(t, h, nil)
		assert.LessOrEqual(t, drive(t, c, 32, 1000), 90*time.Second)
	})
}

// If a server asks one call to wait, all calls wait.
func TestRetryAfterPausesTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &llmtest.Handler{Decide: after(10 * time.Millisecond)}
		h.FailPrompt("first", llmtest.With("Retry-After", "20", llmtest.Status(429, "slow down")))
		c := local(t, h, nil)
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Complete(t.Context(), request("first"))
			assert.NoError(t, err)
		})
		time.Sleep(time.Second)
		for i := range 5 {
			wg.Go(func() {
				_, err := c.Complete(t.Context(), request(fmt.Sprint("later ", i)))
				assert.NoError(t, err)
			})
		}
		time.Sleep(18 * time.Second)
		assert.Equal(t, 1, h.Calls())
		wg.Wait()
		d := time.Since(start)
		assert.True(t, d >= 20*time.Second && d <= 21*time.Second && h.Calls() == 7, "%d calls after %v", h.Calls(), d)
	})
}

// A call that waits for its turn ends with its context.
func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &llmtest.Handler{Decide: after(30 * time.Second)}
		c := local(t, h, func(cfg *llm.Config) { cfg.MaxInFlight = 1 })
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Complete(t.Context(), request("first"))
			assert.NoError(t, err)
		})
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		for range 10 {
			wg.Go(func() {
				if _, err := c.Complete(ctx, request("second")); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
					t.Errorf("error %v after %v", err, time.Since(start))
				}
			})
		}
		wg.Wait()
		assert.Equal(t, 1, h.Calls())
		// The turns that they did not use are not lost.
		_, err := c.Complete(t.Context(), request("third"))
		assert.NoError(t, err)
	})
}
