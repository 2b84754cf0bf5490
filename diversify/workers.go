package diversify

import (
	"context"

	"github.com/refract-eval/refract/cache"
)

// workers run flights. A goroutine that has made one call makes the next one,
// with the stack that it has grown; there are as many as there were flights at
// a time.
type workers struct {
	work chan func()
	end  chan struct{}
}

func newWorkers() *workers {
	return &workers{work: make(chan func()), end: make(chan struct{})}
}

// run runs f in a worker that has nothing to do, or else in a new one.
func (w *workers) run(f func()) {
	select {
	case w.work <- f:
	default:
		go func() {
			for {
				f()
				select {
				case f = <-w.work:
				case <-w.end:
					return
				}
			}
		}()
	}
}

// enter begins a use of the Expander, and leave ends it. With the last one end
// the workers, and the claims that nobody has made use of.
func (x *Expander) enter() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.uses++; x.uses == 1 {
		x.workers = newWorkers()
	}
}

func (x *Expander) leave(ctx context.Context) {
	x.mu.Lock()
	var keys []cache.Key
	if x.uses--; x.uses == 0 {
		close(x.workers.end)
		for key := range x.mine {
			keys = append(keys, key)
		}
		clear(x.mine)
	}
	x.mu.Unlock()
	x.release(ctx, keys...)
}
