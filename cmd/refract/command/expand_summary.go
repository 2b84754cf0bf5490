package command

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
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
	spend    *ask.Budget
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

// findings are what a run has found.
type findings struct {
	diversify.Summary
	verdicts map[string]int // of rejected answers
	yields   *selection.Yields

	answers int  // that were looked at, while all of them were rejected
	looked  bool // at enough of them
}

// earlyAnswers is how many rejected answers without an accepted one are worth a
// warning.
const earlyAnswers = 100

func (f *findings) add(e *env, s *refract.Segment) {
	f.yields.Add(s.ID, selection.Usable(s))
	for _, v := range s.Rejected {
		f.verdicts[v.Verdict]++
	}
	if f.looked {
		return
	}
	f.answers += len(s.Rejected)
	switch {
	case len(s.Variants) > 0:
		f.looked = true
	case f.answers >= earlyAnswers:
		f.looked = true
		e.warn("all of the first %d answers were rejected: %s; look at the output of a few segments first", f.answers, numbered(f.verdicts))
	}
}

// short reports whether a segment has fewer variants than --complete asks for.
func (f *findings) short(complete int) bool {
	n, _ := f.yields.Below(complete)
	return n > 0
}

// textless reports whether there were answers, and none with a text.
func (f *findings) textless() bool {
	for v := range f.verdicts {
		if v != check.ReasonBlocked && v != check.ReasonEmpty {
			return false
		}
	}
	return f.Blocked+f.Empty > 0
}

// numbered names verdicts with their numbers.
func numbered(verdicts map[string]int) string {
	parts := make([]string, 0, len(verdicts))
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		parts = append(parts, fmt.Sprintf("%d %s", verdicts[v], v))
	}
	return strings.Join(parts, ", ")
}

// tell says what a run did; checked says that there were checks.
func (f *findings) tell(e *env, spent ask.Spent, checked bool, complete int) {
	judged := ""
	if f.Judged > 0 {
		judged = fmt.Sprintf(" (%d of the judge)", f.Judged)
	}
	e.note("%d segments, %d references, %d variants; %d answers%s: %d by calls, %d from the cache; %d prompt and %d completion tokens",
		f.Segments, f.References, f.Variants, f.Calls+f.Cached, judged, f.Calls, f.Cached, f.PromptTokens, f.CompletionTokens)
	if y := f.yields.String(); y != "" {
		e.note("accepted variants of a segment: %s", y)
	}
	if f.TakenBack > 0 {
		e.note("taken back, as a selection had left them out and --complete needs them: %s", english.Thousands(f.TakenBack, "variant"))
	}
	e.tellCost(spent)
	if spent.Guessed > 0 {
		e.warn("answers without token counts, priced at the most that they can cost: %d", spent.Guessed)
	}
	if f.Rejected > 0 {
		what := numbered(f.verdicts)
		if what == "" { // the run ended before segments were written
			what = strconv.Itoa(f.Rejected)
		}
		e.note("rejected: %s; asked again: %d, of them with more room: %d", what, f.Resampled+f.Enlarged, f.Enlarged)
	}
	warn := func(n int, what string) {
		if n > 0 {
			e.warn("%s: %d", what, n)
		}
	}
	if complete == 0 { // else the error says it
		warn(f.Lacking, "variants that are missing, as no answer passed the checks")
	}
	if !checked && f.Rejected == 0 { // the verdicts say it
		warn(f.Cut, "answers cut by --max-tokens, kept and marked with the finish reason \"length\"")
		warn(f.Blocked, "answers withheld, which are missing texts")
		warn(f.Empty, "empty answers, which are missing texts")
	}
	warn(f.MissingReferences, "missing references, not expanded")
	warn(f.EmptyReferences, "empty references, not expanded")
}
