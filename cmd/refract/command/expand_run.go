package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// expandRun is one run of refract expand.
type expandRun struct {
	*expandFlags
	e      *env
	cfg    diversify.Config
	ds     refract.Dataset // the part of the input that this run expands
	prices ask.Prices
	spend  *ask.Budget
	client *llm.Client // nil where no call is made
}

func (ef *expandFlags) run(ctx context.Context, e *env, args []string) error {
	e.collectAt(200)
	cfg, err := ef.plan(e, args)
	if err != nil {
		return err
	}
	r := &expandRun{expandFlags: ef, e: e, cfg: cfg}
	if r.prices, err = ef.calls.readPrices(ef.models()...); err != nil {
		return err
	}
	if ef.batch {
		r.prices = r.prices.Batched()
	}
	r.spend = ask.NewBudget(ef.calls.limits(), r.prices)
	if r.client, err = ef.calls.asked(e, cfg.Endpoint, ""); err != nil {
		return err
	}
	whole, err := ef.data.dataset(e, args, true)
	if err != nil {
		return err
	}
	if r.ds, err = ef.shard.cut(ctx, e, args, whole); err != nil {
		return err
	}
	r.cfg.Segments, _ = dataset.Len(r.ds)
	store, end, err := ef.calls.openStore(ctx, e)
	if err != nil {
		return err
	}
	defer end()
	r.cfg.Store = store
	if err := ef.check.learn(ctx, e, args, whole, cfg.Prompts); err != nil {
		return err
	}
	if ef.calls.dryRun {
		return r.foresee(ctx)
	}
	out, done, err := ef.shard.create(ctx, e, ef.out.path)
	if done || err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	return e.unlessEmptyPart(r.expand(ctx, out), args, ef.out.path)
}

// connect sets where answers come from that the store lacks.
func (r *expandRun) connect(ctx context.Context) (err error) {
	switch {
	case r.batch:
		r.cfg.Probe = r.client
		r.cfg.Client, err = r.inBatches(ctx)
	case r.client != nil:
		r.cfg.Client, r.cfg.Budget = r.client, r.spend
	}
	return err
}

// expand runs the expansion, writes the segments, and reports the result.
func (r *expandRun) expand(ctx context.Context, out io.Writer) error {
	watch := &watcher{spend: r.spend, p: r.calls.watch(r.e.progress("expand", "variants")), segments: r.cfg.Segments}
	var asText sync.Once // the judge's model may report it again
	noJSON := false
	r.cfg.Observe, r.cfg.FormFound = watch.observe, func(why error) {
		if why != nil {
			asText.Do(func() {
				noJSON = true
				if e := (*llm.Error)(nil); errors.As(why, &e) {
					why = errors.New("it " + e.Cause()) // its hint would be misleading here
				}
				r.e.note("asking for answers as plain text, because the server gives no JSON: %v", why)
			})
		}
	}
	exp, err := diversify.New(r.cfg)
	if err != nil {
		return usagef("%w", err)
	}
	found := &findings{verdicts: map[string]int{}, alarms: map[string]int{}, yields: &selection.Yields{}}
	enc := dataset.NewEncoder(out)
	found.Summary, err = exp.Expand(ctx, r.ds, func(s *refract.Segment) error {
		s.Language = cmp.Or(r.target, s.Language)
		r.shard.part.segment(s.ID)
		err := enc.Encode(s)
		if err == nil {
			found.add(s)
		}
		return err
	})
	watch.p.Finish()
	if r.form == string(diversify.FormAuto) {
		found.nameForm(noJSON)
	}
	if err == nil {
		err = r.unwritten(found)
	}
	if r.form == string(diversify.FormJSON) && ask.Refuses(err) {
		err = fmt.Errorf("%w; --form text asks for plain text, without a schema", err)
	}
	if err == nil {
		err = r.shard.end(r.e)
	}
	return r.conclude(ctx, watch, found, err)
}

// unwritten is why nothing is written although the run went through; nil if it is written.
func (r *expandRun) unwritten(found *findings) error {
	switch {
	case found.Segments > 0 && found.References == 0 && r.shard.part == nil:
		return fmt.Errorf("no reference of %s has a text to expand, so nothing is written: look at the references", english.Thousands(found.Segments, "segment"))
	case found.Unanswered > 0 && found.Calls+found.Cached == 0:
		return fmt.Errorf("every request was refused (%s), so nothing is written; the first: %w", english.Thousands(found.Unanswered, "request"), found.Refused)
	case found.Unanswered > 0 && r.shard.part != nil: // a part is complete or does not exist
		return fmt.Errorf("%s got no answer, so the part is not written; run the same command again", english.Thousands(found.Unanswered, "request"))
	}
	return nil
}

// conclude reports what a run did and how to continue, and returns why it failed.
func (r *expandRun) conclude(ctx context.Context, watch *watcher, found *findings, err error) error {
	var lacking error
	if err == nil || found.Segments > 0 {
		found.noteAll(r.e, r.cfg.Check != nil)
		lacking = r.lacking(found)
		// What other shards or a later run may still find is not a failure.
		if short, _ := found.yields.Below(r.cfg.Complete); lacking != nil && (err != nil || r.shard.part != nil && short == 0 || found.Unanswered > 0) {
			r.e.warn("%v", lacking)
			lacking = nil
		}
	}
	if now := watch.last; err != nil && now.Calls > 0 {
		answers := now.Calls + now.Cached - now.Judged - now.Resampled - now.Enlarged
		if left := watch.wanted - answers - now.Failed; left > 0 {
			r.e.note("of %s wanted, answered: %d; failed: %d; left: %d", english.Thousands(watch.wanted, "variant"), answers, now.Failed, left)
		}
	}
	r.calls.ended(ctx, r.e, r.spend.Spent(), found.Calls, err)
	if err == nil {
		found.noteCoverage(r.e, r.cfg.Check != nil, r.cfg.Complete)
	}
	if err == nil && found.Unanswered > 0 {
		return fmt.Errorf("%s got no answer; %s names them with the verdict %q and the reason; run the same command again",
			english.Thousands(found.Unanswered, "request"), cmp.Or(r.out.path, "the output"), diversify.Failed)
	}
	if r.shard.part == nil {
		r.e.suggestNext(r.out.path, "check", "jsonl:"+r.out.path)
	}
	return cmp.Or(err, lacking)
}

