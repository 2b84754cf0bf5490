package llm

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/refract-eval/refract/internal/english"
)

// server is one of the pool's servers with what is known of it. The pool's
// lock guards what changes, but for proven.
type server struct {
	*link
	flow   *flow
	rates  rates
	proven atomic.Bool // it has given a good answer

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

	stats ServerStats // its counts
}

const (
	// maxFaults is how many failures in a row put a server out of service.
	maxFaults = 5
	// The pause before a probe doubles from minProbePause to maxProbePause.
	minProbePause = time.Second
	maxProbePause = 30 * time.Second
)

func newServer(t target, cfg Config, room *semaphore.Weighted) *server {
	return &server{
		link:  newLink(t, cfg, room),
		flow:  newFlow(cfg.Limits.MaxInFlight),
		rates: newRates(cfg.Limits),
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
		s.stats.Failures++
		last := *f // the call goes on to change its own
		s.fault = &last
	}
	switch {
	case f == nil:
		s.proven.Store(true)
		s.faults, s.setbacks = 0, 0
		s.flow.good(now, started, busy)
	case f.throttles():
		s.stats.Throttled++
		s.flow.throttled(now, started)
	case f.retries == noRetry:
		s.faults = 0 // it answers, and says that the request is wrong
	}
	if f == nil || !f.sick() || started.Before(s.since) || s.ejected {
		return
	}
	if s.faults++; s.faults >= maxFaults && company {
		s.ejected = true
		s.stats.Ejections++
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
	until := now.Add(asked + min(rand.N(2*meanBackoff), max(0, maxWait-asked)))
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

// rates bound the requests and tokens per minute of one server.
type rates struct {
	requests, tokens *rate.Limiter // nil without a bound
	tokenLimit       int
}

func newRates(l Limits) rates {
	return rates{requests: perMinute(l.RequestsPerMinute), tokens: perMinute(l.TokensPerMinute), tokenLimit: l.TokensPerMinute}
}

// perMinute lets through n in any minute, and no more than a second's worth at
// once; the latter is taken off the rate, so that the sum holds.
func perMinute(n int) *rate.Limiter {
	if n == 0 {
		return nil
	}
	burst := max(1, n/60)
	return rate.NewLimiter(rate.Limit(float64(n-burst+1)/60), burst)
}

// tooMany says that tokens exceed the bound whenever they are sent, or "".
func (r rates) tooMany(tokens int) string {
	if r.tokens == nil || tokens <= r.tokenLimit {
		return ""
	}
	return fmt.Sprintf("the request counts as %d tokens, more than the %d tokens per minute allowed; lower max_tokens or raise the limit",
		tokens, r.tokenLimit)
}

// delay is how long an attempt has to wait.
func (r rates) delay(now time.Time, tokens int) time.Duration {
	return max(wait(r.requests, now, 1), wait(r.tokens, now, tokens))
}

// wait: what exceeds the burst may be sent when the burst is there, and is
// owed by those who come after.
func wait(l *rate.Limiter, now time.Time, n int) time.Duration {
	if l == nil {
		return 0
	}
	const rounding = 1e-6
	missing := float64(min(n, l.Burst())) - l.TokensAt(now)
	if missing <= rounding {
		return 0
	}
	return time.Duration(missing/float64(l.Limit())*float64(time.Second)) + time.Microsecond
}

// take books an attempt.
func (r rates) take(now time.Time, tokens int) {
	if r.requests != nil {
		r.requests.ReserveN(now, 1)
	}
	if r.tokens == nil {
		return
	}
	for tokens > 0 {
		n := min(tokens, r.tokens.Burst())
		r.tokens.ReserveN(now, n)
		tokens -= n
	}
}

// ServerStats counts what has become of the attempts at one server.
type ServerStats struct {
	Server   string // base URL, without user and query
	InFlight int    // now
	Limit    int    // how many may be in flight now
	// Calls are all attempts that have ended. Failures are those without an
	// answer, Throttled the ones among them that the server refused because of
	// its load or a rate limit (429, 503, 529), and Cancelled those whose
	// context ended first.
	Calls, Failures, Throttled, Cancelled int
	Ejected                               bool // out of service now
	Ejections                             int  // how often it was put out of service
	LastFault                             string
}

// String says in a line what became of the calls.
func (s ServerStats) String() string {
	fault := ""
	if s.LastFault != "" {
		fault = "; the last fault: it " + s.LastFault
	}
	return fmt.Sprintf("%s: %s, %d without an answer (%d refused for load or rate), %d cancelled; out of service %s%s",
		s.Server, english.Thousands(s.Calls, "attempt"), s.Failures, s.Throttled, s.Cancelled, english.Count(s.Ejections, "time"), fault)
}

// Stats returns the counts of all servers, in their order.
func (c *Client) Stats() []ServerStats {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]ServerStats, len(p.servers))
	for i, s := range p.servers {
		out[i] = s.stats
		out[i].Server, out[i].InFlight, out[i].Limit, out[i].Ejected = s.target.shown, s.inFlight, s.flow.bound(), s.ejected
		if s.fault != nil {
			out[i].LastFault = s.fault.told()
		}
	}
	return out
}
