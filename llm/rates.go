package llm

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

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
