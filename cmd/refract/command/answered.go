package command

import (
	"fmt"
	"sync"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/report"
)

// answered counts the answers of models that a run waits for.
type answered struct {
	mu             sync.Mutex
	all            int
	called, stored int // by calls of this run, and from the cache or equal to another
	failed         int // requests that no answer came to
}

// add counts an answer, and shows that it has come.
func (a *answered) add(p *report.Progress, spend *budget.Budget, called, failed bool, tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all++
	if failed {
		a.failed++
		p.Count("failed", 1)
	}
	if !called {
		a.stored++
		p.AddCached(1)
		return
	}
	p.Add(1)
	if failed {
		return
	}
	a.called++
	p.Count("tokens", tokens)
	if s := spend.Spent(); s.Priced {
		p.Note("cost", fmt.Sprintf("%.4f", s.Cost))
	}
}

// tell says where the answers came from; of is whose they are, or "".
func (a *answered) tell(e *env, of string) {
	if a.all == 0 {
		return
	}
	failed := ""
	if a.failed > 0 {
		failed = fmt.Sprintf(", %d failed", a.failed)
	}
	e.note("%s: %d by calls, %d from the cache or equal to others%s", english.Thousands(a.all, "answer"+of, "answers"+of), a.called, a.stored, failed)
}
