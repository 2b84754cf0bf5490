package serve

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// room is the part that a request's answer takes of the bytes for all answers together.
// Requests have a bound of their own: a request holds its own bytes while it waits for
// those of its answer, never the reverse, so there is no deadlock.
type room struct {
	of    *semaphore.Weighted
	taken int64
}

type roomKey struct{}

// withRoom returns a context in which Expect works, and a function that gives the bytes back.
func (s *Server) withRoom(ctx context.Context) (_ context.Context, release func()) {
	r := &room{of: s.answers}
	return context.WithValue(ctx, roomKey{}, r), func() { r.of.Release(r.taken) }
}

// Expect waits until there is room for an answer of about this many bytes, and takes the
// room until the client has the answer. A method calls it once, before the work. For an
// answer that is too long it returns a Usage error.
func Expect(ctx context.Context, bytes int64) error {
	if bytes > maxBytes {
		return &Usage{fmt.Errorf("the request takes about %d MiB for scores and its answer, and at most %d are allowed: split it", bytes>>20, maxBytes>>20)}
	}
	r, ok := ctx.Value(roomKey{}).(*room)
	if !ok {
		return ctx.Err()
	}
	if err := r.of.Acquire(ctx, bytes); err != nil {
		return err
	}
	r.taken += bytes
	return nil
}
