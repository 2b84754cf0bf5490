package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// maxAnswerBytes bounds what is read of an answer, after decompression.
const maxAnswerBytes = 64 << 20

// attemptTransport carries out one attempt at one server, and notes its
// outcome.
type attemptTransport struct {
	base    http.RoundTripper
	target  target
	header  http.Header // of requests for answers; never written to
	timeout time.Duration
	limit   int64
}

func newAttemptTransport(t target, cfg Config) *attemptTransport {
	h := http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": {cfg.UserAgent},
	}
	if t.authorization != "" {
		h.Set("Authorization", t.authorization)
	}
	return &attemptTransport{base: cfg.Transport, target: t, header: h, timeout: cfg.Timeout, limit: maxAnswerBytes}
}

// address makes a request one to the server.
func (t *attemptTransport) address(req *http.Request, path *url.URL, contentType string) {
	req.URL, req.Host = t.target.at(path), ""
	req.Header = t.header
	if contentType != jsonType {
		req.Header = t.header.Clone()
		req.Header.Del("Content-Type")
		if contentType != "" {
			req.Header.Set("Content-Type", contentType)
		}
	}
}

const jsonType = "application/json"

var errTooLarge = errors.New("answer too large")

// buffers hold bodies while they are read.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keepBuffer is the largest buffer that is kept for further answers.
const keepBuffer = 64 << 10

func putBuffer(b *bytes.Buffer) {
	if b.Cap() <= keepBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// RoundTrip notes the outcome in the exchange; the response has no body.
func (t *attemptTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeFrom(req.Context())
	timeout := t.timeout
	if x.raw != nil && x.raw.timeout > 0 {
		timeout = x.raw.timeout
	}
	ctx, cancel := context.WithTimeout(req.Context(), timeout)
	defer cancel()

	buf := buffers.Get().(*bytes.Buffer)
	defer putBuffer(buf)
	out, contentType := req.WithContext(ctx), jsonType
	if x.raw != nil {
		contentType = x.raw.contentType
	}
	t.address(out, x.path, contentType)
	resp, err := t.base.RoundTrip(out)
	if err == nil {
		err = t.read(x, resp, buf)
		_ = resp.Body.Close()
	}
	body := buf.Bytes()
	var broken *sinkError
	switch {
	case errors.As(err, &broken):
		x.failure = t.fail(ErrUnavailable, resp.StatusCode, noRetry, "gave an answer that cannot be kept", t.target.clean(broken.err.Error(), maxMessage), "")
		x.failure.matches = func(target error) bool { return errors.Is(broken.err, target) }
	case errors.Is(err, errTooLarge):
		x.failure = t.tooLarge(resp.StatusCode)
	case err != nil && ctx.Err() != nil && req.Context().Err() == nil:
		x.failure = t.timedOut(timeout)
	case err != nil && resp != nil:
		x.failure = t.unreachable("broke off its answer", err)
	case err != nil:
		x.failure = t.unreachable("cannot be reached", err)
	case x.raw != nil && resp.StatusCode < 300:
		x.failure, x.content = nil, bytes.Clone(body)
	case resp.StatusCode == http.StatusOK:
		x.failure = t.readAnswer(x, body)
	default:
		x.failure = t.refused(x.model, resp, body)
	}
	if f := x.failure; f != nil {
		f.asked = serverWait(resp, time.Now())
		refusedLogprobs(x, f)
	}
	if err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = http.NoBody, 0
	return resp, nil
}

// read fills buf with the body, or the place that a raw request has for it.
func (t *attemptTransport) read(x *exchange, resp *http.Response, buf *bytes.Buffer) error {
	if x.raw != nil && x.raw.to != nil && resp.StatusCode < 300 {
		w, err := x.raw.to()
		if err != nil {
			return &sinkError{err}
		}
		_, err = io.Copy(sink{w}, resp.Body)
		return err
	}
	if n := resp.ContentLength; n > 0 && n < keepBuffer {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, t.limit+1))
	if err == nil && n > t.limit {
		return errTooLarge
	}
	return err
}

// sink tells the errors of writing from those of reading.
type sink struct{ io.Writer }

func (s sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil {
		err = &sinkError{err}
	}
	return n, err
}

type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }

// answer reads the body of an answer as Complete does, where a server gave it
// some other way: status 200 for a good one. The error is an *Error.
func (c *Client) answer(r Request, status int, body []byte) (Response, error) {
	t := c.pool.servers[0].attempt
	x := &exchange{request: &r, model: r.Model, endpoint: c.endpoint}
	if status == http.StatusOK {
		x.failure = t.readAnswer(x, body)
	} else {
		x.failure = t.refused(r.Model, &http.Response{StatusCode: status, Header: http.Header{}}, body)
	}
	if x.failure != nil {
		refusedLogprobs(x, x.failure)
	}
	switch f := x.failure; {
	case f == nil:
		return x.response, nil
	case f.blocked:
		return Response{FinishReason: FinishContentFilter}, nil
	default:
		e := f.Error
		return Response{}, &e
	}
}
