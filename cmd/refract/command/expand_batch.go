package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/batch"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/report"
)

// batchFlags say whether and how the Batch API is used.
type batchFlags struct {
	batch         bool
	batchState    string
	batchInterval time.Duration
}

func (b *batchFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&b.batch, "batch", false, "send the calls through the server's Batch API")
	f.StringVar(&b.batchState, "batch-state", "", "file that says which batches are open (default: the cache's name with .batches)")
	f.DurationVar(&b.batchInterval, "batch-interval", batch.DefaultInterval, "longest pause between two looks at open batches")
	grouped(cmd, modelFlags, "batch")
}

// errEnough ends the planning of batches where the budget does.
var errEnough = errors.New("enough")

// batchRun fills a store through the Batch API.
type batchRun struct {
	exp      *diversify.Expander
	ds       refract.Dataset
	store    cache.Store
	spend    *budget.Budget
	progress *report.Progress
	failed   failedRows
}

// inBatches asks for all that the store lacks, round by round, until nothing
// is needed. It returns a client that answers for the rows that failed.
func (x *expander) inBatches(ctx context.Context, e *env, cfg diversify.Config, ds refract.Dataset, client *llm.Client, spend *budget.Budget) (ask.Completer, error) {
	exp, err := diversify.New(cfg)
	if err != nil {
		return nil, usagef("%w", err)
	}
	if x.maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, x.maxTime,
			fmt.Errorf("%w: the time of %v has passed; batches that are open go on at the server", budget.ErrSpent, x.maxTime))
		defer cancel()
	}
	progress := e.progress("batches", 0, "rows")
	defer progress.Finish()
	run := &batchRun{exp: exp, ds: ds, store: cfg.Store, spend: spend, progress: progress, failed: failedRows{}}
	state := x.batchState
	if state == "" {
		state = "refract-cache.batches"
		if !cache.IsPostgres(x.cache) {
			state = x.cache + ".batches"
		}
	}
	// A journal is that of one model.
	journals := map[string]string{}
	for i, model := range x.models() {
		journals[model] = state + []string{"", ".judge"}[i]
	}
	for {
		n := 0
		var err error
		for _, model := range x.models() {
			if err == nil {
				var asked int
				asked, err = run.round(ctx, &batch.Runner{Client: client, Journal: journals[model], Interval: x.batchInterval}, model)
				n += asked
			}
		}
		switch {
		case err != nil && errors.Is(err, context.DeadlineExceeded) && context.Cause(ctx) != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		case n == 0:
			for _, journal := range journals {
				err = errors.Join(err, batch.Remove(journal))
			}
			return run.failed, err
		}
	}
}

// round asks a model for what is needed now, and returns the number of
// requests.
func (b *batchRun) round(ctx context.Context, r *batch.Runner, model string) (int, error) {
	asked := 0
	waiting := map[string]ask.Question{}
	var spent error
	var last batch.Progress
	r.Observe = func(now batch.Progress) {
		b.progress.Count("failed", now.Failed-last.Failed)
		b.progress.Count("sent again", now.Again-last.Again)
		b.progress.Count("open batches", now.Open-last.Open)
		if now.Trouble != nil && last.Trouble == nil {
			b.progress.Println("for now: " + now.Trouble.Error())
		}
		last = now
	}
	items := func(yield func(batch.Item, error) bool) {
		_, err := b.exp.Plan(ctx, b.ds, func(n ask.Question) error {
			if n.Wire.Model != model || b.failed.has(n.Wire) {
				return nil
			}
			if err := b.spend.TryTake(n.Wire); err != nil {
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
	answers := cache.NewAnswers(b.store)
	puts, storing := errgroup.WithContext(ctx)
	puts.SetLimit(64)
	err := r.Run(ctx, iter.Seq2[batch.Item, error](items), func(res batch.Result) error {
		need := waiting[res.ID]
		delete(waiting, res.ID)
		b.spend.Settle(need.Wire, res.Response, res.Err)
		b.progress.Add(1)
		if res.Err != nil {
			b.failed.add(need.Wire, res.Err)
			return nil
		}
		puts.Go(func() error {
			_, err := answers.Put(storing, ask.Entry(need.Request, res.Response))
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
	return fmt.Sprint(r.Model, "\x00", r.MaxTokens, "\x00", r.Prompt)
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
