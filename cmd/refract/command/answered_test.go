package command

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/llm/ask"
)

// Answers are those that came. What failed is counted apart, with the first reason,
// and nothing in it reaches a terminal as it is.
func TestAnswered(t *testing.T) {
	var out bytes.Buffer
	e := &env{stderr: &out}
	spend := ask.NewBudget(ask.Limits{}, nil)
	a := &answered{}
	for _, r := range []ask.Result{
		{Called: true}, {},
		{Err: errors.New("the server answered no (400): \x1b[2J"), Tolerated: true}, {Err: errors.New("b"), Tolerated: true},
		{Err: errors.New("the budget is used up")},
	} {
		a.add(nil, spend, r)
	}
	a.note(e, "")
	want := "2 answers: 1 by calls, 1 from the cache or equal to others, 3 failed\n" +
		`warning: 2 requests failed; the next run asks for them again. The first: the server answered no (400): \x1b[2J` + "\n"
	assert.Equal(t, want, out.String())
}
