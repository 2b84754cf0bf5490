package llm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// server is one of the transport's servers. The transport's lock guards all changing fields except
// answered.
type server struct {
	target
	cfg      *Config
	explain  func(e *Error, body []byte) // adds what the protocol says about a failure
	room     *semaphore.Weighted         // bytes for large answers, shared by all servers
	answered atomic.Int64                // good answers so far

	inFlight int
	until    time.Time // no call is sent before, because it asked for a pause or keeps failing
	faults   int       // faults in a row
	failure  string    // what it did last that is tried again
	told     sync.Once // that it asks for a long wait
}

// Bounds on answers, in bytes after decompression.
const (
	maxAnswerBytes = 64 << 20
	// minAnswerBytes and bytesPerToken bound an answer by its tokens, far above what servers
	// write.
	minAnswerBytes = 1 << 20
	bytesPerToken  = 4 << 10
	// allAnswerBytes bounds all large answers of a client together; answers up to smallAnswer
	// do not count.
	allAnswerBytes = 256 << 20
	smallAnswer    = 64 << 10
)

func newServer(t target, cfg *Config, room *semaphore.Weighted) *server {
	explain := forms[cfg.Endpoint].explain
	if cfg.Protocol != nil {
		explain = cfg.Protocol.adapt
	}
	return &server{target: t, cfg: cfg, explain: explain, room: room}
}

// request returns the request of a call, addressed to the server.
func (s *server) request(ctx context.Context, c *Call) (*http.Request, error) {
	below, err := url.Parse(c.Path)
	if err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(ctx, c.Method, s.url.String(), bytes.NewReader(c.Content))
	if err != nil {
		return nil, err
	}
	out.URL = s.at(below)
	out.Header.Set("Accept", "application/json")
	if c.Content != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(out.Header, c.Header)
	out.Header.Set("User-Agent", s.cfg.UserAgent)
	if s.authorization != "" {
		out.Header.Set(s.keyHeader, s.authorization)
	}
	return out, nil
}

var errTooLarge = errors.New("answer too large")

// send makes one attempt, and has the call read a good answer.
func (s *server) send(caller context.Context, c *Call) *Error {
	timeout := cmp.Or(c.timeout, s.cfg.Timeout)
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()
	out, err := s.request(ctx, c)
	if err != nil { // impossible: callers escape what they add to a path
		return s.fail(ErrInvalidRequest, 0, noRetry, "was not called", s.clean(err.Error(), maxMessage), "")
	}
	// RoundTrip does not follow redirects, which would send the prompt, and maybe the key,
	// elsewhere.
	resp, err := s.cfg.Transport.RoundTrip(out)
	var body []byte
	if err == nil {
		var free func()
		body, free, err = s.receive(ctx, c, resp)
		body = bytes.TrimPrefix(body, []byte("\ufeff")) // some servers send a byte order mark before JSON
		defer free()
		_ = resp.Body.Close()
	}
	var e *Error
	var reader *readerError
	switch {
	case errors.As(err, &reader):
		e = s.fail(ErrUnavailable, resp.StatusCode, noRetry, "gave an answer that cannot be kept", s.clean(err.Error(), maxMessage), "")
		e.matches = func(target error) bool { return errors.Is(reader.error, target) }
	case errors.Is(err, errTooLarge):
		e = s.fail(ErrBadAnswer, resp.StatusCode, noRetry, fmt.Sprintf("gave an answer of more than %d bytes", c.most()), "", "")
		if s.cfg.Protocol == nil {
			e.Hint = hintBaseURL
		}
	case err != nil && ctx.Err() != nil && caller.Err() == nil:
		e = s.fail(ErrTimeout, 0, allRetries, fmt.Sprintf("gave no whole answer within %v", timeout), "", "raise the time limit or send fewer requests at once")
	case err != nil && resp != nil:
		e = s.unreachable("broke off its answer", err)
	case err != nil:
		e = s.unreachable("cannot be reached", err)
	case resp.StatusCode == http.StatusOK || c.first && resp.StatusCode < 300:
		e = c.parse(s, resp, body)
	default:
		e = s.refused(c.Model, resp, body)
	}
	if e == nil {
		return nil
	}
	if e.retries != noRetry {
		s.heed(e, toldWait(e, resp, body, time.Now()))
	}
	if c.logprobs {
		e.refusesLogprobs()
	}
	s.explain(e, body)
	return e
}

