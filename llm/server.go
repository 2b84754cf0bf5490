package llm

import (
	"net/http"
	"sync/atomic"
	"time"
)

// server is one of the pool's servers with what is known of it. The pool's
// lock guards what changes, but for proven.
type server struct {
	target  target
	attempt *attemptTransport
	flow    *flow
	rates   rates
	proven  atomic.Bool // it has given a good answer

	inFlight int
	// Until pausedUntil it is sent nothing, because it asked so with pausedBy.
	pausedUntil time.Time
	pausedBy    *failure

	// faults counts the failures since the last good answer, of calls begun
	// since the server was taken into service.
	faults  int
	since   time.Time
	fault   *failure // the last one, of a call or a probe
	ejected bool
	// While ejected, a probe is due at nextProbe unless one is under way.
	nextProbe time.Time
	probing   bool
	setbacks  int // ejections and failed probes since the last good answer

	calls, failures, throttled, cancelled, ejections int
}

const (
	// maxFaults is how many failures in a row put a server out of service.
	maxFaults = 5
	// The pause before a probe doubles from minProbePause to maxProbePause.
	minProbePause = time.Second
	maxProbePause = 30 * time.Second
)

func newServer(t target, cfg Config) *server {
	return &server{
		target:  t,
		attempt: newAttemptTransport(t, cfg),
		flow:    newFlow(cfg.Limits.MaxInFlight),
		rates:   newRates(cfg.Limits),
	}
}

// freeAt reports whether the server may be sent an attempt now, and otherwise
// when; the zero time is when another call ends.
func (s *server) freeAt(now time.Time, tokens int) (at time.Time, free bool) {
	switch {
	case s.ejected && s.probing:
		return time.Time{}, false
	case s.ejected:
		return s.nextProbe, false
	case s.pausedUntil.After(now):
		return s.pausedUntil, false
	case s.inFlight >= s.flow.bound():
		return time.Time{}, false
	}
	if d := s.rates.delay(now, tokens); d > 0 {
		return now.Add(d), false
	}
	return time.Time{}, true
}

// before reports whether a free server is chosen before another: the one that
// did not fail this call just now, or the one with fewer calls in flight.
func (s *server) before(other, failed *server) bool {
	if (s == failed) != (other == failed) {
		return other == failed
	}
	return s.inFlight < other.inFlight
}

// learn draws conclusions from an attempt: nil is a good answer. A server that
// has company is ejected after too many failures in a row.
func (s *server) learn(now, started time.Time, f *failure, busy, company bool) {
	if f != nil {
		s.failures++
		last := *f // the call goes on to change its own
		s.fault = &last
	}
	switch {
	case f == nil:
		s.proven.Store(true)
		s.faults, s.setbacks = 0, 0
		s.flow.good(now, started, busy)
	case f.throttles():
		s.throttled++
		s.flow.throttled(now, started)
	case f.retries == noRetry:
		s.faults = 0 // it answers, and says that the request is wrong
	}
	if f == nil || !f.sick() || started.Before(s.since) || s.ejected {
		return
	}
	if s.faults++; s.faults >= maxFaults && company {
		s.ejected = true
		s.ejections++
		s.setBack(now)
	}
}

// setBack has the server wait longer for its next probe.
func (s *server) setBack(now time.Time) {
	s.nextProbe = now.Add(min(maxProbePause, minProbePause<<min(s.setbacks, 10)))
	s.setbacks++
}

func (s *server) probeDue(now time.Time) bool {
	return !s.probing && !s.nextProbe.After(now)
}

// readmit takes an ejected server back with few calls; its next failure
// ejects it again.
func (s *server) readmit(now time.Time) {
	s.ejected, s.since, s.faults = false, now, maxFaults-1
	s.flow.restart(now)
}

// pause keeps all calls from a server for as long as it asked, and a moment
// more: clients that were all given the same time do not come back together.
func (s *server) pause(now time.Time, f *failure, maxWait time.Duration) {
	asked := min(f.asked, longestPause)
	until := now.Add(asked + min(fullJitter(minBackoff, maxBackoff, 0), max(0, maxWait-asked)))
	if until.After(s.pausedUntil) {
		by := *f
		s.pausedUntil, s.pausedBy = until, &by
	}
}

// longestPause is one that no call waits for.
const longestPause = 1000 * time.Hour

// throttles reports whether the server says that it is given too much.
func (f *failure) throttles() bool {
	return f.Kind == ErrRateLimited || f.Status == http.StatusServiceUnavailable || f.Status == statusOverloaded
}

// statusOverloaded is 529, which some providers send for 503.
const statusOverloaded = 529

// sick reports whether the failure speaks against the server rather than the
// request. A server that limits its rate, or says when to come back, is well.
func (f *failure) sick() bool {
	return f.retries != noRetry && f.Kind != ErrRateLimited && f.asked == 0
}
