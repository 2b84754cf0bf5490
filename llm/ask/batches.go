package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/batch"
	"github.com/refract-eval/refract/internal/budget"
	"github.com/refract-eval/refract/llm"
)

// Batches fills a store through the Batch API, before the jobs run.
type Batches struct {
	Client *llm.Client
	Store  cache.Store
	Budget *budget.Budget
	// Plan calls need with every question whose answer the store lacks; an
	// error of need ends it.
	Plan func(ctx context.Context, need func(Question) error) error
	// Journals name, for each model, the file that says which batches are open.
	Models   []string
	Journals []string
	Interval time.Duration // longest pause between two looks at open batches
	Time     time.Duration // limit of the whole, 0 for none; what is open then goes on at the server
	// Observe, if it is not nil, is told of what becomes of rows and batches, in
	// all rounds so far. It is called from one goroutine at a time.
	Observe func(now BatchProgress)

	failed failedRows
	past   BatchProgress // of the rounds that are over
}

// BatchProgress counts the rows and batches of all rounds.
type BatchProgress struct {
	batch.Progress
	Rows int // that were asked for
}

// errEnough ends the planning of batches where the budget does.
var errEnough = errors.New("enough")

// Fill asks for all that the store lacks, round by round, until nothing is
// needed. It returns a client that fails as the rows did that have no answer.
func (b *Batches) Fill(ctx context.Context) (Completer, error) {
	if b.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, b.Time,
			fmt.Errorf("%w: the time of %v has passed; batches that are open go on at the server", budget.ErrSpent, b.Time))
		defer cancel()
	}
	b.failed = failedRows{}
	for {
		n := 0
		for i, model := range b.Models {
			asked, err := b.round(ctx, model, b.Journals[i])
			if err != nil && errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return nil, err
			}
			n += asked
		}
		if n == 0 {
			var err error
			for _, journal := range b.Journals {
				err = errors.Join(err, batch.Remove(journal))
			}
			return b.failed, err
		}
	}
}

// round asks a model for what is needed now, and returns the number of
// requests.
func (b *Batches) round(ctx context.Context, model, journal string) (int, error) {
	asked := 0
	waiting := map[string]Question{}
	var spent error
	var now batch.Progress
	sum := func() BatchProgress {
		all := b.past
		all.Rows += asked
		all.Done += now.Done
		all.Failed += now.Failed
		if asked > 0 { // else they are those of the round before
			all.Batches += now.Batches
		}
		all.Again += now.Again
		all.Unusable += now.Unusable
		all.Open, all.Trouble = now.Open, now.Trouble
		return all
	}
	defer func() { b.past = sum() }()
	r := &batch.Runner{Client: b.Client, Journal: journal, Interval: b.Interval, Observe: func(p batch.Progress) {
		if now = p; b.Observe != nil {
			b.Observe(sum())
		}
	}}
	items := func(yield func(batch.Item, error) bool) {
		err := b.Plan(ctx, func(n Question) error {
			if n.Wire.Model != model || b.failed.has(n.Wire) {
				return nil
			}
			if err := b.Budget.TryTake(n.Wire); err != nil {
				spent = err
				return errEnough
			}
			asked++
			id := n.Key.String()
			waiting[id] = n
			if !yield(batch.Item{ID: id, Request: n.Wire}, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(batch.Item{}, err)
		}
	}
	// A store commits many answers at the price of one.
	answers := cache.NewAnswers(b.Store)
	puts, storing := errgroup.WithContext(ctx)
	puts.SetLimit(64)
	err := r.Run(ctx, iter.Seq2[batch.Item, error](items), func(res batch.Result) error {
		need := waiting[res.ID]
		delete(waiting, res.ID)
		b.Budget.Settle(need.Wire, res.Response, res.Err)
		if res.Err != nil {
			b.failed.add(need.Wire, res.Err)
			return nil
		}
		puts.Go(func() error {
			_, err := answers.Put(storing, Entry(need.Request, res.Response))
			return err
		})
		return storing.Err()
	})
	if failed := puts.Wait(); failed != nil {
		err = failed
	}
	if err == nil {
		err = spent
	}
	return asked, err
}

// failedRows is a client that repeats how rows of batches have failed.
type failedRows map[string]error

func failedKey(r llm.Request) string {
	return fmt.Sprintf("%q %d %q %q", r.Model, r.MaxTokens, r.Prompt, r.Messages)
}

func (f failedRows) has(r llm.Request) bool { return f[failedKey(r)] != nil }

func (f failedRows) add(r llm.Request, err error) { f[failedKey(r)] = err }

// Complete fails as the row did.
func (f failedRows) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	if err := f[failedKey(r)]; err != nil {
		return llm.Response{}, err
	}
	return llm.Response{}, errors.New("the batches gave no answer to this request")
}
