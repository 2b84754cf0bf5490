package command

import (
	"bytes"
	"testing"

	"github.com/refract-eval/refract/llm/ask"
)

// Answers are those that came. What failed is counted apart, with its most
// frequent reasons, and nothing in these reaches a terminal as it is.
func TestAnswered(t *testing.T) {
	var out bytes.Buffer
	e := &env{stderr: &out}
	spend := ask.NewBudget(ask.Limits{}, nil)
	p := e.progress("ask", "answers")
	a := &answered{}
	a.add(p, spend, true, false, 3)
	a.add(p, spend, false, false, 3)
	for why, n := range map[string]int{"the server answered no (400): \x1b[2J": 3, "b": 1, "c": 2, "d": 1} {
		for range n {
			a.fails(why)
			a.add(p, spend, why == "c", true, 0)
		}
	}
	out.Reset()
	a.tell(e, "")
	want := "2 answers: 1 by calls, 1 from the cache or equal to others, 7 failed\n" +
		`warning: 7 requests failed; the next run asks for them again. Why: 3 × the server answered no (400): \x1b[2J; 2 × c; 1 × b; 1 × other reasons` + "\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	out.Reset()
	a = &answered{}
	for range 32 {
		a.add(p, spend, false, true, 0) // the budget refused them
	}
	out.Reset()
	a.tell(e, "")
	if got, want := out.String(), "0 answers: 0 by calls, 0 from the cache or equal to others, 32 failed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
