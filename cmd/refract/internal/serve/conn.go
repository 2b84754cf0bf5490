package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/refract-eval/refract/internal/jsonline"
)

// conn is a connection with its open requests and its output.
type conn struct {
	*Server
	ctx   context.Context // the parent of all requests' contexts; ends with the connection
	end   context.CancelCauseFunc
	slots chan struct{}  // holds one element per unanswered request
	wait  sync.WaitGroup // waits for answers to be written

	mu      sync.Mutex
	pending map[string]context.CancelFunc // by id

	writing chan struct{} // holds an element while an answer is written
	out     io.Writer
}

// Serve answers the requests of a connection until its input ends and all are answered.
// When the context ends, Serve cancels open requests, and soon gives up on a client that
// does not read. The error comes from reading, from writing or from the context.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer, hello []byte) error {
	c := &conn{Server: s, out: out, slots: make(chan struct{}, MaxPending), writing: make(chan struct{}, 1), pending: map[string]context.CancelFunc{}}
	c.ctx, c.end = context.WithCancelCause(ctx)
	defer c.end(nil)
	if _, err := out.Write(hello); err != nil {
		return err
	}
	read := make(chan error, 1)
	go func() { read <- c.read(&lines{in: bufio.NewReaderSize(in, 1<<16), most: MaxLine}) }()
	var err error
	select {
	case err = <-read:
	case <-c.ctx.Done(): // the reader may block on input for ever; it starts no more requests
	}
	c.mu.Lock()
	c.pending = nil // from now on no request starts
	c.mu.Unlock()
	told := make(chan struct{})
	go func() {
		c.wait.Wait()
		close(told)
	}()
	select {
	case <-told:
	case <-c.ctx.Done():
		select {
		case <-told:
		case <-time.After(lastWord):
		}
	}
	return cmp.Or(err, ctx.Err(), context.Cause(c.ctx)) // the last if nobody read an answer
}

// read starts requests until the input ends.
func (c *conn) read(in *lines) error {
	for number := 1; ; number++ {
		select {
		case c.slots <- struct{}{}:
		case <-c.ctx.Done():
			return nil
		}
		if c.ctx.Err() != nil {
			return nil
		}
		line, err := in.next()
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if err != nil && err != error(errLong) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if c.large.all.Acquire(c.ctx, int64(len(line))) != nil {
			return nil
		}
		var r request
		if r.id = noID; err == nil {
			r, err = parse(line)
		}
		r.line = number
		c.begin(r, int64(len(line)), err)
	}
}

// begin starts a request. It answers at once if the request is invalid or cancels another.
func (c *conn) begin(r request, size int64, err error) {
	c.mu.Lock()
	if c.pending == nil {
		c.mu.Unlock()
		return
	}
	c.wait.Add(1)
	var result []byte
	var method Method
	ctx, cancel := c.ctx, context.CancelFunc(nil)
	switch {
	case err != nil:
	case c.pending[r.id] != nil:
		r.id, err = noID, jsonline.Fault("the id %s belongs to a request that is not answered yet", r.id)
	case r.method == cancelMethod:
		result, err = c.cancel(r.params)
	default:
		if method, err = c.method(r.method); err == nil {
			ctx, cancel = context.WithCancel(c.ctx)
			c.pending[r.id] = cancel
		}
	}
	c.mu.Unlock()
	if r.id == noID {
		err = fmt.Errorf("line %d: %w", r.line, err)
	}
	inner, release := c.withRoom(ctx)
	finish := func() {
		c.answer(ctx, &r, cancel, result, err)
		release()
		c.large.all.Release(size)
		<-c.slots
		c.wait.Done()
	}
	if method == nil {
		finish()
		return
	}
	go func() {
		result, err = method(inner, r.params)
		finish()
	}()
}

// cancel cancels the request that the parameters name, under the lock.
func (c *conn) cancel(params []byte) ([]byte, error) {
	var in struct {
		ID requestID `json:"id"`
	}
	if err := jsonline.Unmarshal(params, &in, "the parameters"); err != nil {
		return nil, err
	}
	if in.ID == "" {
		return nil, jsonline.Fault(`params has no "id", which names the request to cancel`)
	}
	cancel := c.pending[string(in.ID)]
	if cancel != nil {
		cancel()
	}
	return fmt.Appendf(nil, `{"cancelled":%t}`, cancel != nil), nil
}

// answer writes the result or error of a request. A cancelled request never gets a
// result, even if it was finished at the same moment.
func (c *conn) answer(ctx context.Context, r *request, cancel context.CancelFunc, result []byte, err error) {
	if cancel != nil {
		c.mu.Lock()
		delete(c.pending, r.id)
		err = cmp.Or(err, ctx.Err())
		c.mu.Unlock()
		defer cancel()
	}
	b := make([]byte, 0, len(result)+len(r.id)+64)
	b = append(append(b, `{"id":`...), r.id...)
	if err != nil {
		code, message := c.fault(ctx, err)
		b = appendError(append(b, `,"error":`...), code, message)
	} else {
		b = append(append(b, `,"result":`...), result...)
	}
	b = append(b, '}', '\n')
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	if _, err := c.out.Write(jsonline.Escape(b)); err != nil {
		c.end(fmt.Errorf("write an answer: %w", err)) // the client does not read any more
	}
}
