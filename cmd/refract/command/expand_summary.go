package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
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

// watcher shows how far an expansion is.
type watcher struct {
	p        *report.Progress
	segments int // of the dataset; 0 where that is not known
	spend    *budget.Budget
	client   *llm.Client // nil where there is none to wait for
	last     diversify.Progress
}

// observe shows what is new in a snapshot.
func (w *watcher) observe(now diversify.Progress) {
	p, last := w.p, &w.last
	if w.segments > 0 && now.Begun > 0 { // once more for each that an audit took from
		p.Total(now.Wanted + max(0, w.segments-now.Begun)*now.Wanted/now.Begun)
	}
	fresh := now.AcceptedByCalls - last.AcceptedByCalls
	p.Add(fresh)
	p.Skip(now.Accepted - last.Accepted - fresh)
	p.Count("answers", now.Calls+now.Cached-last.Calls-last.Cached)
	p.Count("from cache", now.Cached-last.Cached)
	p.Count("failed", now.Failed-last.Failed)
	p.Count("at the token limit", now.Cut-last.Cut) // not all of which the verdict calls cut
	p.Count("without text", now.Blocked+now.Empty-last.Blocked-last.Empty)
	p.Count("asked again", now.Resampled+now.Enlarged-last.Resampled-last.Enlarged)
	p.Count("tokens", now.PromptTokens+now.CompletionTokens-last.PromptTokens-last.CompletionTokens)
	if now.Calls != last.Calls {
		if s := w.spend.Spent(); s.Priced {
			p.Note("cost", fmt.Sprintf("%.4f", s.Cost))
		}
	}
	*last = now
}

// lost takes back what an audit rejects of the variants that were found, and will
// be wanted once more where it is replaced.
func (w *watcher) lost(n int, replaced bool, sum diversify.Summary) {
	now := w.last
	now.Summary = sum
	now.Accepted -= n
	now.AcceptedByCalls -= min(n, now.AcceptedByCalls)
	if replaced {
		now.Wanted -= n
	}
	w.p.Count("lost in the audit", n)
	w.observe(now)
}

// tick says, each second, whether all calls wait for their turn, until stop is
// called, which ends the progress.
func (w *watcher) tick() (stop func()) {
	ticker, done := time.NewTicker(time.Second), make(chan struct{})
	var running sync.WaitGroup
	if w.client != nil && w.p != nil {
		running.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-ticker.C:
				}
				note := ""
				if wait := w.client.Waits(); wait >= time.Second {
					note = "rate limited, next in " + wait.Round(time.Second).String()
				}
				w.p.Note("", note)
			}
		})
	}
	return func() {
		ticker.Stop()
		close(done)
		running.Wait()
		w.p.Note("", "")
		w.p.Finish()
	}
}

// earlyLook warns once if all of the first answers are rejected.
type earlyLook struct {
	patterns diversify.Patterns
	done     bool
}

// earlyAnswers is how many answers an earlyLook looks at.
const earlyAnswers = 100

func (l *earlyLook) look(e *env, s *refract.Segment) {
	if l.done {
		return
	}
	l.patterns.Add(s)
	switch p := &l.patterns; {
	case p.Accepted > 0:
		l.done = true
	case p.Rejected >= earlyAnswers:
		l.done = true
		name, n := p.Most()
		e.warn("all of the first %d answers were rejected, %d of them: %s; --pilot 20 shows examples", p.Rejected, n, name)
	}
}

// numbered names verdicts with their numbers.
func numbered(verdicts map[string]int) string {
	parts := make([]string, 0, len(verdicts))
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		parts = append(parts, fmt.Sprintf("%d %s", verdicts[v], v))
	}
	return strings.Join(parts, ", ")
}

// textless reports whether a run without variants had answers, and none with a text.
func textless(s diversify.Summary, verdicts map[string]int) bool {
	for v := range verdicts {
		if v != check.ReasonBlocked && v != check.ReasonEmpty {
			return false
		}
	}
	return s.Blocked+s.Empty > 0
}

// summarize says what a run did; checked says that there were checks.
func summarize(e *env, s diversify.Summary, verdicts map[string]int, yields *selection.Yields, spent budget.Spent, checked bool) {
	judged := ""
	if s.Judged > 0 {
		judged = fmt.Sprintf(" (%d of the judge)", s.Judged)
	}
	e.note("%d segments, %d references, %d variants; %d answers%s: %d by calls, %d from the cache; %d prompt and %d completion tokens",
		s.Segments, s.References, s.Variants, s.Calls+s.Cached, judged, s.Calls, s.Cached, s.PromptTokens, s.CompletionTokens)
	if y := yields.String(); y != "" {
		e.note("accepted variants of a segment: %s", y)
	}
	if s.TakenBack > 0 {
		e.note("taken back, as a selection had left them out and --complete needs them: %s", english.Thousands(s.TakenBack, "variant"))
	}
	e.tellCost(spent)
	if spent.Guessed > 0 {
		e.warn("answers without token counts, priced at the most that they can cost: %d", spent.Guessed)
	}
	switch {
	case s.Rejected > 0 && len(verdicts) == 0: // ended before the segments were written
		e.note("rejected: %d; asked again: %d, of them with more room: %d", s.Rejected, s.Resampled+s.Enlarged, s.Enlarged)
	case s.Rejected > 0:
		e.note("rejected: %s; asked again: %d, of them with more room: %d", numbered(verdicts), s.Resampled+s.Enlarged, s.Enlarged)
	}
	if checked || s.Rejected > 0 {
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
