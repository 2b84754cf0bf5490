package cache

import (
	"context"
	"sync/atomic"
	"time"
)

// maxBatch bounds the operations of one transaction.
const maxBatch = 256

// maxKeys bounds the keys of one claim or release, so that no transaction is
// long.
const maxKeys = 1000

// operation is what a caller wants of the writer.
type operation struct {
	ctx  context.Context
	kind operationKind

	key   Key   // of entry
	entry Entry // to put
	first bool  // there was no entry before; set by a writer that can tell

	keys    []Key  // to claim or to release
	granted []bool // of keys; set by the writer

	done chan error // has room for the result
}

type operationKind int

const (
	opPut operationKind = iota
	opClaim
	opRelease
	opRenew // of the lease under all claims
)

// gather is the least time between two commits, in which operations gather:
// a commit costs as much as storing several answers. Whoever comes after a
// pause is served at once.
const gather = 2 * time.Millisecond

// group commits what many callers want at the price of one: all that is
// waiting when the writer becomes free becomes one transaction.
type group struct {
	commit func(ctx context.Context, batch []*operation) error
	// shared says that a failure lies in none of the operations: there is no
	// use in trying each alone.
	shared func(error) bool

	gate    gate
	queue   chan *operation
	drained chan struct{} // closed when the writer has ended
}

func newGroup(commit func(context.Context, []*operation) error, shared func(error) bool) *group {
	g := &group{commit: commit, shared: shared, queue: make(chan *operation), drained: make(chan struct{})}
	go g.loop()
	return g
}

// do waits until an operation is committed. When it fails because the
// operation's context is done, the operation may still be carried out.
func (g *group) do(op *operation) error {
	leave, err := g.gate.enter()
	if err != nil {
		return err
	}
	defer leave()

	op.done = make(chan error, 1)
	select {
	case g.queue <- op:
	case <-op.ctx.Done():
		return op.ctx.Err()
	}
	if op.kind == opClaim {
		// Whoever gave up must know what was granted, to give it back.
		return <-op.done
	}
	select {
	case err := <-op.done:
		return err
	case <-op.ctx.Done():
		return op.ctx.Err()
	}
}

// close ends the writer once all that waits is committed; then only the
// caller uses the connection.
func (g *group) close() {
	if !g.gate.shut() {
		return
	}
	close(g.queue)
	<-g.drained
}

// loop is the only goroutine that writes.
func (g *group) loop() {
	defer close(g.drained)
	batch := make([]*operation, 0, maxBatch)
	wait := time.NewTimer(gather)
	wait.Stop()
	var last time.Time
	for op := range g.queue {
		batch = append(batch[:0], op)
		batch = g.receive(batch, nil)
		if pause := gather - time.Since(last); pause > 0 {
			wait.Reset(pause)
			batch = g.receive(batch, wait.C)
			wait.Stop()
		}
		g.run(batch)
		last = time.Now()
		clear(batch)
	}
}

// receive takes what is waiting into a batch, and what comes until the timer
// is over; a nil timer is over at once.
func (g *group) receive(batch []*operation, timer <-chan time.Time) []*operation {
	for len(batch) < maxBatch {
		var op *operation
		var ok bool
		select {
		case op, ok = <-g.queue:
		default:
			if timer == nil {
				return batch
			}
			select {
			case op, ok = <-g.queue:
			case <-timer:
				return batch
			}
		}
		if !ok {
			return batch
		}
		batch = append(batch, op)
	}
	return batch
}

// run commits the operations together, or, if that fails for a reason that
// may lie in one of them, each alone.
func (g *group) run(batch []*operation) {
	ctx, cancel := whileWanted(batch)
	defer cancel()
	err := g.commit(ctx, batch)
	if err == nil || len(batch) == 1 || ctx.Err() != nil || g.shared(err) {
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
