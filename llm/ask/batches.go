package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// Batches fills a store through the Batch API, before the jobs run: at a lower
// price, within a day, and over any number of restarts.
//
// The requests of a model are cut into batches within the server's limits. A file
// is uploaded, its batch created, and polled until it has ended; then its answers
// are stored. Rows that failed in a way that another attempt may cure are submitted
// again.
//
// A run can be killed at any moment: a journal says which batches there are, and
// the next run takes them up. Where the last one ended while it created a batch, the
// server's list of batches tells whether there is one. So no row is submitted, and
// paid for, twice unless it failed.
type Batches struct {
	Client *llm.Client // files and batches are its first server's
	Store  cache.Store
	Budget *Budget
	// Plan calls need with every question whose answer the store lacks; an
	// error of need ends it.
	Plan func(ctx context.Context, need func(Question) error) error
	// Journals name, for each model, the file that says which batches are open.
	// They hold no secret and no text of a request.
	Models   []string
	Journals []string
	Interval time.Duration // longest pause between two looks at open batches; 0 means DefaultInterval
	Time     time.Duration // limit of the whole, 0 for none; what is open then goes on at the server
	// Observe, if it is not nil, is told of what becomes of rows and batches. It is
	// called from one goroutine.
	Observe func(now BatchProgress)

	LeftOut func(what string) // see Config

	// For tests: smaller bounds of a batch and of the attempts; 0 for the usual
	// ones. written is called around every write to a journal.
	maxRows, maxBytes, attempts int
	written                     func(line []byte, done bool)

	refused  *refusals
	failed   failedRows
	progress BatchProgress
}

// DefaultInterval is that of Batches.
const DefaultInterval = time.Minute

// Limits of the Batch API for one batch.
const (
	maxBatchRows  = 50_000
	maxBatchBytes = 200_000_000
)

// maxAttempts is how often a row is submitted at most.
const maxAttempts = 3

// BatchProgress counts rows and batches.
type BatchProgress struct {
	Rows    int // that were asked for
	Done    int // of these, with an answer that is stored
	Failed  int // and those with an error
	Batches int // batches that were created, in earlier runs too
	Open    int // those that have not ended
	Again   int // rows submitted again after they failed
	// Trouble is the last error that the run bears with for now; nil after
	// the next success.
	Trouble error
}

// errEnough ends the planning of batches where the budget does.
var errEnough = errors.New("enough")

// Fill asks for all that the store lacks, round by round, until nothing is
// needed. It returns a client that fails as the rows did that have no answer.
func (b *Batches) Fill(ctx context.Context) (Completer, error) {
	if b.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, b.Time,
			fmt.Errorf("%w: the time limit of %v has passed; open batches continue at the server", ErrSpent, b.Time))
		defer cancel()
	}
	b.failed, b.refused = failedRows{}, newRefusals(b.Store, b.LeftOut)
	b.Interval = cmp.Or(b.Interval, DefaultInterval)
	b.attempts = cmp.Or(b.attempts, maxAttempts)
	b.maxRows = cmp.Or(b.maxRows, maxBatchRows)
	b.maxBytes = cmp.Or(b.maxBytes, maxBatchBytes)
	runs := map[string]*batchRun{}
	defer func() {
		for _, r := range runs {
			_ = r.journal.f.Close()
		}
	}()
	for {
		asked, err := b.round(ctx, runs)
		if err != nil && errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		if asked == 0 {
			break
		}
	}
	for _, r := range runs {
		if err := os.Remove(r.journal.path); err != nil {
			return nil, fmt.Errorf("remove the batch journal: %w", err)
		}
	}
	return b.failed, nil
}

// round asks for what is needed now, and returns the number of requests.
func (b *Batches) round(ctx context.Context, runs map[string]*batchRun) (asked int, err error) {
	var spent error
	err = b.Plan(ctx, func(q Question) error {
		if b.failed[failedKey(q.Wire)] != nil {
			return nil
		}
		if spent = b.Budget.TryTake(q.Wire); spent != nil {
			return errEnough
		}
		asked++
		r, err := b.run(q.Wire.Model, runs)
		if err != nil {
			return err
		}
		r.add(q)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return asked, err
	}
	b.progress.Rows += asked
	for _, model := range b.Models {
		r := runs[model]
		if r == nil {
			continue
		}
		if err := r.all(ctx); err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("batch run ended early; the next one with journal %s goes on where it stopped: %w", r.journal.path, err)
			}
			return asked, err
		}
	}
	if asked > 0 {
		return asked, nil // they cost less than what was kept back for them, so that more may fit
	}
	return 0, spent
}

// run is the run of a model's batches.
func (b *Batches) run(model string, runs map[string]*batchRun) (*batchRun, error) {
	if r := runs[model]; r != nil {
		return r, nil
	}
	i := slices.Index(b.Models, model)
	if i < 0 {
		return nil, fmt.Errorf("there is no batch journal for model %q", model)
	}
	j, err := openJournal(b.Journals[i], journalHead{Server: b.Client.BatchServer(), URL: b.Client.BatchURL(), Model: model}, b.written)
	if err != nil {
		return nil, err
	}
	r := &batchRun{Batches: b, journal: j, rows: map[string]*row{}, in: map[string][]*batch{}}
	for _, old := range j.batches {
		if old.id != "" {
			b.progress.Batches++
		}
		for _, id := range old.rows {
			r.in[id] = append(r.in[id], old)
		}
	}
	runs[model] = r
	return r, nil
}

// failedRows is a client that repeats how rows of batches have failed.
type failedRows map[string]error

// rowError is how a row failed: it ends no run, as the others have answers.
type rowError struct{ error }

func (e *rowError) Unwrap() error { return e.error }

func failedKey(r llm.Request) string {
	return fmt.Sprintf("%q %d %q %q %q", r.Model, r.MaxTokens, r.Prompt, r.Messages, r.Omit)
}

// Complete fails as the row did.
func (f failedRows) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	if err := f[failedKey(r)]; err != nil {
		return llm.Response{}, &rowError{err}
	}
	return llm.Response{}, errors.New("the batches gave no answer to this request")
}
