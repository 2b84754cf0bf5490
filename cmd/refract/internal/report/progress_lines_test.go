package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestProgressLines(t *testing.T) {
	p, out, c := newTestProgress(false, "expand", 0, "variants")
	p.lines = true
	p.Add(1)
	c.advance(499 * time.Millisecond)
	p.Add(1) // too early
	c.advance(time.Millisecond)
	p.Add(1)
	p.Println("a warning")
	p.Total(10)
	p.AddCached(4)
	p.Count("failed", 0)
	p.Note("cost", "0.5")
	p.Note("", "rate limited")
	c.advance(time.Second)
	p.Finish()
	p.Finish()
	want := `{"progress":"expand","done":3,"total":null,"unit":"variants","seconds":0.5,"counts":{},"notes":{},"finished":false}
a warning
{"progress":"expand","done":7,"total":10,"unit":"variants","seconds":1.5,"counts":{"from cache":4},"notes":{"cost":"0.5","now":"rate limited"},"finished":true}
`
	assert.Equal(t, want, out.String())
}
