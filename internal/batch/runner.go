package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/refract-eval/refract/llm"
)

// DefaultInterval is that of Runner.
const DefaultInterval = time.Minute

// maxAttempts is how often a row is submitted at most.
const maxAttempts = 3

// Item is a request with the name of its row.
type Item struct {
	// ID stands for the request: items with equal IDs are one row. It becomes
	// the row's custom_id, and the journal holds it, so it should be a key
	// made of the request, such as a hash in hex, not the text itself.
	ID      string
	Request llm.Request
}

// Result is what became of an item.
type Result struct {
	ID string
	// Response is what llm.Client.Complete would give for the same answer;
	// one that a content filter withheld has no text, and is no error.
	Response llm.Response
	// Err says why there is no answer, after all attempts. It matches the
	// kinds of llm, such as llm.ErrContextLength, with errors.Is.
	Err error
}

// Progress counts the rows and batches of a run.
type Progress struct {
	Done    int // rows with an answer that was handed out
	Failed  int // rows with an error that was handed out
	Batches int // batches that were created, in earlier runs too
	Open    int // those of this run's rows that have not ended
	Again   int // rows submitted again in this run after they failed
	// Unusable counts the lines of output files that no row is served by:
	// broken ones, ones of unknown rows and further ones of a known row.
	Unusable int
	// Trouble is the last error that the run bears with for now; nil after
	// the next success.
	Trouble error
}

// Runner has items answered in batches. Its fields are set before Run.
type Runner struct {
	// Client calls the server; files and batches are its first server's.
	Client *llm.Client
	// Journal is the file in which the run's state is kept. It is made where
	// it is not there, and belongs to one server, endpoint and model. It
	// holds no secret and no text of a request.
	Journal string
	// Interval is the longest pause between two looks at the batches; 0
	// means DefaultInterval.
	Interval time.Duration
	// Observe is called in Run's goroutine whenever something changed; it may
	// be nil.
	Observe func(Progress)

	// For tests: smaller bounds of a batch and of the attempts; 0 for the usual
	// ones. written is called around every write to the journal.
	maxRows, maxBytes, attempts int
	written                     func(line []byte, done bool)
}

// Run asks for all items and hands each row's result to yield, exactly once
// and in Run's goroutine. It returns nil when every row has its result; the
// first error of items or of yield ends it. All items have one model.
//
// After any other end, another Run with the same journal and items goes on
// where this one stopped: it hands out all results again that it has, and
// submits what was not. Batches at the server are not cancelled by the end of
// ctx. Results of rows that are not among the items are left at the server.
// A Run after one that returned nil asks again only for rows whose result was
// an error. Remove forgets a journal once its results are stored.
//
// Another process that uses the journal gives ErrLocked, a journal of another
// server, endpoint or model ErrForeign. Errors of the server are *llm.Error.
func (r *Runner) Run(ctx context.Context, items iter.Seq2[Item, error], yield func(Result) error) error {
	if r.Client == nil || r.Journal == "" || r.Interval < 0 {
		return errors.New("a batch run needs a client, a journal file and an interval that is not negative")
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("batch run not begun: %w", err)
	}
	j, err := openJournal(r.Journal)
	if err != nil {
		return err
	}
	defer j.close()
	if r.written != nil {
		j.written = r.written
	}
	run := &run{Runner: *r, journal: j, yield: yield, rows: map[string]*row{}}
	run.Interval = cmp.Or(run.Interval, DefaultInterval)
	run.attempts = cmp.Or(run.attempts, maxAttempts)
	run.maxRows = cmp.Or(run.maxRows, llm.MaxBatchRequests)
	run.maxBytes = cmp.Or(run.maxBytes, llm.MaxBatchBytes)
	if err = run.read(items); err == nil {
		err = run.all(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("batch run ended early; the next one with journal %s goes on where it stopped: %w", r.Journal, err)
	}
	return err
}

// run is one Run.
type run struct {
	Runner
	journal *journal
	yield   func(Result) error
	model   string // of the items; "" where none has one

	rows  map[string]*row // of the items
	queue []*row          // to be submitted
	held  int             // batches that were open when the server had enough; 0 for no hold

	progress Progress
	// submits and looks count the errors since the last success.
	submits, looks int
}

// row is a row of the items.
type row struct {
	id      string
	request *llm.Request // nil after its result
	in      *batch       // where its result will be; nil while it is in none
	tries   int          // submissions that failed
}

// read reads the items, and finds in the journal which of them are in batches.
func (r *run) read(items iter.Seq2[Item, error]) error {
	var order []*row
	for item, err := range items {
		if err != nil {
			return err
		}
		model := item.Request.Model
		switch {
		case item.ID == "" || !utf8.ValidString(item.ID):
			return fmt.Errorf("the item with ID %q cannot be named in a batch: its ID is empty or not valid UTF-8", item.ID)
		case r.model != "" && model != "" && model != r.model:
			return fmt.Errorf("item %q: it has model %q after others with %q; each model needs a run and a journal of its own", item.ID, model, r.model)
		case r.rows[item.ID] == nil:
			w := &row{id: item.ID, request: &item.Request}
			r.rows[item.ID] = w
			order = append(order, w)
		}
		r.model = cmp.Or(r.model, model) // without one the client says so
	}
	if r.model != "" {
		if err := r.journal.belong(header{Server: r.Client.BatchServer(), URL: r.Client.BatchURL(), Model: r.model}); err != nil {
			return err
		}
		for _, b := range r.journal.batches {
			for w := range r.rowsOf(b) {
				if w.in != nil {
					if !w.in.released && !w.in.past {
						w.tries++
					}
					r.leave(w)
				}
				r.enter(w, b)
			}
		}
	}
	for _, w := range order {
		if w.in == nil {
			r.queue = append(r.queue, w)
		}
	}
	return nil
}

// rowsOf yields the items in a batch's file.
func (r *run) rowsOf(b *batch) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, id := range b.rows {
			if w := r.rows[id]; w != nil && !yield(w) {
				return
			}
		}
	}
}