// lacking is the error that segments have too few variants, or that no answer has a
// text.
func (r *expandRun) lacking(found *findings) error {
	done := cmp.Or(r.shard.file, r.out.path, "the output") + " is written"
	if short, named := found.yields.Below(r.cfg.Complete); short > 0 {
		if named != "" {
			named = ", " + named
		}
		return fmt.Errorf("segments with fewer than %s: %d%s; they lack %s; %s; run the same command on the output, or name other --prompts",
			english.Count(r.cfg.Complete, "accepted variant"), short, named, english.Count(found.yields.Lack(r.cfg.Complete), "variant"), done)
	}
	all := found.rejected
	every := func(n int) bool { return all > 0 && n == all }
	if most := slices.Max(append(found.yields.Numbers(), 0)); most > 0 || all == found.verdicts[diversify.Failed] && found.NoText == 0 {
		return nil
	}
	why, remedy := "no answer was accepted: "+counted(found.verdicts), "look at an answer, or take another model"
	switch {
	case every(found.full):
		why = fmt.Sprintf("every answer was cut at %d tokens", r.cfg.MaxTokens<<expandEnlarge)
		remedy = fmt.Sprintf("raise --max-tokens, to %d for a model that thinks before it answers", max(8192, r.cfg.MaxTokens<<(expandEnlarge+1)))
	case r.judge != "" && found.verdicts[diversify.Unjudged] > 0 && found.verdicts[diversify.NotEquivalent] == 0:
		remedy = fmt.Sprintf("the judge %s gave no verdict, so take another --judge", r.judge)
	case every(found.verdicts[diversify.NotJSON]):
		why, remedy = "no answer is the JSON that was asked for", "ask for plain text with --form text"
	case every(found.reasoning):
		why = "the server puts every answer into its field for reasoning, and none into the content"
		remedy = `start the server without a parser of reasoning (vLLM and SGLang: --reasoning-parser), or switch thinking off, such as with --extra '{"chat_template_kwargs":{"enable_thinking":false}}'`
	case found.NoText > 0 && found.NoText >= all:
		why = fmt.Sprintf("no answer has any text: empty, or withheld by the server: %d", found.NoText)
	}
	return fmt.Errorf("%s; %s; %s", why, done, remedy)
}

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
		Journal: journal, Warn: func(m string) { r.e.warn("%s", m) },
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
		r.e.note("Batch API: %s submitted in %s, %d answered, %d failed, %d sent again",
			english.Count(last.Rows, "row"), english.Count(last.Batches, "batch", "batches"), last.Done, last.Failed, last.Again)
	}
	return filled, err
}

// fixed formats a share or a cost in a table of counts.
func fixed(v float64) report.Value { return report.String(strconv.FormatFloat(v, 'f', 4, 64)) }

// foresee prints how many calls a run would make, and what they may cost.
func (r *expandRun) foresee(ctx context.Context) error {
	exp, err := diversify.New(r.cfg)
	if err != nil {
		return usagef("%w", err)
	}
	o, err := exp.Plan(ctx, r.ds, nil)
	if err != nil {
		return err
	}
	all := o.Stored + o.Needed + o.Equal
	cost := report.Null()
	if price, ok := r.prices[r.cfg.Model]; ok {
		judge := r.prices[cmp.Or(r.judge, r.cfg.Model)]
		cost = fixed(price.Cost(o.PromptTokens-o.JudgePromptTokens, o.CompletionTokens-o.JudgeCompletionTokens) +
			judge.Cost(o.JudgePromptTokens, o.JudgeCompletionTokens))
	}
	const estimate = "estimated by the length of the texts"
	t := &report.NamedTable{Title: "what is to come", Columns: []report.Column{{Name: "what"}, {Name: "value"}, {Name: "how"}}}
	t.Add("segments", strconv.Itoa(o.Segments), "")
	t.Add("references", strconv.Itoa(o.References), "")
	t.Add("references without a text", strconv.Itoa(o.Textless), "not expanded")
	t.Add("answers", strconv.Itoa(all), "known to be asked for")
	t.Add("stored answers", strconv.Itoa(o.Stored), r.calls.storedIn())
	t.Add("calls", strconv.Itoa(o.Needed), "before any answer is rejected")
	if r.judge != "" {
		t.Add("calls to the judge", strconv.Itoa(o.JudgeCalls), "of these, without second ones")
	}
	t.Add("prompt tokens", strconv.Itoa(o.PromptTokens), estimate)
	t.Add("completion tokens", strconv.Itoa(o.CompletionTokens), estimate)
	t.Add("cost", cost, "estimated, before any answer is rejected, in the currency of --prices")
	out := r.out.onScreen() // -o names the dataset
	err = out.show(r.e, t)
	if err == nil && r.prices == nil {
		r.e.note("the cost is unknown: give the price of the model with --prices")
	}
	return err
}
