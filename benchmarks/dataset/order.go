package dataset

import (
	"context"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"
)

// chunkSize is how many bytes are decoded at a time, if there are as many to be had.
const chunkSize = 64 << 10

// chunk is a piece of a file, whose items can be decoded by themselves.
type chunk interface {
	size() int // in bytes
	len() int  // in items
}

// inOrder decodes the items of a file on as many goroutines as there are cores, and calls each
// with them, in the order of the file and on the goroutine of the caller.
//
// A goroutine of its own calls cut, with a chunk that was used before and may be used again, or
// the zero value. cut may return a last chunk along with an error; it is io.EOF at the end. What
// cut waits for must end with its context. decode decodes item i of a chunk. The first error in the
// file is returned. If reached is not nil, it is called before each item, before an item that cannot
// be decoded, and at the end of a chunk.
//
// It holds a few chunks for each core, and never several large ones. No goroutine is left when
// it returns.
func inOrder[C chunk, T any](ctx context.Context, cut func(ctx context.Context, again C) (C, error), decode func(c C, i int) (T, error), reached func(c C, i int), each func(T) error) error {
	type job struct {
		chunk C
		held  int64
		items []T
		err   error         // follows the items
		ready chan struct{} // closed once it is decoded
	}
	if reached == nil {
		reached = func(C, int) {}
	}
	workers := runtime.GOMAXPROCS(0)
	most := int64(workers+1) * 2 * chunkSize
	room := semaphore.NewWeighted(most)
	order, todo, used := make(chan *job, 2*workers+2), make(chan *job), make(chan C, 2*workers+2)

	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		defer close(order)
		defer close(todo)
		for {
			j := &job{ready: make(chan struct{})}
			select {
			case j.chunk = <-used:
			default:
			}
			j.chunk, j.err = cut(ctx, j.chunk)
			ended := j.err != nil
			j.held = min(int64(j.chunk.size()), most)
			if room.Acquire(ctx, j.held) != nil {
				return
			}
			select {
			case order <- j:
			case <-ctx.Done():
				return
			}
			todo <- j
			if ended {
				return
			}
		}
	})
	for range workers {
		running.Go(func() {
			for j := range todo {
				j.items = make([]T, 0, j.chunk.len())
				for i := range j.chunk.len() {
					item, err := decode(j.chunk, i)
					if err != nil {
						j.err = err
						break
					}
					j.items = append(j.items, item)
				}
				close(j.ready)
			}
		})
	}
	for j := range order {
		<-j.ready
		for i, item := range j.items {
			reached(j.chunk, i)
			if err := each(item); err != nil {
				return err
			}
		}
		reached(j.chunk, len(j.items))
		if j.err == io.EOF {
			return nil
		}
		if j.err != nil {
			return j.err
		}
		room.Release(j.held)
		select {
		case used <- j.chunk:
		default:
		}
	}
	return ctx.Err()
}
