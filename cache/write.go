package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// maxBatch bounds the answers of one transaction.
const maxBatch = 256

// write is one Put on its way to the writer.
type write struct {
	ctx   context.Context
	entry Entry
	key   Key
	done  chan error // has room for the result
}

// Put implements [Store]. All that is waiting when the writer becomes free is
// committed in one transaction, so that many callers are served at the price
// of one. When Put fails because ctx is done, the entry may still be stored.
// The error wraps [ErrFull], [ErrLocked], [ErrReadOnly], [ErrReplaced],
// [ErrCorrupt] or [ErrClosed] where one of them is the reason.
func (s *SQLite) Put(ctx context.Context, e Entry) error {
	if s.writer == nil {
		return fmt.Errorf("cache %s: put: %w: it was opened to be read only", s.file, ErrReadOnly)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := e.normalized()
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("cache %s: put: %w", s.file, ErrClosed)
	}
	s.inFlight.Add(1)
	s.mu.Unlock()
	defer s.inFlight.Done()

	w := &write{ctx: ctx, entry: e, key: e.Request.Key(), done: make(chan error, 1)}
	select {
	case s.queue <- w:
	case <-ctx.Done():
		return fileError(ctx, s.file, "put", ctx.Err())
	}
	select {
	case err := <-w.done:
		return fileError(ctx, s.file, "put", err)
	case <-ctx.Done():
		return fileError(ctx, s.file, "put", ctx.Err())
	}
}

// writeLoop is the only goroutine that writes.
func (s *SQLite) writeLoop() {
	defer close(s.drained)
	batch := make([]*write, 0, maxBatch)
	for w := range s.queue {
		batch = append(batch[:0], w)
		for more := true; more && len(batch) < maxBatch; {
			select {
			case w, ok := <-s.queue:
				if more = ok; ok {
					batch = append(batch, w)
				}
			default:
				more = false
			}
		}
		s.writeBatch(batch)
		clear(batch)
	}
}

// writeBatch commits the entries together, or, if that fails for a reason
// that may lie in one of them, each alone.
func (s *SQLite) writeBatch(batch []*write) {
	ctx, cancel := whileWanted(batch)
	defer cancel()
	err := fileError(ctx, s.file, "put", s.commit(ctx, batch))
	if err == nil || len(batch) == 1 || ctx.Err() != nil || errors.Is(err, ErrLocked) || errors.Is(err, ErrReplaced) {
		for _, w := range batch {
			w.done <- err
		}
		return
	}
	for _, w := range batch {
		w.done <- s.commit(ctx, []*write{w})
	}
}

// whileWanted returns a context that is done when nobody waits for any of the
// writes.
func whileWanted(batch []*write) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	var waiting atomic.Int64
	waiting.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, w := range batch {
		stops[i] = context.AfterFunc(w.ctx, func() {
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

func (s *SQLite) commit(ctx context.Context, batch []*write) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	insert := tx.StmtContext(ctx, s.insert)
	for _, w := range batch {
		e, digest := w.entry, w.entry.digest(w.key)
		// Only the start of the transaction waits for others, so the rest
		// does not watch ctx.
		_, err := insert.ExecContext(context.WithoutCancel(ctx), w.key[:],
			e.Request.Kind, e.Request.Model, e.Request.Revision, e.Request.Prompt, string(e.Request.Params), e.Request.Sample,
			sql.NullString{String: e.Text, Valid: e.HasText}, e.FinishReason, e.ServedModel, e.PromptTokens, e.CompletionTokens,
			sql.NullInt64{Int64: e.Created.UnixNano(), Valid: !e.Created.IsZero()}, digest[:])
		if err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return s.checkFile()
}

// checkFile notices that answers are written to a file that has lost its
// name, and would be gone with this process.
func (s *SQLite) checkFile() error {
	info, err := os.Stat(s.abs)
	switch {
	case err != nil:
		return fmt.Errorf("cache %s: %w: answers cannot be kept; run again: %w", s.file, ErrReplaced, err)
	case !os.SameFile(s.info, info):
		return fmt.Errorf("cache %s: %w: answers cannot be kept; run again", s.file, ErrReplaced)
	default:
		return nil
	}
}
