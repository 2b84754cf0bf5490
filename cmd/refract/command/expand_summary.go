package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/report"
)

// incompleteError says that the output lacks answers that failed.
type incompleteError struct {
	failed int
	output string
}

func (e *incompleteError) Error() string {
	return fmt.Sprintf("%s without an answer, in %s with the verdict %q and the reason; the same command asks again",
		english.Thousands(e.failed, "request"), e.output, diversify.Failed)
}

// observe shows what is new in a snapshot.
func observe(p *report.Progress, last *diversify.Progress, now diversify.Progress, spend *budget.Budget) {
	p.Add(now.Calls - last.Calls)
	p.AddCached(now.Cached - last.Cached)
	p.Count("failed", now.Failed-last.Failed)
	p.Count("cut", now.Cut-last.Cut)
	p.Count("without text", now.Blocked+now.Empty-last.Blocked-last.Empty)
	p.Count("asked again", now.Resampled+now.Enlarged-last.Resampled-last.Enlarged)
	p.Count("tokens", now.PromptTokens+now.CompletionTokens-last.PromptTokens-last.CompletionTokens)
	if now.Calls != last.Calls {
		if s := spend.Spent(); s.Priced {
			p.Note("cost", fmt.Sprintf("%.4f", s.Cost))
		}
	}
	*last = now
}

func summarize(e *env, s diversify.Summary, verdicts map[string]int, spent budget.Spent) {
	e.note("%d segments, %d references, %d variants: %d by calls, %d from the cache; %d prompt and %d completion tokens",
		s.Segments, s.References, s.Variants, s.Calls, s.Cached, s.PromptTokens, s.CompletionTokens)
	e.tellCost(spent)
	if spent.Guessed > 0 {
		e.warn("answers without token counts, priced at the most that they can cost: %d", spent.Guessed)
	}
	if s.Rejected > 0 {
		parts := make([]string, 0, len(verdicts))
		for _, v := range slices.Sorted(maps.Keys(verdicts)) {
			parts = append(parts, fmt.Sprintf("%d %s", verdicts[v], v))
		}
		e.note("rejected: %s; asked again: %d, with more room: %d", strings.Join(parts, ", "), s.Resampled, s.Enlarged)
		s.Cut, s.Blocked, s.Empty = 0, 0, 0 // which are not of variants alone
	}
	for _, c := range []struct {
		n    int
		what string
	}{
		{s.Lacking, "variants that are missing, as no answer passed the checks"},
		{s.Cut, "answers cut by --max-tokens, kept and marked with the finish reason \"length\""},
		{s.Blocked, "answers withheld, which are missing texts"},
		{s.Empty, "empty answers, which are missing texts"},
		{s.MissingReferences, "missing references, not expanded"},
		{s.EmptyReferences, "empty references, not expanded"},
	} {
		if c.n > 0 {
			e.warn("%s: %d", c.what, c.n)
		}
	}
}
