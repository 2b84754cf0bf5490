package diversify

import (
	"sync"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// Summary counts what a run did; for a run that failed, what it did until then.
type Summary struct {
	// Of the segments that were yielded:
	Segments   int
	References int   // originals that were expanded
	Textless   int   // originals that are missing or blank and were not expanded
	Variants   int   // added by this run, including those without a text
	Rejected   int   // rejected answers and failures
	Unanswered int   // failed requests, which Rejected includes
	Refused    error // the first failure
	Lacking    int   // variants that were wanted but not found

	// Of all answers; Calls + Cached is their number:
	Calls  int // answered by a call of this run
	Cached int // from the store, or from an equal call of this run
	// Of all answers, by purpose; the rest are first answers:
	Resampled int // replace a rejected answer
	Enlarged  int // replace a cut answer, with a higher token limit
	Judged    int // a judge's answers about meaning
	// Of all answers except the judge's, before any check; an answer counts in at most
	// one of these:
	Cut    int // has a text that the token limit cut
	NoText int // withheld by a filter, not given, or blank

	// Of the calls of this run, as the server counted them:
	PromptTokens, CompletionTokens int
}

// Progress is a snapshot of a run.
type Progress struct {
	Summary
	Failed int // calls that ended with an error, tolerated or not
	// Begun counts the segments whose first answers were asked for or looked up,
	// and Wanted the variants that they should get.
	Begun, Wanted int
	// Accepted counts the variants found so far, including those of segments not yet
	// yielded; AcceptedByCalls counts those that took a call of this run.
	Accepted, AcceptedByCalls int
}

// tally counts what one run does. It uses the Expander's lock, so that calls of the
// observer never overlap, even with several runs.
type tally struct {
	mu      *sync.Mutex
	now     Progress
	observe func(Progress) // nil for none
}

func (t *tally) update(change func(*Progress)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.now)
	if t.observe != nil {
		t.observe(t.now)
	}
}

func (t *tally) summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Summary
}

// add counts the answer to a request.
func (p *Progress) add(j *job, a *asked, r ask.Result) {
	if r.Called {
		p.Calls++
		p.PromptTokens += r.Answer.PromptTokens
		p.CompletionTokens += r.Answer.CompletionTokens
	} else {
		p.Cached++
	}
	switch {
	case a.items != nil:
		p.Judged++
		return
	case a.room > 0:
		p.Enlarged++
	case a.sample >= j.cells[a.cell].wanted:
		p.Resampled++
	}
	switch classify(&r.Answer) {
	case cut:
		p.Cut++
	case blocked, empty:
		p.NoText++
	}
}

// yielded counts a segment that was expanded and yielded.
func (p *Progress) yielded(j *job, out *refract.Segment) {
	p.Segments++
	expanded := countReferences(j.seg)
	p.References += expanded
	p.Textless += len(j.seg.References) - expanded
	p.Variants += len(out.Variants) - len(j.seg.Variants)
	for _, v := range out.Rejected[len(j.seg.Rejected):] {
		p.Rejected++
		if v.Verdict == Failed {
			p.Unanswered++
		}
	}
	if want := j.x.cfg.Complete; want > 0 {
		p.Lacking += max(0, want-j.accepted())
		return
	}
	for i := range j.cells {
		p.Lacking += j.cells[i].wanted - j.cells[i].accepted
	}
}

// countReferences counts the originals of a segment that are expanded.
func countReferences(seg *refract.Segment) (n int) {
	for _, ref := range seg.References {
		if hasText(ref) {
			n++
		}
	}
	return n
}
