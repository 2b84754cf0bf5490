package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

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

	// For tests: the bounds of a batch, smaller than the server's, and of the
	// attempts; 0 for the usual ones. written is called around every write to
	// the journal.
	maxRows, maxBytes, attempts int
	written                     func(line []byte, done bool)
}

var errNoClient = errors.New("a batch run needs a client and a journal file")

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
	if r.Client == nil || r.Journal == "" {
		return errNoClient
	}
	if r.Interval < 0 {
		return errors.New("the interval of a batch run is negative")
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("batch run not begun: %w", err)
	}
	j, err := openJournal(r.Journal)
	if err != nil {
		return err
	}
	defer j.close()
	j.written = r.written
	next, stop := iter.Pull2(items)
	defer stop()
	run := newRun(r, j, next, yield)
	err = run.all(ctx)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("batch run ended early; the next one with journal %s goes on where it stopped: %w", r.Journal, err)
	}
	return err
}

// run is one Run.
type run struct {
	Runner
	journal *journal
	next    func() (Item, error, bool)
	yield   func(Result) error
	model   string // of the items; "" before the first

	rows    map[string]*row
	reading bool     // there may be further items
	queue   []string // rows to submit again
	file    file     // the batch that is being built
	wanted  int      // rows of the items that are in batches, without a result
	held    int      // batches that were open when the server had enough; 0 for no hold

	progress Progress
	// submits and looks count the errors since the last success.
	submits, looks int
}

// row is a row of the items or of the journal.
type row struct {
	request *llm.Request // nil before its item was read and after its result
	in      *batch       // where its result will be; nil while it is in none
	tries   int          // submissions that failed
	read    bool         // it is one of the items
}

func newRun(r *Runner, j *journal, next func() (Item, error, bool), yield func(Result) error) *run {
	out := &run{Runner: *r, journal: j, next: next, yield: yield, reading: true, rows: map[string]*row{}}
	out.Interval = cmp.Or(out.Interval, DefaultInterval)
	out.attempts = cmp.Or(out.attempts, maxAttempts)
	out.maxRows = cmp.Or(out.maxRows, llm.MaxBatchRequests)
	out.maxBytes = cmp.Or(out.maxBytes, llm.MaxBatchBytes)
	return out
}

// The first pause between two looks, and how pauses grow.
const (
	firstPause  = 2 * time.Second
	pauseGrowth = 1.5
)

func (r *run) all(ctx context.Context) error {
	pause, created := firstPause, 0
	for {
		if err := r.fill(ctx); err != nil {
			return err
		}
		if r.model == "" {
			return nil // nothing that could be in a batch, and nobody's journal
		}
		if err := r.look(ctx); err != nil {
			return err
		}
		r.observe()
		switch {
		case r.ready():
			// What was read made room, or failed and is to be submitted.
			continue
		case !r.reading && r.wanted == 0 && r.unsubmitted() == 0:
			return r.journal.finish()
		}
		if r.progress.Batches != created {
			pause, created = firstPause, r.progress.Batches
		}
		if err := sleep(ctx, min(pause, r.Interval)); err != nil {
			return err
		}
		pause = min(time.Duration(float64(pause)*pauseGrowth), r.Interval)
	}
}

// ready reports whether fill would do something now, after a good look.
func (r *run) ready() bool {
	return r.submits == 0 && (r.reading || r.unsubmitted() > 0) && r.room()
}

// unsubmitted is the number of rows that are read and in no batch.
func (r *run) unsubmitted() int { return len(r.queue) + len(r.file.ids) }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// give hands out a result.
func (r *run) give(id string, w *row, res Result) error {
	res.ID = id
	w.request = nil
	if w.in != nil {
		r.leave(w)
	}
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

// enter puts a row of the items into a batch.
func (r *run) enter(w *row, b *batch) {
	w.in = b
	b.wanted++
	r.wanted++
}

// leave takes a row of the items out of its batch.
func (r *run) leave(w *row) {
	w.in.wanted--
	r.wanted--
	w.in = nil
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
