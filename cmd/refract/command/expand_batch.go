package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/llm/batch"
	"github.com/refract-eval/refract/llm/budget"
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
	f.StringVar(&b.batchState, "batch-state", "", "`FILE` that lists open batches (default the cache's name with .batches)")
	f.DurationVar(&b.batchInterval, "batch-interval", batch.DefaultInterval, "longest pause between two looks at open batches")
	grouped(cmd, modelFlags, "batch")
}

// inBatches asks for all that the store lacks through the Batch API.
func (x *expander) inBatches(ctx context.Context, e *env, ds refract.Dataset, client *llm.Client, spend *budget.Budget) (ask.Completer, error) {
	exp, err := diversify.New(x.Config)
	if err != nil {
		return nil, usagef("%w", err)
	}
	progress := e.progress("batches", 0, "rows")
	defer progress.Finish()
	state := x.batchState
	if state == "" {
		state = "refract-cache.batches"
		if !cache.IsPostgres(x.cache) {
			state = x.cache + ".batches"
		}
	}
	var last batch.Progress
	b := &ask.Batches{
		Client: client, Store: x.Store, Budget: spend, Models: x.models(), Interval: x.batchInterval, Time: x.maxTime,
		Journals: []string{state, state + ".judge"}[:len(x.models())],
		Plan: func(ctx context.Context, need func(ask.Question) error) error {
			_, err := exp.Plan(ctx, ds, need)
			return err
		},
		Observe: func(rows int, now batch.Progress) {
			progress.Add(rows)
			progress.Count("failed", now.Failed-last.Failed)
			progress.Count("sent again", now.Again-last.Again)
			progress.Count("open batches", now.Open-last.Open)
			if now.Trouble != nil && last.Trouble == nil {
				progress.Println("for now: " + now.Trouble.Error())
			}
			last = now
		},
	}
	return b.Fill(ctx)
}
