package llm

import (
	"context"
	"errors"
	"sync"
	"time"
)

// PlainSentence is what a server is asked about if nothing is known that it has answered.
const PlainSentence = "The river was quiet."

// Witness finds out whether a server that has failed at one request answers another one. A server in
// trouble gives the same statuses as one that cannot digest an input; a further request tells them apart.
type Witness struct {
	mu   sync.Mutex // held during a request
	at   time.Time  // the answer was asked for then, or failed to come until then
	well bool
}

// Answers makes a request that is known to be harmless, and reports whether the server answers it or says
// what is wrong with it. Calls that fail at the same time share the finding.
func (w *Witness) Answers(ctx context.Context, other func(context.Context) error) bool {
	failed := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	begin, end := beginning(ctx)
	defer end()
	switch {
	case begin.Err() != nil:
		return false
	case !w.at.Before(failed):
		return w.well
	}
	at := time.Now()
	err := other(Briefly(ctx))
	if begin.Err() != nil {
		return false // the request was not made, perhaps
	}
	if w.well = err == nil || BlameFor(err) == BlameRequest; !w.well {
		at = time.Now()
	}
	w.at = at
	return w.well
}

// Halving asks about rows in one request. If the request is too large, or the server fails at it but
// answers another one, the rows are halved until the one at fault stands alone.
type Halving[R any] struct {
	Witness *Witness
	// Ask makes a request about rows, and keeps its answers.
	Ask func(ctx context.Context, rows []R) error
	// Other makes a request that is known to be harmless.
	Other func(ctx context.Context) error
	// Failed is called with a row that is at fault; its error ends the work. If Failed is nil, only
	// requests that are too large are halved.
	Failed func(row *R, why error) error
}

// Do asks about rows, at least one. The error is the first that is no row's fault, or Failed's.
func (h *Halving[R]) Do(ctx context.Context, rows []R) error { return h.do(ctx, ctx, rows) }

func (h *Halving[R]) do(ctx, tries context.Context, rows []R) error {
	err := h.Ask(tries, rows)
	blame := BlameFor(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrTooLarge) && len(rows) > 1:
	case h.Failed == nil, blame == BlameServer, blame == BlameEither && !h.Witness.Answers(ctx, h.Other):
		return err
	case len(rows) == 1:
		return h.Failed(&rows[0], err)
	}
	half := len(rows) / 2
	for _, part := range [][]R{rows[:half], rows[half:]} {
		tries := ctx // a verdict on one row is worth all retries
		if len(part) > 1 {
			tries = Briefly(ctx)
		}
		if err := h.do(ctx, tries, part); err != nil {
			return err
		}
	}
	return nil
}
