package llm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds on what is read of an answer, in bytes after decompression.
const (
	maxAnswerBytes = 64 << 20
	// minAnswerBytes and bytesPerToken bound an answer of some tokens, far above
	// what servers write.
	minAnswerBytes = 1 << 20
	bytesPerToken  = 4 << 10
	// allAnswerBytes bounds the large answers of a client together.
	allAnswerBytes = 256 << 20
)

// most bounds the answer to a request.
func (x *exchange) most() int64 {
	if x.mostBytes > 0 {
		return min(maxAnswerBytes, x.mostBytes)
	}
	if x.maxTokens == 0 {
		return maxAnswerBytes
	}
	return min(maxAnswerBytes, minAnswerBytes+bytesPerToken*int64(x.maxTokens))
}

// link is the way to one server. It carries out one attempt at a time, without
// regard to limits.
type link struct {
	base    http.RoundTripper
	target  target
	speaks  *Protocol   // nil for OpenAI's
	header  http.Header // of requests for answers; never written to
	timeout time.Duration
	room    *semaphore.Weighted // for large answers, of the client
}

func newLink(t target, cfg Config, room *semaphore.Weighted) *link {
	h := http.Header{
		"Accept": {"application/json"}, "Content-Type": {jsonType}, "User-Agent": {cfg.UserAgent},
	}
	if t.authorization != "" {
		h.Set("Authorization", t.authorization)
	}
	return &link{base: cfg.Transport, target: t, speaks: cfg.Protocol, header: h, timeout: cfg.Timeout, room: room}
}

// request makes the request of an attempt.
func (t *link) request(ctx context.Context, x *exchange) *http.Request {
	at := t.target.at
	if x.beside {
		at = t.target.beside
	}
	req := &http.Request{Method: x.method, URL: at(x.below), Header: t.header, Body: http.NoBody}
	if x.contentType != jsonType {
		req.Header = t.header.Clone()
		req.Header.Del("Content-Type")
		if x.contentType != "" {
			req.Header.Set("Content-Type", x.contentType)
		}
	}
	if len(x.header) > 0 {
		req.Header = req.Header.Clone()
		maps.Copy(req.Header, x.header)
	}
	if x.content != nil {
		for _, part := range x.content {
			req.ContentLength += int64(len(part))
		}
		req.GetBody = func() (io.ReadCloser, error) {
			parts := make([]io.Reader, len(x.content))
			for i, part := range x.content {
				parts[i] = bytes.NewReader(part)
			}
			return io.NopCloser(io.MultiReader(parts...)), nil
		}
		req.Body, _ = req.GetBody()
	}
	return req.WithContext(ctx)
}

const jsonType = "application/json"

var errTooLarge = errors.New("answer too large")

// smallAnswer is the size up to which an answer needs no room, in bytes.
const smallAnswer = 64 << 10

// attempt carries out an exchange once, and notes the outcome in it. The error
// is nil where the server has answered, be it badly.
func (t *link) attempt(caller context.Context, x *exchange) error {
	timeout := cmp.Or(x.timeout, t.timeout)
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()

	var buf bytes.Buffer
	x.failure = nil
	// A redirect is not followed: it would carry the prompt, and maybe the key,
	// elsewhere.
	resp, err := t.base.RoundTrip(t.request(ctx, x))
	x.response = resp
	if err == nil {
		var free func()
		free, err = t.receive(ctx, x, resp, &buf)
		defer free()
		_ = resp.Body.Close()
	}
	body := buf.Bytes()
	var unread *unreadError
	switch {
	case errors.As(err, &unread):
		x.failure = t.fail(ErrUnavailable, resp.StatusCode, noRetry, "gave an answer that cannot be kept", t.target.clean(err.Error(), maxMessage), "")
		x.failure.matches = func(target error) bool { return errors.Is(unread.error, target) }
	case errors.Is(err, errTooLarge):
		x.failure = t.fail(ErrBadAnswer, resp.StatusCode, noRetry, fmt.Sprintf("gave an answer of more than %d bytes", x.most()), "", "")
		if t.speaks == nil {
			x.failure.Hint = hintBaseURL
		}
	case err != nil && ctx.Err() != nil && caller.Err() == nil:
		x.failure = t.timedOut(timeout)
	case err != nil && resp != nil:
		x.failure = t.unreachable("broke off its answer", err)
	case err != nil:
		x.failure = t.unreachable("cannot be reached", err)
	case resp.StatusCode == http.StatusOK || x.atFirst && resp.StatusCode < 300:
		x.failure = x.read(t, body)
	default:
		x.failure = t.refused(x.model, resp, body)
	}
	if f := x.failure; f != nil {
		f.asked = serverWait(resp, time.Now())
		if x.wantsTokens {
			refusedLogprobs(f)
		}
		refusedField(f, x.extra)
		if t.speaks != nil {
			t.speaks.adapt(f, body)
		}
	}
	return err
}

// receive fills buf with the body, unless the request reads it itself.
// free gives the room of a large body back.
func (t *link) receive(ctx context.Context, x *exchange, resp *http.Response, buf *bytes.Buffer) (free func(), err error) {
	free = func() {}
	if x.into != nil && resp.StatusCode < 300 {
		from := &tracked{Reader: resp.Body}
		if err = x.into(from); err != nil && from.failed == nil {
			err = &unreadError{err}
		}
		return free, cmp.Or(from.failed, err)
	}
	if n := resp.ContentLength; n > 0 && n < smallAnswer {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, smallAnswer))
	if err != nil || n < smallAnswer {
		return free, err
	}
	// All of the room at once: calls that hold some and wait for more could
	// wait for each other. A buffer grows to twice its content.
	most := x.most()
	if err := t.room.Acquire(ctx, 2*most); err != nil {
		return free, err
	}
	free = func() { t.room.Release(2 * most) }
	n, err = buf.ReadFrom(io.LimitReader(resp.Body, most-n+1))
	if err == nil && smallAnswer+n > most {
		err = errTooLarge
	}
	return free, err
}

// tracked notes why reading failed.
type tracked struct {
	io.Reader
	failed error
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err != nil && err != io.EOF {
		t.failed = err
	}
	return n, err
}

// unreadError is that of the one who reads, and not of the server.
type unreadError struct{ error }
