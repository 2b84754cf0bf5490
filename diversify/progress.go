package diversify

import (
	"sync"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// Summary counts what a run did. After a run that failed it holds what was
// done until then.
type Summary struct {
	// Of the segments that were yielded:
	Segments   int
	References int   // originals that were expanded
	Textless   int   // originals that are missing or blank, which were not sent
	Variants   int   // added by this run, those without a text included
	Rejected   int   // answers that are no references, and failures
	Unanswered int   // of those Rejected, requests that failed
	Refused    error // the first of them
	Lacking    int   // variants that were wanted, and not found

	// Of all answers: Calls + Cached is their number.
	Calls  int // answered by a call of this run
	Cached int // from the store, or from an equal call of this run
	// Of them, by what they are for; the rest are first answers.
	Resampled int // in place of a rejected one
	Enlarged  int // in place of a cut one, with more room
	Judged    int // about the meaning of answers
	// Of all but these last, an answer counts in one of these at most, as it
	// is before any check:
	Cut    int // with a text that the token limit ended early
	NoText int // withheld by a filter, not given, or nothing but white space

	// Of the calls of this run, as the server counted them:
	PromptTokens, CompletionTokens int
}

// Progress is a snapshot of a run.
type Progress struct {
	Summary
	Failed int // calls that ended with an error, be it tolerated or the end of the run
	// Begun counts the segments whose first answers were asked for or looked up,
	// and Wanted the variants that they are to have.
	Begun, Wanted int
	// Accepted counts the variants that were found so far, of segments that have
	// not left too; AcceptedByCalls are those that took a call of this run.
	Accepted, AcceptedByCalls int
}

// tally counts what one run does. The lock is the Expander's, so that its
// observer is called from one goroutine at a time whatever runs there are.
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

// yielded counts a segment that has left, expanded.
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
