package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/llm/ask"
)

// answered counts the answers of models that a run waits for.
type answered struct {
	mu             sync.Mutex
	all            int
	called, stored int // by calls of this run, and from the cache or equal to another
	failed         int // requests that no answer came to
	reasons        map[string]int
}

// add counts an answer, and shows that it has come.
func (a *answered) add(p *report.Progress, spend *ask.Budget, called, failed bool, tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all++
	switch {
	case failed: // whether it was asked, refused or shared with another
		a.failed++
		p.Count("failed", 1)
		p.Add(1)
		return
	case !called:
		a.stored++
		p.AddCached(1)
		return
	}
	p.Add(1)
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
	e.note("%s: %d by calls, %d from the cache or equal to others%s", english.Thousands(a.called+a.stored, "answer"+of, "answers"+of), a.called, a.stored, failed)
	if len(a.reasons) == 0 {
		return
	}
	often := slices.SortedFunc(maps.Keys(a.reasons), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.reasons[y], a.reasons[x]), cmp.Compare(x, y))
	})
	var said []string
	n, others := 0, 0
	for i, why := range often {
		if n += a.reasons[why]; i < mostReasons {
			said = append(said, fmt.Sprintf("%d × %s", a.reasons[why], why))
		} else {
			others += a.reasons[why]
		}
	}
	if others > 0 {
		said = append(said, fmt.Sprintf("%d × other reasons", others))
	}
	e.warn("%s failed; the next run asks for them again. Why: %s", english.Thousands(n, "request"), strings.Join(said, "; "))
}

// mostReasons are told of requests that failed: the most frequent ones.
const mostReasons = 3

// fails takes in why a request failed by itself.
func (a *answered) fails(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reasons == nil {
		a.reasons = map[string]int{}
	}
	a.reasons[why]++
}
