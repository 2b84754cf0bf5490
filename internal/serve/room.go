package serve

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// room is what the answer of a request takes of the bytes that answers have together.
// They are other bytes than those of requests: a request that holds the one waits for
// the other, and never the reverse.
type room struct {
	of    *semaphore.Weighted
	taken int64
}

type roomKey struct{}

// withRoom is a context whose request may expect an answer, and what gives its bytes back.
func (s *Server) withRoom(ctx context.Context) (_ context.Context, release func()) {
	r := &room{of: s.answers}
	return context.WithValue(ctx, roomKey{}, r), func() { r.of.Release(r.taken) }
}

// Expect waits until there is room for an answer of about so many bytes, which it takes
// until the client has the answer. A method calls it once, before the work. An answer
// that is too long is the request's fault.
func Expect(ctx context.Context, bytes int64) error {
	if bytes > maxBytes {
		return &Usage{fmt.Errorf("the request takes about %d MiB for scores and its answer, and at most %d are taken: part it", bytes>>20, maxBytes>>20)}
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