// receive reads the body of an answer. free gives back the room of a large one.
func (s *server) receive(ctx context.Context, c *Call, resp *http.Response) (body []byte, free func(), err error) {
	free = func() {}
	if c.stream != nil && resp.StatusCode < 300 {
		from := &trackedReader{Reader: resp.Body}
		if err = c.stream(from); err != nil && from.failed == nil {
			err = &readerError{err}
		}
		return nil, free, cmp.Or(from.failed, err)
	}
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < smallAnswer {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(resp.Body, smallAnswer))
	if err != nil || n < smallAnswer {
		return buf.Bytes(), free, err
	}
	// Acquire all room at once, because calls that hold some and wait for more could wait for
	// each other. The factor is 2 because a buffer grows to twice its content.
	most := c.most()
	if err := s.room.Acquire(ctx, 2*most); err != nil {
		return nil, free, err
	}
	free = func() { s.room.Release(2 * most) }
	n, err = buf.ReadFrom(io.LimitReader(resp.Body, most-n+1))
	if err == nil && smallAnswer+n > most {
		err = errTooLarge
	}
	return buf.Bytes(), free, err
}

// longWait is the length from which a wait is reported, once.
const longWait = 10 * time.Second

// heed notes the wait that a server asks for. One that is longer than allowed is not kept, as it may be
// a mistake, or about one input.
func (s *server) heed(e *Error, asked time.Duration) {
	wait := asked.Round(time.Millisecond).String()
	then := fmt.Sprintf("it asks to wait %s, so no call begins until %s", wait, time.Now().Add(asked).Format(time.TimeOnly))
	if e.asked = asked; asked > s.cfg.MaxRetryWait {
		if asked >= longestPause {
			wait = "without an end"
		}
		e.what += fmt.Sprintf(" and asks to wait %s, more than the %v allowed", wait, s.cfg.MaxRetryWait)
		e.asked, e.Hint = 0, "try later, or allow a longer wait (--wait)"
		then = "it is asked again after shorter pauses; --wait allows longer ones"
	}
	if asked >= longWait && s.cfg.Warn != nil {
		said := *e
		said.Hint = then
		s.told.Do(func() { s.cfg.Warn(&said) })
	}
}

// trackedReader records why reading failed.
type trackedReader struct {
	io.Reader
	failed error
}

func (t *trackedReader) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err != nil && err != io.EOF {
		t.failed = err
	}
	return n, err
}

// readerError is an error of a stream's reader, not of the server.
type readerError struct{ error }

// maxCoolDown is the longest pause for one of several servers that keeps failing. The pause is a
// second, and doubles after each further failure.
const maxCoolDown = 30 * time.Second

// learn records the outcome of an attempt; nil means a good answer.
func (s *server) learn(c *Call, e *Error, company bool, maxWait time.Duration) {
	if e == nil || e.retries == noRetry && !e.elsewhere { // the server works, even if it refused the request
		s.faults = 0
	}
	if e == nil {
		s.answered.Add(1)
		return
	}
	if e.retries != noRetry {
		short := *e
		short.Message = ""
		s.failure = short.description()
	}
	var pause time.Duration
	switch {
	case e.asked > 0: // plus a random moment, so that clients with the same time do not come back together
		pause = e.asked + min(rand.N(2*meanBackoff), maxWait-e.asked)
	case e.retries == noRetry && !e.elsewhere || e.Kind == ErrRateLimited || !company || c.first:
	default:
		pause = min(maxCoolDown, maxWait, time.Second<<min(s.faults, 10))
		s.faults++
	}
	if until := time.Now().Add(pause); pause > 0 && until.After(s.until) {
		s.until = until
	}
}

// Load is what the calls of a client do.
type Load struct {
	InFlight int
	Retrying int       // calls whose last attempt failed, and that wait for another
	Failure  string    // what a server did in such an attempt, "" if there is none
	Paused   time.Time // until when no server is called, as they asked for it or keep failing; or zero
}

// Load returns what the calls of the client do now.
func (c *Client) Load() (l Load) {
	t := c.transport
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, s := range t.servers {
		l.InFlight += s.inFlight
		l.Failure = cmp.Or(l.Failure, s.failure)
		if i == 0 || s.until.Before(l.Paused) {
			l.Paused = s.until
		}
	}
	if !l.Paused.After(time.Now()) {
		l.Paused = time.Time{}
	}
	if l.Retrying = int(t.retrying.Load()); l.Retrying == 0 {
		l.Failure = ""
	}
	return l
}
