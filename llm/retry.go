package llm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// The longest jittered wait before retry n (from 0) is minBackoff·2ⁿ, at most
// maxBackoff.
const (
	minBackoff = 500 * time.Millisecond
	maxBackoff = 30 * time.Second
)

// retryPolicy decides on retries by what the attempt step noted.
type retryPolicy struct {
	maxWait time.Duration
}

// newRetryTransport repeats the attempts of next. The last outcome passes
// through, be it a failure.
func newRetryTransport(next http.RoundTripper, retries int, maxWait time.Duration) http.RoundTripper {
	p := retryPolicy{maxWait: maxWait}
	return &retryablehttp.RoundTripper{Client: &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: next,
			// A redirect would carry the prompt, and maybe the key, elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryWaitMin: minBackoff,
		RetryWaitMax: min(maxBackoff, maxWait),
		RetryMax:     retries,
		CheckRetry:   p.check,
		Backoff:      p.wait,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}}
}

func (p retryPolicy) check(ctx context.Context, resp *http.Response, _ error) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	x := exchangeFrom(ctx)
	f := x.failure
	if f == nil || x.attempts-x.start > f.retries {
		return false, nil
	}
	if asked := serverWait(resp, time.Now()); asked > p.maxWait {
		f.what += fmt.Sprintf(" and asks to wait %v, more than the %v allowed", asked.Round(time.Millisecond), p.maxWait)
		f.Hint = "try later or allow a longer wait"
		return false, nil
	}
	return true, nil
}

// wait is what the server asks for plus a jittered back-off: clients that
// were all given the same time do not come back together.
func (p retryPolicy) wait(low, high time.Duration, n int, resp *http.Response) time.Duration {
	asked := serverWait(resp, time.Now())
	return asked + min(fullJitter(low, high, n), max(0, p.maxWait-asked))
}

// fullJitter is uniform over [0, min(high, low·2ⁿ)], n being the number of
// retries before.
func fullJitter(low, high time.Duration, n int) time.Duration {
	top := math.Min(float64(high), float64(low)*math.Pow(2, float64(n)))
	return time.Duration(rand.Float64() * top)
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
