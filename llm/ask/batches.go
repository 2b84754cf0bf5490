package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
)

// Batches fills a store through the Batch API before the jobs run: at a lower price, within a day,
// and over any number of restarts.
//
// The requests are divided into batches of one model within the server's limits. For each batch, a
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
	Plan   func(ctx context.Context, need func(Question) error) error
	Models []string // all models of the questions
	// Journal is the file that records the open batches. It contains no secret and no text of a
	// request.
	Journal  string
	Interval time.Duration // longest pause between two checks of open batches; 0 means a minute
	Time     time.Duration // limit on the whole run, 0 for none; open batches then continue on the server
	// Observe, if not nil, is called with the progress of rows and batches, from one
	// goroutine.
	Observe func(now BatchProgress)

	LeftOut func(what string, earlier bool) // see Config
	Warn    func(message string)            // of what a server does wrong that ends nothing; or nil

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
	r := &batchRun{Batches: b, most: b.maxRows, rows: map[string]*row{}, in: map[string][]*batch{}}
	defer func() {
		if r.journal != nil {
			_ = r.journal.f.Close()
		}
	}()
	for {
		asked, err := r.round(ctx)
		switch {
		case err != nil && errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		case asked > 0:
		case r.journal == nil:
			return b.failed, nil
		default:
			if err := os.Remove(b.Journal); err != nil {
				return nil, fmt.Errorf("remove the batch journal: %w", err)
			}
			return b.failed, nil
		}
	}
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
