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
type chunk[I any] struct {
	items    []I
	numbers  []int // of the items in the file, from 1
	bytes    int
	text     []byte    // what items that are texts are parts of
	full     bool      // a further item may be long in coming
	warnings []Warning // about the items, in their order
}

// add adds an item.
func (c *chunk[I]) add(item I, number, bytes int) {
	c.items, c.numbers, c.bytes = append(c.items, item), append(c.numbers, number), c.bytes+bytes
}

// tell passes on the warnings up to item i, or all after the last.
func (c *chunk[I]) tell(i int, warn func(Warning)) {
	for len(c.warnings) > 0 && (i == len(c.items) || c.warnings[0].Pos.Line <= c.numbers[i]) {
		warn(c.warnings[0])
		c.warnings = c.warnings[1:]
	}
}

// inOrder decodes the items of a file on as many goroutines as there are cores, and calls each
// with them, in the order of the file and on the goroutine of the caller.
//
// A goroutine of its own calls next, which adds items to a chunk, and returns io.EOF at the end. What
// it waits for must end with its context. The chunk may have been used before, so that the items after
// its last may be used again. decode decodes item i of a chunk. The first error in the file is
// returned, after the warnings before it.
//
// It holds a few chunks for each core, and never several large ones. No goroutine is left when
// it returns.
func inOrder[I, T any](ctx context.Context, next func(ctx context.Context, c *chunk[I]) error, decode func(c *chunk[I], i int) (T, error), warn func(Warning), each func(T) error) error {
	type job struct {
		chunk *chunk[I]
		held  int64
		items []T
		err   error         // follows the items
		ready chan struct{} // closed once it is decoded
	}
	workers := runtime.GOMAXPROCS(0)
	most := int64(workers+1) * 2 * chunkSize
	room := semaphore.NewWeighted(most)
	order, todo, used := make(chan *job, 2*workers+2), make(chan *job), make(chan *chunk[I], 2*workers+2)

	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		defer close(order)
		defer close(todo)
		for {
			j := &job{chunk: &chunk[I]{}, ready: make(chan struct{})}
			select {
			case c := <-used:
				if c.bytes <= 4*chunkSize {
					*j.chunk = chunk[I]{items: c.items[:0], numbers: c.numbers[:0], text: c.text[:0]}
				}
			default:
			}
			for j.err == nil && j.chunk.bytes < chunkSize && !j.chunk.full {
				j.err = next(ctx, j.chunk)
			}
			ended := j.err != nil
			j.held = min(int64(j.chunk.bytes), most)
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
				j.items = make([]T, 0, len(j.chunk.items))
				for i := range j.chunk.items {
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
			j.chunk.tell(i, warn)
			if err := each(item); err != nil {
				return err
			}
		}
		j.chunk.tell(len(j.items), warn)
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
