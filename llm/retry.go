package llm

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The mean wait before retry n (from 0) is meanBackoff·2ⁿ, at most
// maxMeanBackoff; a wait is uniform between 0 and twice its mean.
const (
	meanBackoff    = 250 * time.Millisecond
	maxMeanBackoff = 15 * time.Second
)

// errAgain says that another attempt may cure the failure of the last one.
var errAgain = errors.New("again")

// send repeats the attempts of an exchange while another one may cure its
// failure, and begin lasts. The error is that of the last attempt.
func (c *Client) send(begin, ctx context.Context, x *exchange) (err error) {
	// What the server asks for is not waited for here, because the attempt may
	// go to another one: see server.pause.
	longest := min(maxMeanBackoff, c.pool.maxWait/2)
	waits := &backoff.ExponentialBackOff{
		InitialInterval: min(meanBackoff, longest), MaxInterval: longest, Multiplier: 2, RandomizationFactor: 1,
	}
	attempt := func() (none struct{}, again error) {
		for x.lost = nil; ; {
			if err = c.pool.attempt(begin, ctx, x); !c.lost(x) {
				break
			}
		}
		if c.again(x) {
			again = errAgain
		}
		return none, again
	}
	_, ended := backoff.Retry(begin, attempt, backoff.WithBackOff(waits),
		backoff.WithMaxTries(uint(max(0, c.retries))+1), backoff.WithMaxElapsedTime(0))
	if ended != nil && ended != errAgain {
		return ended // the caller's context, while it waited
	}
	return err
}

// lost reports whether a server cannot be reached that another one stands in for, at
// once and without a retry.
func (c *Client) lost(x *exchange) bool {
	f := x.failure
	if f == nil || x.server == nil || !f.lost || x.atFirst || x.once && !f.notDone {
		return false
	}
	x.lost = append(x.lost, x.server)
	return c.pool.hasOther(x)
}

// again decides on a retry by what the last attempt noted.
func (c *Client) again(x *exchange) bool {
	f := x.failure
	if f == nil || x.server == nil {
		return false
	}
	retries := f.retries
	if retries == fewRetries && x.server.proven.Load() {
		// What has given answers is a model server, and in trouble.
		retries = allRetries
	}
	if retries == elsewhere && !c.pool.hasOther(x) {
		return false
	}
	if x.attempts-x.start > retries || x.once && !f.notDone {
		return false
	}
	if f.asked > c.pool.maxWait && !c.pool.hasOther(x) {
		f.tooLong(c.pool.maxWait)
		return false
	}
	return true
}

// serverWait is how long the server asks to wait before the next attempt: its
// Retry-After, else on 429 the larger of its rate limits' resets, else 0.
func serverWait(resp *http.Response, now time.Time) time.Duration {
	if resp == nil {
		return 0
	}
	if d, ok := retryAfter(resp.Header.Get("Retry-After"), now); ok {
		return d
	}
	if resp.StatusCode != http.StatusTooManyRequests {
		// Every answer states the resets; only a rate limit waits for them.
		return 0
	}
	return max(
		resetAfter(resp.Header.Get("X-Ratelimit-Reset-Requests")),
		resetAfter(resp.Header.Get("X-Ratelimit-Reset-Tokens")),
	)
}

// retryAfter reads seconds or an HTTP date; a date in the past is 0.
func retryAfter(s string, now time.Time) (time.Duration, bool) {
	if d, ok := seconds(s); ok {
		return d, true
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0, false
	}
	return max(0, at.Sub(now)), true
}

// resetAfter reads a duration such as 1s, 6m0s or 120ms, or seconds.
func resetAfter(s string) time.Duration {
	if d, ok := seconds(s); ok {
		return d
	}
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return max(0, d)
}

// seconds reads a plain decimal number. One too large for a Duration becomes
// the largest.
func seconds(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 1) {
		return 0, false
	}
	if f *= float64(time.Second); f < math.MaxInt64 {
		return time.Duration(f), true
	}
	return math.MaxInt64, true
}
