package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// exchange is what the steps of one call tell each other. Attempts run one
// after the other, so it needs no lock.
type exchange struct {
	request    Request
	endpoint   Endpoint
	limitField string // name of the token limit on the wire
	start      int    // attempts before the current call of the retry step
	attempts   int
	failure    *failure // of the last attempt; nil after a good one
	missing    bool     // the last answer has no text
}

type exchangeKey struct{}

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func exchangeFrom(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

// wireTransport writes into the request what go-openai cannot.
type wireTransport struct {
	next      http.RoundTripper
	target    target
	userAgent string
}

// Do makes the transport an openai.HTTPDoer. There is no http.Client at this
// level: it would follow redirects and put URLs into errors.
func (t *wireTransport) Do(req *http.Request) (*http.Response, error) {
	x := exchangeFrom(req.Context())
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	_ = req.Body.Close()
	if body, err = wireBody(body, x); err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.GetBody = nil
	out.ContentLength = int64(len(body))
	out.URL.RawQuery = t.target.query
	out.Header.Set("User-Agent", t.userAgent)
	if u := t.target.user; u != nil {
		password, _ := u.Password()
		out.SetBasicAuth(u.Username(), password)
	}
	return t.next.RoundTrip(out)
}

// wireBody sets the model, the sampling parameters and the token limit of a
// request body.
func wireBody(body []byte, x *exchange) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	for name, value := range map[string]any{
		"model":       x.request.Model,
		"temperature": x.request.Temperature,
		"top_p":       x.request.TopP,
		x.limitField:  x.request.MaxTokens,
	} {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("write %s of the request: %w", name, err)
		}
		fields[name] = raw
	}
	return json.Marshal(fields)
}

// maxAnswerBytes bounds what is read of an answer, after decompression.
const maxAnswerBytes = 64 << 20

// attemptTransport carries out one attempt, and notes its outcome.
type attemptTransport struct {
	base    http.RoundTripper
	target  target
	timeout time.Duration
	limit   int64
}

var errTooLarge = errors.New("answer too large")

// RoundTrip returns a response whose body is in memory.
func (t *attemptTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeFrom(req.Context())
	x.attempts++
	x.missing = false
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	defer cancel()

	var body []byte
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err == nil {
		body, err = readBounded(resp.Body, t.limit)
		_ = resp.Body.Close()
	}
	switch {
	case errors.Is(err, errTooLarge):
		x.failure = t.tooLarge(resp.StatusCode)
	case err != nil && ctx.Err() != nil && req.Context().Err() == nil:
		x.failure = t.timedOut()
	case err != nil && resp != nil:
		x.failure = t.unreachable("broke off its answer", err)
	case err != nil:
		x.failure = t.unreachable("cannot be reached", err)
	case resp.StatusCode == http.StatusOK:
		x.failure, x.missing = t.readAnswer(x, body)
	default:
		x.failure = t.refused(x.request.Model, resp, body)
	}
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	return resp, nil
}

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, errTooLarge
	}
	return b, nil
}

// defaultTransport keeps a connection per call in flight, where
// http.DefaultTransport keeps two.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = 256
	return t
}
