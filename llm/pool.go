package llm

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// pool sends each attempt to the server with the fewest calls in flight, of
// those that may be given one now; an attempt for which there is none waits
// for its turn. It lies between the retry step and the attempt step, so that a
// retry can go to another server.
type pool struct {
	servers      []*server
	shown        string // the servers, for messages
	maxWait      time.Duration
	countsTokens bool
	ejected      func(error) // may be nil

	mu      sync.Mutex
	queue   list.List // of *waiter, first come first served
	next    int       // the server after the last one chosen
	timer   *time.Timer
	timerAt time.Time // zero while the timer is not running
}

// waiter is an attempt that waits for its turn.
type waiter struct {
	x     *exchange
	since time.Time
	ready chan turn // takes one
}

// turn is the server that an attempt goes to, or why there is none.
type turn struct {
	server  *server
	failure *failure
}

func newPool(targets []target, cfg Config) *pool {
	p := &pool{
		shown: names(targets), maxWait: cfg.MaxRetryWait, ejected: cfg.Ejected,
		countsTokens: cfg.Limits.TokensPerMinute > 0,
	}
	room := semaphore.NewWeighted(allAnswerBytes)
	for _, t := range targets {
		p.servers = append(p.servers, newServer(t, cfg, room))
	}
	return p
}

// notCalled is the error of a request that is not sent.
func (p *pool) notCalled(err error) *Error {
	return &Error{Kind: ErrInvalidRequest, Server: p.shown, many: len(p.servers) > 1, what: "was not called", Message: err.Error()}
}

// attempt waits for a server, as long as begin lasts, and carries out one attempt
// there.
func (p *pool) attempt(begin, ctx context.Context, x *exchange) error {
	s, err := p.acquire(begin, x)
	if err != nil {
		return err
	}
	defer inFlight(ctx)()
	x.attempts++
	x.server = s
	started := time.Now()
	err = s.link.attempt(ctx, x)
	p.release(s, x, started, ctx.Err() != nil)
	return err
}

// acquire waits until an attempt may be sent. Where it never may, the failure
// is noted in x.
func (p *pool) acquire(ctx context.Context, x *exchange) (*server, error) {
	now := time.Now()
	p.mu.Lock()
	if x.atFirst {
		s := p.servers[0]
		until := s.pausedUntil
		s.inFlight++
		p.mu.Unlock()
		if err := sleepUntil(ctx, until); err != nil {
			p.mu.Lock()
			s.inFlight--
			p.mu.Unlock()
			return nil, err
		}
		return s, nil
	}
	w := &waiter{x: x, since: now}
	if p.queue.Len() == 0 {
		if t, ok, _ := p.choose(now, w); ok {
			p.mu.Unlock()
			return w.take(t)
		}
	}
	w.ready = make(chan turn, 1)
	var e *list.Element
	if x.attempts > x.start {
		e = p.queue.PushFront(w) // it has waited before
	} else {
		e = p.queue.PushBack(w)
	}
	p.dispatch(now)
	p.mu.Unlock()

	select {
	case t := <-w.ready:
		return w.take(t)
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case t := <-w.ready:
		if t.server != nil {
			t.server.inFlight--
			p.dispatch(time.Now())
		}
	default:
		p.queue.Remove(e)
		p.dispatch(time.Now()) // it may have been the one for whom there was no room
	}
	return nil, ctx.Err()
}

func (w *waiter) take(t turn) (*server, error) {
	if t.failure != nil {
		w.x.failure, w.x.server = t.failure, nil
		return nil, &t.failure.Error
	}
	return t.server, nil
}

// waits returns how long nothing is sent though attempts wait for their turn.
func (p *pool) waits(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		if s.inFlight > 0 {
			return 0
		}
	}
	if p.queue.Len() == 0 || p.timerAt.IsZero() {
		return 0
	}
	return max(0, p.timerAt.Sub(now))
}

// dispatch gives turns to those who wait, in their order, and sets the timer
// for the time when there may be more.
func (p *pool) dispatch(now time.Time) {
	for p.queue.Len() > 0 {
		w := p.queue.Front().Value.(*waiter)
		t, ok, wake := p.choose(now, w)
		if !ok {
			p.wakeAt(now, wake)
			return
		}
		p.queue.Remove(p.queue.Front())
		w.ready <- t
	}
}

// wakeAt has dispatch called at a time; the zero time is never.
func (p *pool) wakeAt(now, at time.Time) {
	if at.IsZero() || !p.timerAt.IsZero() && !at.Before(p.timerAt) {
		return
	}
	p.timerAt = at
	if p.timer != nil {
		p.timer.Reset(at.Sub(now))
		return
	}
	p.timer = time.AfterFunc(at.Sub(now), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.timerAt = time.Time{}
		p.dispatch(time.Now())
	})
}