// waiting yields the items that wait for a batch's result.
func (r *run) waiting(b *batch) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for w := range r.rowsOf(b) {
			if w.in == b && !yield(w) {
				return
			}
		}
	}
}

// The first pause between two looks, and how pauses grow.
const (
	firstPause  = 2 * time.Second
	pauseGrowth = 1.5
)

func (r *run) all(ctx context.Context) error {
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
			continue // what was read made room, or failed and is to be submitted
		case waiting == 0 && len(r.queue) == 0:
			return r.journal.finish()
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

// give hands out a result.
func (r *run) give(w *row, res Result) error {
	res.ID, w.request = w.id, nil
	r.leave(w)
	if err := r.yield(res); err != nil {
		return err
	}
	if res.Err != nil {
		r.progress.Failed++
	} else {
		r.progress.Done++
	}
	return nil
}

// again has a row submitted once more.
func (r *run) again(w *row) {
	r.leave(w)
	r.queue = append(r.queue, w)
}

// enter puts a row into a batch.
func (r *run) enter(w *row, b *batch) {
	w.in = b
	b.wanted++
}

// leave takes a row out of its batch, if it is in one.
func (r *run) leave(w *row) {
	if w.in != nil {
		w.in.wanted--
		w.in = nil
	}
}

// maxTroubles is how many errors in a row end a run that another attempt may
// cure. The client's own retries come first.
const maxTroubles = 10

// bear counts an error that may pass, and returns it when there are too many.
func (r *run) bear(ctx context.Context, count *int, err error) error {
	if ctx.Err() != nil || !passing(err) {
		return err
	}
	if *count++; *count > maxTroubles {
		return fmt.Errorf("given up after %d errors, the last: %w", *count, err)
	}
	r.progress.Trouble = err
	return nil
}

// succeeded ends what bear counts.
func (r *run) succeeded(count *int) {
	*count = 0
	if r.submits == 0 && r.looks == 0 {
		r.progress.Trouble = nil
	}
}

// passing reports whether an error may be gone at the next attempt.
func passing(err error) bool {
	for _, kind := range []error{llm.ErrRateLimited, llm.ErrUnavailable, llm.ErrTimeout, llm.ErrBadAnswer} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (r *run) observe() {
	p := &r.progress
	p.Open, p.Batches = 0, 0
	for _, b := range r.journal.batches {
		if b.id != "" {
			p.Batches++
		}
		if b.open() && b.wanted > 0 {
			p.Open++
		}
	}
	if r.Observe != nil {
		r.Observe(*p)
	}
}
