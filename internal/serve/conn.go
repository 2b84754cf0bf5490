package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/refract-eval/refract/internal/jsonline"
)

// conn is a connection: its requests, and the way of their answers.
type conn struct {
	*Server
	ctx   context.Context // of all requests; it ends with the connection
	end   context.CancelCauseFunc
	slots chan struct{}  // an element for each request that is unanswered
	work  sync.WaitGroup // for methods
	wait  sync.WaitGroup // for answers

	mu      sync.Mutex
	pending map[string]context.CancelFunc // by id

	writing chan struct{} // has an element while an answer is written
	out     io.Writer
}

// Serve answers the requests of a connection until its input ends; those that are
// unanswered then are answered first. The end of the context cancels them, and then a
// client that does not read is left soon. The error is that of reading or writing, or
// of the context.
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
	case <-c.ctx.Done(): // the reader may wait for input for ever, and begins nothing more
	}
	c.mu.Lock()
	c.pending = nil // no further request begins
	c.mu.Unlock()
	c.work.Wait()
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
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = context.Cause(c.ctx) // of an answer that nobody took
	}
	return err
}

// read takes requests until the input ends.
func (c *conn) read(in *lines) error {
	for {
		select {
		case c.slots <- struct{}{}:
		case <-c.ctx.Done():
			return nil
		}
		if c.ctx.Err() != nil {
			return nil
		}
		line, err := in.next()
		if err != nil && err != error(errLong) {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if c.bytes.Acquire(c.ctx, int64(len(line))) != nil {
			return nil
		}
		var r request
		if r.id = "null"; err == nil {
			r, err = parse(line)
		}
		c.begin(r, int64(len(line)), err)
	}
}

// begin answers a request: at once where it is at fault or cancels another one.
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
		r.id, err = "null", jsonline.Fault("the id %s is that of a request that is not answered yet", r.id)
	case r.method == cancelMethod:
		result, err = c.cancel(r.params)
	default:
		if method, err = c.method(r.method); err == nil {
			ctx, cancel = context.WithCancel(c.ctx)
			c.pending[r.id] = cancel
			c.work.Add(1)
		}
	}
	c.mu.Unlock()
	inner, release := c.withRoom(ctx)
	finish := func() {
		c.answer(ctx, &r, cancel, result, err)
		release()
		c.bytes.Release(size)
		<-c.slots
		c.wait.Done()
	}
	if method == nil {
		finish()
		return
	}
	go func() {
		if r.params == nil {
			r.params = []byte("{}")
		}
		result, err = method(inner, r.params)
		c.work.Done()
		finish()
	}()
}

// cancel ends the request that the parameters name. It holds the lock.
func (c *conn) cancel(params []byte) ([]byte, error) {
	id, err := cancelled(params)
	if err != nil {
		return nil, err
	}
	cancel := c.pending[id]
	if cancel != nil {
		cancel()
	}
	return fmt.Appendf(nil, `{"cancelled":%t}`, cancel != nil), nil
}

// answer writes what became of a request. One that was cancelled has no result, also
// where it came at the same time.
func (c *conn) answer(ctx context.Context, r *request, cancel context.CancelFunc, result []byte, err error) {
	if cancel != nil {
		c.mu.Lock()
		delete(c.pending, r.id)
		if err == nil {
			err = ctx.Err()
		}
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
	if _, err := c.out.Write(b); err != nil {
		c.end(fmt.Errorf("write an answer: %w", err)) // nobody is there to read any more
	}
}
