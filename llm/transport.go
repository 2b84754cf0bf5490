package llm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/semaphore"

	"github.com/refract-eval/refract/internal/english"
)

// transport carries out calls. It sends each attempt to the server with the fewest calls in flight,
// retries failures that another attempt may cure, and returns only good answers; everything else is
// an *Error.
type transport struct {
	servers []*server
	shown   string // the servers, for messages
	cfg     *Config

	retrying atomic.Int64 // calls between two attempts

	mu      sync.Mutex
	next    int           // index of the server after the last one chosen
	waiting int           // number of calls for which no server has room
	changed chan struct{} // closed and replaced when a call ends while others wait
}

// The mean wait before retry n (from 0) is meanBackoff·2ⁿ, at most maxMeanBackoff. A wait is
// uniformly distributed between 0 and twice its mean.
const (
	meanBackoff    = 250 * time.Millisecond
	maxMeanBackoff = 15 * time.Second
)

// closedTime is how long a call tries to reach a server that has never answered.
const closedTime = 5 * time.Second

func newTransport(targets []target, cfg *Config) *transport {
	t := &transport{shown: names(targets), cfg: cfg, changed: make(chan struct{})}
	room := semaphore.NewWeighted(allAnswerBytes)
	for _, target := range targets {
		t.servers = append(t.servers, newServer(target, cfg, room))
	}
	return t
}

// do makes attempts while another one may cure the failure and the context allows calls to begin. It
// returns the error of the last attempt.
func (t *transport) do(ctx context.Context, c *Call) error {
	begin, done := beginning(ctx)
	defer done()
	if err := begin.Err(); err != nil {
		return fmt.Errorf("call to server %s not begun: %w", t.shown, err)
	}
	longest := min(maxMeanBackoff, t.cfg.MaxRetryWait/2)
	waits := &backoff.ExponentialBackOff{
		InitialInterval: min(meanBackoff, longest), MaxInterval: longest, Multiplier: 2, RandomizationFactor: 1,
	}
	attempts, asked := 0, t.shown
	retry := &retryCount{cfg: t.cfg, waits: waits, answered: -1}
	failed := int64(0)
	defer func() { t.retrying.Add(-failed) }()
	attempt := func() (none struct{}, err error) {
		for {
			s, err := t.acquire(begin, c)
			t.retrying.Add(-failed)
			failed = 0
			if err != nil {
				return none, backoff.Permanent(err)
			}
			attempts++
			asked = s.shown
			end := inFlight(ctx)
			e := s.send(ctx, c)
			end()
			another := t.release(s, c, e, ctx.Err() != nil)
			switch {
			case e == nil:
				return none, nil
			case ctx.Err() != nil:
				return none, backoff.Permanent(ctx.Err())
			}
			e.Attempts, failed = attempts, 1
			t.retrying.Add(failed)
			repeatable := !c.once || e.notDone
			if repeatable && e.elsewhere && another {
				continue // immediately on another server, without counting a retry
			}
			if retry.exhausted(ctx, s, e) || !repeatable {
				return none, backoff.Permanent(e)
			}
			return none, e
		}
	}
	_, err := backoff.Retry(begin, attempt, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(0))
	if err != nil && begin.Err() != nil {
		return fmt.Errorf("call to server %s ended after %s: %w", asked, english.Count(attempts, "attempt"), begin.Err())
	}
	return err
}

// retryCount counts the failed attempts of a call that are retries.
type retryCount struct {
	cfg           *Config
	waits         *backoff.ExponentialBackOff
	tries         int
	answered      int64     // calls of the server that last limited the rate
	asked, closed time.Time // of the first such failure, zero if there was none
}

// exhausted counts a failed attempt, and reports whether its call may not be tried again.
func (r *retryCount) exhausted(ctx context.Context, s *server, e *Error) bool {
	r.tries++
	if n := s.answered.Load(); e.Kind == ErrRateLimited && n != r.answered {
		r.tries, r.answered, r.asked = 1, n, time.Time{} // it answers other calls, so do not count earlier attempts
	}
	retries := e.retries
	if retries == fewRetries && s.answered.Load() > 0 {
		retries = allRetries // it has answered before, so it is a model server with a problem
	}
	retries = min(retries, patience(ctx, e))
	switch now := time.Now(); {
	case retries == 0 || r.cfg.MaxRetries == 0:
	case e.asked > 0 && retries == allRetries: // what a server asks for is no failure, for as long as it may ask
		if r.asked.IsZero() {
			r.asked = now
		}
		if now.Add(e.asked).Sub(r.asked) > r.cfg.MaxRetryWait {
			return true
		}
		r.tries--
		r.waits.Reset()
	case e.unmade:
		if r.closed.IsZero() {
			r.closed = now
		}
		switch down := now.Sub(r.closed); {
		case down < r.cfg.Wait: // it starts, or starts again
			r.tries--
		case s.answered.Load() == 0: // it is down, or its address is wrong
			if r.waits.MaxInterval = min(r.waits.MaxInterval, time.Second); down >= closedTime {
				return true
			}
		}
	}
	return r.tries > min(retries, r.cfg.MaxRetries)
}

// acquire waits until an attempt may be sent to a server, and returns the server.
func (t *transport) acquire(ctx context.Context, c *Call) (*server, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		s, wake := t.choose(c)
		if s != nil {
			s.inFlight++
			return s, nil
		}
		changed := t.changed
		t.waiting++
		t.mu.Unlock()
		err := sleep(ctx, wake, changed)
		t.mu.Lock()
		if t.waiting--; err != nil {
			return nil, err
		}
	}
}

// choose returns the server for an attempt. If there is none, wake is the time when there may be
// one; the zero time means when a call ends.
func (t *transport) choose(c *Call) (best *server, wake time.Time) {
	servers, now := t.serversFor(c), time.Now()
	for i := range servers {
		s := servers[(t.next+i)%len(servers)]
		switch {
		case s.until.After(now):
			if wake.IsZero() || s.until.Before(wake) {
				wake = s.until
			}
		case (c.first || s.inFlight < s.cfg.MaxInFlight) && (best == nil || s.inFlight < best.inFlight):
			best = s
		}
	}
	if best != nil {
		t.next = slices.Index(t.servers, best) + 1
	}
	return best, wake
}

// serversFor returns the servers that a call may be sent to.
func (t *transport) serversFor(c *Call) []*server {
	if c.first {
		return t.servers[:1]
	}
	return t.servers
}

// release ends an attempt, records its outcome for the server, and wakes waiting calls. It returns
// whether another server is not paused, even if it is busy.
func (t *transport) release(s *server, c *Call, e *Error, cancelled bool) (another bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !cancelled {
		s.learn(c, e, len(t.servers) > 1, t.cfg.MaxRetryWait)
		another = slices.ContainsFunc(t.serversFor(c), func(o *server) bool { return o != s && !o.until.After(time.Now()) })
	}
	s.inFlight--
	if t.waiting > 0 {
		close(t.changed)
		t.changed = make(chan struct{})
	}
	return another
}

// notCalled returns the error for a request that was not sent.
func (t *transport) notCalled(err error) *Error {
	return &Error{Kind: ErrInvalidRequest, Server: t.shown, what: "was not called", Message: err.Error()}
}

// sleep waits until changed is closed or, unless it is zero, a time is reached.
func sleep(ctx context.Context, until time.Time, changed <-chan struct{}) error {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-due:
	case <-changed:
	}
	return nil
}
