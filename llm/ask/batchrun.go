package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/refract-eval/refract/llm"
)

// batchRun gets the answers to rows in batches.
type batchRun struct {
	*Batches
	journal *journal // nil until there is a row

	rows  map[string]*row
	in    map[string][]*batch // by id of a row: batches of earlier runs that contain it
	queue []*row              // rows to submit
	held  int                 // number of open batches when the server's queue was full; 0 if it is not
	most  int                 // rows of a batch

	refusals int // batches that failed their validation since one has ended

	// submits and looks count errors since the last success.
	submits, looks int
}

// row is a question in a batch. Its id is the question's key.
type row struct {
	Question
	id    string
	in    *batch // the batch that will have its answer; nil if there is none
	tries int    // failed submissions
}

// round asks for the answers needed now, and returns the number of requests.
func (r *batchRun) round(ctx context.Context) (asked int, err error) {
	var spent error
	err = r.Plan(ctx, func(q Question) error {
		if r.failed[failedKey(q.Wire)] != nil {
			return nil
		}
		if _, spent = r.Budget.take(q.Wire); spent != nil {
			return errEnough
		}
		asked++
		if err := r.resume(); err != nil {
			return err
		}
		r.add(q)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return asked, err
	}
	if asked == 0 {
		return 0, spent
	}
	r.progress.Rows += asked
	if err := r.all(ctx); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("batch run ended early; the next run with journal %s continues where it stopped: %w", r.Journal, err)
		}
		return asked, err
	}
	return asked, nil // they cost less than was reserved for them, so more may fit
}

// resume reads what earlier runs noted, unless it is done.
func (r *batchRun) resume() (err error) {
	if r.journal != nil {
		return nil
	}
	head := journalHead{Server: r.Client.BatchServer(), URL: r.Client.BatchURL(), Model: strings.Join(r.Models, ", ")}
	if r.journal, err = openJournal(r.Journal, head, r.written); err != nil {
		return err
	}
	for _, old := range r.journal.batches {
		if old.id != "" {
			r.progress.Batches++
		}
		for _, id := range old.rows {
			r.in[id] = append(r.in[id], old)
		}
	}
	return nil
}

// add adds a question, to be answered by a batch of an earlier run if one contains it.
func (r *batchRun) add(q Question) {
	w := &row{Question: q, id: q.Key.String()}
	r.rows[w.id] = w
	old := r.in[w.id]
	if len(old) == 0 {
		r.queue = append(r.queue, w)
		return
	}
	w.tries = len(old) - 1
	r.enter(w, old[len(old)-1])
}

// waiting yields the rows that wait for answers of a batch.
func (r *batchRun) waiting(b *batch) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, id := range b.rows {
			if w := r.rows[id]; w != nil && w.in == b && !yield(w) {
				return
			}
		}
	}
}

// The first pause between two checks, and how pauses grow.
const (
	firstPause  = 2 * time.Second
	pauseGrowth = 1.5
)

// all runs until each row has an answer or an error.
func (r *batchRun) all(ctx context.Context) error {
	pause, created := firstPause, 0
	for {
		if err := r.submit(ctx); err != nil {
			return err
		}
		if err := r.look(ctx); err != nil {
			return err
		}
		r.observe()
		waiting := 0
		for _, b := range r.journal.batches {
			waiting += b.wanted
		}
		switch {
		case r.submits == 0 && len(r.queue) > 0 && r.room():
			continue // there may be room now, or failed rows to submit
		case waiting == 0 && len(r.queue) == 0:
			return nil
		}
		if r.progress.Batches != created {
			pause, created = firstPause, r.progress.Batches
		}
		select {
		case <-time.After(min(pause, r.Interval)):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(time.Duration(float64(pause)*pauseGrowth), r.Interval)
	}
}

// fail sets the error of a row.
func (r *batchRun) fail(w *row, err error) {
	r.leave(w)
	r.failed[failedKey(w.Wire)] = err
	r.Budget.Settle(w.Wire, llm.Response{}, err)
	r.progress.Failed++
}

// again queues a row for another submission.
func (r *batchRun) again(w *row) {
	r.leave(w)
	r.queue = append(r.queue, w)
}

// enter puts a row into a batch.
func (r *batchRun) enter(w *row, b *batch) {
	w.in = b
	b.wanted++
}

// leave takes a row out of its batch, if it is in one.
func (r *batchRun) leave(w *row) {
	if w.in != nil {
		w.in.wanted--
		w.in = nil
	}
}

// drop gives up a batch that was not created or was refused.
func (r *batchRun) drop(b *batch) error {
	for w := range r.waiting(b) {
		r.again(w)
	}
	return r.journal.note(event{Event: eventDropped, Nonce: b.nonce})
}

// maxTroubles is the number of consecutive errors, after the client's own retries, that end a run
// although another attempt may cure them.
const maxTroubles = 10

// bear counts an error that may be temporary, and returns it if there were too many.
func (r *batchRun) bear(ctx context.Context, count *int, err error) error {
	if err == nil || ctx.Err() != nil || !llm.IsAny(err, llm.ErrRateLimited, llm.ErrUnavailable, llm.ErrTimeout, llm.ErrBadAnswer) {
		return err
	}
	if *count++; *count > maxTroubles {
		return fmt.Errorf("given up after %d errors, the last: %w", *count, err)
	}
	r.progress.Trouble = err
	return nil
}

// succeeded resets the count of bear.
func (r *batchRun) succeeded(count *int) {
	*count = 0
	if r.submits == 0 && r.looks == 0 {
		r.progress.Trouble = nil
	}
}

// open returns the number of batches with answers still to come.
func (r *batchRun) open() (n int) {
	for _, b := range r.journal.batches {
		if b.wanted > 0 {
			n++
		}
	}
	return n
}

func (r *batchRun) warn(format string, args ...any) {
	if r.Warn != nil {
		r.Warn(fmt.Sprintf(format, args...))
	}
}

func (r *batchRun) observe() {
	if r.progress.Open = r.open(); r.Observe != nil {
		r.Observe(r.progress)
	}
}
