package command

import (
	"context"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/ask"
)

// inBatches asks the Batch API for everything that the store lacks.
func (r *expandRun) inBatches(ctx context.Context) (ask.Completer, error) {
	exp, err := diversify.New(r.cfg)
	if err != nil {
		return nil, usagef("%w", err)
	}
	progress := r.e.progress("batches", "rows")
	defer progress.Finish()
	journal := "refract-cache.batches"
	if !cache.IsPostgres(r.calls.cache) {
		journal = r.calls.cache + ".batches"
	}
	var last ask.BatchProgress
	b := &ask.Batches{
		Client: r.client, Store: r.cfg.Store, Budget: r.spend, Models: r.models(), Time: r.calls.maxTime, LeftOut: r.cfg.LeftOut,
		Journal: journal,
		Plan: func(ctx context.Context, need func(ask.Question) error) error {
			_, err := exp.Plan(ctx, r.ds, need)
			return err
		},
		Observe: func(now ask.BatchProgress) {
			progress.Total(now.Rows)
			progress.Add(now.Done + now.Failed - last.Done - last.Failed)
			progress.Count("failed", now.Failed-last.Failed)
			progress.Count("sent again", now.Again-last.Again)
			progress.Count("open batches", now.Open-last.Open)
			showCost(progress, r.spend)
			if now.Trouble != nil && last.Trouble == nil {
				progress.Println("for now: " + now.Trouble.Error())
			}
			last = now
		},
	}
	filled, err := b.Fill(ctx)
	progress.Finish()
	if last.Rows > 0 {
		r.e.note("Batch API: %d rows submitted in %s, %d answered, %d failed, %d sent again",
			last.Rows, english.Count(last.Batches, "batch", "batches"), last.Done, last.Failed, last.Again)
	}
	return filled, err
}
