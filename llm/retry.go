package llm

import (
	"context"
	"io"
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

// retryTransport repeats the attempts of the pool. The last outcome passes
// through, be it a failure.
type retryTransport struct {
	client  *retryablehttp.Client
	pool    *pool
	maxWait time.Duration
}

func newRetryTransport(p *pool, retries int, maxWait time.Duration) *retryTransport {
	t := &retryTransport{pool: p, maxWait: maxWait}
	t.client = &retryablehttp.Client{
		HTTPClient: &http.Client{
			Transport: p,
			// A redirect would carry the prompt, and maybe the key, elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		RetryWaitMin: minBackoff,
		RetryWaitMax: min(maxBackoff, maxWait),
		RetryMax:     retries,
		CheckRetry:   t.check,
		// What the server asks for is not waited for here, because the attempt
		// may go to another one: see server.pause.
		Backoff: func(low, high time.Duration, n int, _ *http.Response) time.Duration {
			return fullJitter(low, high, n)
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return t
}

// send carries out the request of an exchange, addressed to the first server;
// every attempt gets the body anew. The error is that of the last attempt.
func (t *retryTransport) send(ctx context.Context, x *exchange) error {
	var body any
	switch {
	case x.open != nil:
		body = retryablehttp.ReaderFunc(func() (io.Reader, error) {
			b, n, err := x.open()
			return sized{b, n}, err
		})
	case x.content != nil:
		body = x.content
	}
	req := &http.Request{Method: x.method, URL: t.pool.servers[0].target.at(x.below), Header: noHeader}
	r := &retryablehttp.Request{Request: req.WithContext(withExchange(ctx, x))}
	if err := r.SetBody(body); err != nil {
		return err
	}
	_, err := t.client.Do(r)
	return err
}

// sized is a body whose length is known.
type sized struct {
	io.ReadCloser
	n int64
}

// Len makes it a retryablehttp.LenReader.
func (s sized) Len() int { return int(s.n) }

// noHeader is never written to: every server has its own.
var noHeader = http.Header{}

// check decides on a retry by what the attempt step noted.
func (t *retryTransport) check(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	x := exchangeFrom(ctx)
	f := x.failure
	if f == nil || x.server == nil {
		return false, nil
	}
	retries := f.retries
	if retries == fewRetries && x.server.proven.Load() {
		// What has given answers is a model server, and in trouble.
		retries = allRetries
	}
	if x.attempts-x.start > retries || x.once && !f.notDone {
		return false, nil
	}
	if f.asked > t.maxWait && !t.pool.hasOther(x) {
		f.tooLong(t.maxWait)
		return false, nil
	}
	return true, nil
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
