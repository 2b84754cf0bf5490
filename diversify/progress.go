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
	Segments          int
	References        int // originals that were expanded
	MissingReferences int // originals that are missing, and were not expanded
	EmptyReferences   int // originals without any text, which were not sent
	Variants          int // added by this run, those without a text included
	TakenBack         int // variants that a selection had left out, and Config.Complete called for
	Rejected          int // answers that are no references, and failures
	Unanswered        int // of those Rejected, requests that failed
	Lacking           int // variants that were wanted, and not found

	// Of all answers: Calls + Cached is their number.
	Calls  int // answered by a call of this run
	Cached int // from the store, or from an equal call of this run
	// Of them, by what they are for; the rest are first answers.
	Resampled int // in place of a rejected one
	Enlarged  int // in place of a cut one, with more room
	Judged    int // about the equivalence of an answer
	// Of all but these last, an answer counts in one of these at most, as it
	// is before any check:
	Cut     int // with a text that the token limit ended early
	Blocked int // without a text: withheld by a filter, or not given
	Empty   int // nothing but white space

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

	most, mostQuestions Load // bounds of a Plan
}

func newTally(x *Expander, observe func(Progress)) *tally {
	return &tally{mu: &x.observing, observe: observe}
}

func (t *tally) update(change func(*Progress)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.now)
	if t.observe != nil {
		t.observe(t.now)
	}
}

// stored counts an answer that the store had: there are many of them at a
// time, and the observer is told with the next update.
func (t *tally) stored(j *job, a *asked, r ask.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.add(j, a, r)
}

func (t *tally) summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now.Summary
}

// count counts an answer of any kind.
func (p *Progress) count(r ask.Result) {
	if r.Called {
		p.Calls++
		p.PromptTokens += r.Answer.PromptTokens
		p.CompletionTokens += r.Answer.CompletionTokens
	} else {
		p.Cached++
	}
}

// add counts the answer to a request.
func (p *Progress) add(j *job, a *asked, r ask.Result) {
	p.count(r)
	switch {
	case a.about >= 0:
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
	case blocked:
		p.Blocked++
	case empty:
		p.Empty++
	}
}

// yielded counts a segment that has left, expanded.
func (p *Progress) yielded(j *job, out *refract.Segment) {
	p.Segments++
	expanded, missing, empty := countReferences(j.seg)
	p.References += expanded
	p.MissingReferences += missing
	p.EmptyReferences += empty
	p.Variants += len(out.Variants) - len(j.seg.Variants)
	p.TakenBack += j.takenBack
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

// countReferences counts the originals of a segment by what becomes of them.
func countReferences(seg *refract.Segment) (expanded, absent, empty int) {
	for _, ref := range seg.References {
		switch stateOf(ref) {
		case missing:
			absent++
		case blank:
			empty++
		default:
			expanded++
		}
	}
	return expanded, absent, empty
}
