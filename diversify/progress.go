package diversify

import "sync"

// Summary counts what a run did. After a run that failed it holds what was
// done until then.
type Summary struct {
	// Of the segments that were yielded:
	Segments          int
	References        int // originals that were expanded
	MissingReferences int // originals that are missing, and were not expanded
	EmptyReferences   int // originals without any text, which were not sent
	Variants          int // added by this run, those without a text included

	// Of all answers, each of which becomes a variant: Calls + Cached is
	// their number.
	Calls  int // answered by a call of this run
	Cached int // from the store, or from an equal call of this run
	// An answer counts in one of these at most:
	Cut     int // with a text that the token limit ended early
	Blocked int // without a text: withheld by a filter, or not given
	Empty   int // nothing but white space

	// Of the calls of this run, as the server counted them:
	PromptTokens, CompletionTokens int
}

// Progress is a snapshot of a run.
type Progress struct {
	Summary
	Failed int // calls that ended with an error, which ends the run
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

// add counts an answer.
func (p *Progress) add(a answer, called bool) {
	if called {
		p.Calls++
		p.PromptTokens += a.promptTokens
		p.CompletionTokens += a.completionTokens
	} else {
		p.Cached++
	}
	switch a.class {
	case cut:
		p.Cut++
	case blocked:
		p.Blocked++
	case empty:
		p.Empty++
	}
}

// yielded counts a segment that has left, expanded.
func (p *Progress) yielded(j *job) {
	p.Segments++
	p.References += j.expanded
	p.MissingReferences += j.missing
	p.EmptyReferences += j.empty
	p.Variants += len(j.asks)
}
