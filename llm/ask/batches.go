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

// Batches fills a store through the Batch API before the jobs run: at a lower price, within a day,
// and over any number of restarts.
//
// The requests of a model are divided into batches within the server's limits. For each batch, a
// file is uploaded, the batch is created and polled until it has ended, and its answers are stored.
// Rows whose failure another attempt may cure are submitted again.
//
// A run can be killed at any moment: a journal records the batches, and the next run continues
// with them. If the last run ended while creating a batch, the server's list tells whether it
// exists. So no row is submitted and paid for twice unless it failed.
type Batches struct {
	Client *llm.Client // files and batches are on its first server
	Store  cache.Store
	Budget *Budget
	// Plan calls need with every question whose answer is not stored; an error of need ends
	// it.
	Plan func(ctx context.Context, need func(Question) error) error
	// Journals names, for each model, the file that records the open batches. It contains no
	// secret and no text of a request.
	Models   []string
	Journals []string
	Interval time.Duration // longest pause between two checks of open batches; 0 means a minute
	Time     time.Duration // limit on the whole run, 0 for none; open batches then continue on the server
	// Observe, if not nil, is called with the progress of rows and batches, from one
	// goroutine.
	Observe func(now BatchProgress)

	LeftOut func(what string, earlier bool) // see Config

	// For tests: smaller bounds on batches and attempts; 0 for the usual ones. written is
	// called around every write to a journal.
	maxRows, maxBytes, attempts int
	written                     func(line []byte, done bool)

	refused  *refusals
	failed   failedRows
	progress BatchProgress
}

// defaultInterval is the default of Batches.Interval.
const defaultInterval = time.Minute

// Limits of the Batch API for one batch.
const (
	maxBatchRows  = 50_000
	maxBatchBytes = 200_000_000
)

// maxAttempts is the maximum number of submissions of a row.
const maxAttempts = 3

// BatchProgress counts rows and batches.
type BatchProgress struct {
	Rows    int // rows asked for
	Done    int // rows with a stored answer
	Failed  int // rows with an error
	Batches int // batches created, including earlier runs
	Open    int // batches that have not ended
	Again   int // rows submitted again after a failure
	// Trouble is the last error that the run tolerates for now; nil after the next
	// success.
	Trouble error
}

// errEnough ends the planning of batches when the budget is used up.
var errEnough = errors.New("enough")

// Fill asks for all missing answers, round by round, until none is needed. It returns a client that
// repeats the errors of the rows without an answer.
func (b *Batches) Fill(ctx context.Context) (Completer, error) {
	if b.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, b.Time,
			fmt.Errorf("%w: the time limit of %v has passed; open batches continue at the server", ErrSpent, b.Time))
		defer cancel()
	}
	b.failed, b.refused = failedRows{}, newRefusals(b.Store, b.LeftOut)
	b.Interval = cmp.Or(b.Interval, defaultInterval)
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

// round asks for the answers needed now, and returns the number of requests.
func (b *Batches) round(ctx context.Context, runs map[string]*batchRun) (asked int, err error) {
	var spent error
	err = b.Plan(ctx, func(q Question) error {
		if b.failed[failedKey(q.Wire)] != nil {
			return nil
		}
		if _, spent = b.Budget.take(q.Wire); spent != nil {
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
				err = fmt.Errorf("batch run ended early; the next run with journal %s continues where it stopped: %w", r.journal.path, err)
			}
			return asked, err
		}
	}
	if asked > 0 {
		return asked, nil // they cost less than was reserved for them, so more may fit
	}
	return 0, spent
}

// run returns the run of a model's batches, a new one if there is none yet.
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
	r := &batchRun{Batches: b, journal: j, most: b.maxRows, rows: map[string]*row{}, in: map[string][]*batch{}}
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

// failedRows is a client that repeats the errors of failed rows.
type failedRows map[string]error

func failedKey(r llm.Request) string {
	return fmt.Sprintf("%q %d %q %q %q", r.Model, r.MaxTokens, r.Prompt, r.Messages, r.Omit)
}

// Complete returns the error of the row.
func (f failedRows) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	if err := f[failedKey(r)]; err != nil {
		return llm.Response{}, &llm.Blamed{Err: err, On: llm.BlameRequest} // other rows have answers
	}
	return llm.Response{}, errors.New("the batches gave no answer to this request")
}