// choose books a turn for an attempt; ok is false where it has to wait, until
// wake if time alone can change that.
func (p *pool) choose(now time.Time, w *waiter) (t turn, ok bool, wake time.Time) {
	if f := p.hopeless(now, w); f != nil {
		return turn{failure: f}, true, time.Time{}
	}
	var best *server
	avoided := p.avoided(w.x)
	for i := range p.servers {
		s := p.servers[(p.next+i)%len(p.servers)]
		at, free := s.freeAt(now, w.x.tokens)
		switch {
		case s.ejected && s.probeDue(now):
			s.probing = true
			go p.probe(s)
		case slices.Contains(avoided, s):
		case !free:
			wake = earlier(wake, at)
		case best == nil || s.before(best, w.x.server):
			best = s
		}
	}
	if best == nil {
		if p.allEjected() {
			wake = earlier(wake, w.since.Add(p.patience()))
		}
		return turn{}, false, wake
	}
	for i, s := range p.servers {
		if s == best {
			p.next = i + 1
		}
	}
	best.inFlight++
	best.rates.take(now, w.x.tokens)
	return turn{server: best}, true, time.Time{}
}

// avoided are the servers that an attempt must not go to, where there are others:
// they have refused what another may take, or cannot be reached.
func (p *pool) avoided(x *exchange) []*server {
	avoided := x.lost
	if x.failure != nil && x.failure.retries == elsewhere {
		avoided = append(slices.Clip(avoided), x.server)
	}
	for _, s := range p.servers {
		if !s.ejected && !slices.Contains(avoided, s) {
			return avoided
		}
	}
	return nil
}

// earlier is the earlier of two times, the zero time being never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// hopeless is why an attempt need not wait, nil if it may: its tokens exceed
// any minute's, the servers ask for longer waits than are allowed, or all have
// been out of service for as long as the attempt has waited.
func (p *pool) hopeless(now time.Time, w *waiter) *failure {
	if f := p.servers[0].rates.tooMany(w.x.tokens); f != "" {
		return &failure{Error: *p.notCalled(fmt.Errorf("%s", f))}
	}
	var busy *server
	for _, s := range p.servers {
		switch {
		case s.ejected:
		case s.pausedUntil.Sub(now) > p.maxWait:
			busy = s
		default:
			return nil
		}
	}
	switch {
	case busy != nil:
		f := *busy.pausedBy
		f.asked = busy.pausedUntil.Sub(now)
		f.tooLong(p.maxWait)
		return &f
	case now.Sub(w.since) >= p.patience():
		return p.allOut()
	}
	return nil
}

// sickPatience is how long an attempt waits while no server is in service.
const sickPatience = time.Minute

func (p *pool) patience() time.Duration { return min(sickPatience, p.maxWait) }

func (p *pool) allEjected() bool {
	for _, s := range p.servers {
		if !s.ejected {
			return false
		}
	}
	return true
}

// allOut names each server and its last fault.
func (p *pool) allOut() *failure {
	faults := make([]string, len(p.servers))
	for i, s := range p.servers {
		faults[i] = fmt.Sprintf("%s %s", s.target.shown, s.fault.told())
	}
	f := &failure{Error: Error{
		Kind: ErrUnavailable, Server: p.shown, many: true, what: "are all out of service",
		Message: strings.Join(faults, "; "), Hint: hintDown,
	}}
	matches := make([]func(error) bool, 0, len(p.servers))
	for _, s := range p.servers {
		if s.fault.matches != nil {
			matches = append(matches, s.fault.matches)
		}
	}
	f.matches = func(target error) bool {
		for _, m := range matches {
			if m(target) {
				return true
			}
		}
		return false
	}
	return f
}

// release ends an attempt and draws the conclusions for its server.
func (p *pool) release(s *server, x *exchange, started time.Time, cancelled bool) {
	now := time.Now()
	p.mu.Lock()
	if out := p.conclude(s, x, now, started, cancelled); out != nil && p.ejected != nil {
		defer p.ejected(out) // without the lock
	}
	defer p.mu.Unlock()
	p.dispatch(now)
}

// conclude is release with the lock held, but for the turns. It returns why the
// server is put out of service, or nil.
func (p *pool) conclude(s *server, x *exchange, now, started time.Time, cancelled bool) (out error) {
	busy := p.queue.Len() > 0 || 4*s.inFlight >= 3*s.flow.bound()
	s.inFlight--
	if f := x.failure; !x.atFirst {
		s.stats.Calls++
		switch {
		case cancelled && f != nil:
			s.stats.Cancelled++
		default:
			before := s.ejected
			if s.learn(now, started, f, busy, len(p.servers) > 1); s.ejected && !before {
				out = &s.fault.Error
			}
		}
	}
	if f := x.failure; f != nil && !cancelled && f.retries != noRetry && f.asked > 0 {
		s.pause(now, f, p.maxWait)
	}
	return out
}

// hasOther reports whether an attempt can go to another server than the last.
func (p *pool) hasOther(x *exchange) bool {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		if s != x.server && !slices.Contains(x.lost, s) && !s.ejected && s.pausedUntil.Sub(now) <= p.maxWait {
			return true
		}
	}
	return false
}

func sleepUntil(ctx context.Context, t time.Time) error {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
