package command

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/llm/ask"
)

// answered counts the answers of models that a run waits for.
type answered struct {
	mu             sync.Mutex
	called, stored int   // by calls of this run, and from the cache or equal to another
	failed         int   // requests that no answer came to
	tolerated      int   // of them, those that failed by themselves
	why            error // the first of these errors
}

// add counts an answer, and shows that it has come.
func (a *answered) add(p *report.Progress, spend *ask.Budget, r ask.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case r.Err != nil: // asked, refused, or shared with another request
		a.failed++
		p.Count("failed", 1)
		p.Add(1)
		if r.Tolerated { // any other error ends the run, which reports it
			if a.tolerated++; a.why == nil {
				a.why = r.Err
			}
		}
	case !r.Called:
		a.stored++
		p.AddCached(1)
	default:
		a.called++
		p.Add(1)
		p.Count("tokens", r.Answer.PromptTokens+r.Answer.CompletionTokens)
		showCost(p, spend)
	}
}

// showCost shows what calls have cost so far.
func showCost(p *report.Progress, spend *ask.Budget) {
	if s := spend.Spent(); s.Priced {
		p.Note("cost", fmt.Sprintf("%.4f", s.Cost))
	}
}

// note reports where the answers came from; of names what they are about, or is "".
func (a *answered) note(e *env, of string) {
	failed := ""
	if a.failed > 0 {
		failed = fmt.Sprintf(", %d failed", a.failed)
	}
	if n := a.called + a.stored; n+a.failed > 0 {
		e.note("%s: %d by calls, %d from the cache or equal to others%s", english.Thousands(n, "answer"+of, "answers"+of), a.called, a.stored, failed)
	}
	if a.tolerated > 0 {
		first := fmt.Sprintf(". The first: %v", a.why)
		if of != "" {
			first = "" // the engine already names the cells
		}
		e.warn("%s failed; the next run asks for them again%s", english.Thousands(a.tolerated, "request"), first)
	}
}

// ended reports what the calls cost and, if the run failed with answers stored, the
// command that continues it.
func (c *callFlags) ended(ctx context.Context, e *env, spent ask.Spent, called int, err error) {
	if spent.Priced && spent.Calls > 0 {
		e.note("the calls cost %.4f", spent.Cost)
	}
	if spent.Guessed > 0 && spent.Priced {
		e.warn("answers without token counts, each counted at its highest possible cost: %d", spent.Guessed)
	}
	if err == nil || errors.Is(err, ask.ErrNotStored) || errors.Is(err, embeddings.ErrNotStored) || called == 0 && ctx.Err() == nil {
		return
	}
	e.note("%d answers of this run are stored in %s; this command continues:", called, c.storedIn())
	e.note("  refract %s", redact.CommandLine(e.args))
	if redact.Hides(e.args) {
		e.note("  first replace USER, QUERY, ADDRESS, SECRET and … by what they hide")
	}
}
