package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// maxBatch bounds the operations of one transaction.
const maxBatch = 256

// operation is what a caller wants of the writer.
type operation struct {
	ctx  context.Context
	kind operationKind

	records []Record // to put, or to replace others
	first   []bool   // of records to put: there was none before; set by the writer

	keys    []Key  // to claim, release or delete
	granted []bool // of keys to claim; set by the writer

	done chan error // has room for the result
}

type operationKind int

const (
	opPut operationKind = iota
	opReplace
	opDelete
	opClaim
	opRelease
	opRenew // of the lease under all claims
	opEnd   // of the owner, with all its claims
)

// gather is the least time between two commits, in which operations gather:
// a commit costs as much as storing several answers. Whoever comes after a
// pause is served at once.
const gather = 2 * time.Millisecond

// group commits what many callers want at the price of one: all that is
// waiting when the writer becomes free becomes one transaction.
type group struct {
	commit  func(ctx context.Context, batch []*operation) error
	queue   chan *operation
	drained chan struct{} // closed when the writer has ended
}

func newGroup(commit func(context.Context, []*operation) error) *group {
	g := &group{commit: commit, queue: make(chan *operation), drained: make(chan struct{})}
	go g.loop()
	return g
}

// do waits until an operation is committed. When it fails because the
// operation's context is done, the operation may still be carried out.
func (g *group) do(op *operation) error {
	op.done = make(chan error, 1)
	select {
	case g.queue <- op:
	case <-op.ctx.Done():
		return op.ctx.Err()
	}
	if op.kind == opClaim {
		return <-op.done // even whoever gave up must know what was granted
	}
	select {
	case err := <-op.done:
		return err
	case <-op.ctx.Done():
		return op.ctx.Err()
	}
}

// close ends the writer once all that waits is committed. Nobody may be in do.
func (g *group) close() {
	close(g.queue)
	<-g.drained
}

// loop is the only goroutine that writes.
func (g *group) loop() {
	defer close(g.drained)
	batch := make([]*operation, 0, maxBatch)
	var last time.Time
	for op := range g.queue {
		batch = g.receive(append(batch[:0], op), time.NewTimer(gather-time.Since(last)))
		g.run(batch)
		last = time.Now()
		clear(batch)
	}
}

// receive adds to a batch what comes until the timer is over.
func (g *group) receive(batch []*operation, timer *time.Timer) []*operation {
	defer timer.Stop()
	for len(batch) < maxBatch {
		select {
		case op, ok := <-g.queue:
			if !ok {
				return batch
			}
			batch = append(batch, op)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

// run commits the operations together, or, if that fails for a reason that
// may lie in one of them, each alone.
func (g *group) run(batch []*operation) {
	ctx, cancel := whileWanted(batch)
	defer cancel()
	err := g.commit(ctx, batch)
	inNone := errors.Is(err, ErrLocked) || errors.Is(err, ErrReplaced) || errors.Is(err, ErrUnavailable)
	if err == nil || len(batch) == 1 || ctx.Err() != nil || inNone {
		for _, op := range batch {
			op.done <- err
		}
		return
	}
	for i, op := range batch {
		op.done <- g.commit(ctx, batch[i:i+1])
	}
}

// whileWanted returns a context that is done when nobody waits for any of the
// operations.
func whileWanted(batch []*operation) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	var waiting atomic.Int64
	waiting.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, op := range batch {
		stops[i] = context.AfterFunc(op.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// gate lets calls in until it is shut, and knows who is inside. The zero gate
// is open.
type gate struct {
	mu     sync.Mutex
	isShut bool
	inside sync.WaitGroup
}

// enter fails with ErrClosed once the gate is shut. Shutting it waits until
// leave is called.
func (g *gate) enter() (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isShut {
		return nil, ErrClosed
	}
	g.inside.Add(1)
	return g.inside.Done, nil
}

// shut shuts the gate and waits until nobody is inside. It returns false, at
// once, where somebody has done so before.
func (g *gate) shut() bool {
	g.mu.Lock()
	before := g.isShut
	g.isShut = true
	g.mu.Unlock()
	if before {
		return false
	}
	g.inside.Wait()
	return true
}
