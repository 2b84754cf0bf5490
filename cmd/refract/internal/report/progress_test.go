package report

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/text"
)

// clock is a clock that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func newTestProgress(terminal bool, label string, total int, unit string) (*Progress, *bytes.Buffer, *clock) {
	c := &clock{t: time.Unix(1_700_000_000, 0)}
	var out bytes.Buffer
	return newProgress(&out, terminal, label, total, unit, c.now), &out, c
}

func TestProgressPlain(t *testing.T) {
	p, out, c := newTestProgress(false, "expand", 20_000, "calls")
	p.AddCached(300)
	for range 60 {
		c.advance(200 * time.Millisecond)
		p.Add(9)
	}
	p.Count("retried", 2)
	p.Count("cut", 0)
	p.Count("failed", 1)
	p.Println("a warning")
	p.Finish()
	p.Finish()
	p.Add(1)
	p.Println("afterwards")
	want := `expand: 525/20,000 calls · 300 from cache · 45.00/s · ETA 7m12s
expand: 750/20,000 calls · 300 from cache · 45.00/s · ETA 7m7s
a warning
expand: 840/20,000 calls · 1 failed · 300 from cache · 2 retried · 45.00/s · in 12s
afterwards
`
	assert.Equal(t, want, out.String())
}

// The rate covers only recent work, so that the time left follows a server that slows
// down, and excludes cached items.
func TestProgressPlainRate(t *testing.T) {
	p, out, c := newTestProgress(false, "x", 10_000, "")
	steps := []struct {
		after       time.Duration
		add, cached int
		want        string
	}{
		{4 * time.Second, 7000, 10, ""},
		{time.Second, 500, 0, "x: 7,510/10,000 · 10 from cache · 1,500.00/s · ETA 1s\n"},
		{20 * time.Second, 5, 0, "x: 7,515/10,000 · 10 from cache · 0.25/s · ETA 2h45m40s\n"},
		{5 * time.Second, 0, 2000, "x: 9,515/10,000 · 2,010 from cache\n"},
		{8 * time.Second, 485, 0, "x: 10,000/10,000 · 2,010 from cache · 60.62/s\n"},
	}
	for _, s := range steps {
		out.Reset()
		p.AddCached(s.cached)
		c.advance(s.after)
		p.Add(s.add)
		assert.Equal(t, s.want, out.String())
	}
}

func TestProgressWithoutTotalOrWork(t *testing.T) {
	for _, tt := range []struct {
		total         int
		unit          string
		after         time.Duration
		fresh, cached int
		brief         bool // no last line, unless it takes long
		want          string
	}{
		{-5, "segments", 6 * time.Second, 1_500, 0, false, "x: 1,500 segments · 250.00/s\nx: 1,500 segments · 250.00/s · in 6s\n"},
		{3, "", 10 * time.Second, 0, 3, false, "x: 3/3 · 3 from cache\nx: 3/3 · 3 from cache · in 10s\n"},
		{3, "", 0, 0, 0, false, "x: 0/3 · in 0s\n"},
		{5, "", 4 * time.Second, 5, 0, true, ""},
		{5, "", 6 * time.Second, 5, 0, true, "x: 5/5 · 0.83/s\nx: 5/5 · 0.83/s · in 6s\n"},
	} {
		p, out, c := newTestProgress(false, "x", tt.total, tt.unit)
		p.brief = tt.brief
		c.advance(tt.after)
		if tt.fresh > 0 {
			p.Add(tt.fresh)
		}
		if tt.cached > 0 {
			p.AddCached(tt.cached)
		}
		p.Finish()
		assert.Equal(t, tt.want, out.String())
	}
}

// Watched work shows every half minute that it goes on, and at once what a status says.
func TestProgressAlive(t *testing.T) {
	p, out, c := newTestProgress(false, "compare", 0, "")
	status := ""
	p.status = func() string { return status }
	p.Note("", "chrf")
	for range 70 {
		c.advance(time.Second)
		p.update(nil)
	}
	status = "waiting"
	p.update(nil)
	line := "compare: 0 · chrf\n"
	assert.Equal(t, line+line+line+"compare: 0 · chrf · waiting\n", out.String(), "got:\n%swant:\n", out)
}

var overwritten = regexp.MustCompile(`(?m)^.*\r`)

// screen returns what a terminal shows of out. A line begins in the first column, and
// erases the rest.
func screen(out *bytes.Buffer) string {
	return overwritten.ReplaceAllString(strings.ReplaceAll(out.String(), "\x1b[K", ""), "")
}

func TestProgressTerminal(t *testing.T) {
	p, out, c := newTestProgress(true, "score", 10, "cells")
	shows := func(want string) {
		t.Helper()
		got := screen(out)
		assert.Equal(t, want, got, "got:\n%q\nwant:\n%q\nall: %q", got, want, out)
	}
	shows("score: 0/10 cells")
	length := out.Len()
	p.Add(1)
	p.AddCached(1)
	p.Count("failed", 1)
	assert.Equal(t, length, out.Len(), "drawn again too soon: %q", out)
	c.advance(redrawEvery)
	p.Add(1)
	line := "score: 3/10 cells · 1 failed · 1 from cache · 20.00/s · ETA 0s"
	shows(line)
	p.Println("careful\x1b[2J")
	shows("careful\\x1b[2J\n" + line)

	c.advance(900 * time.Millisecond)
	p.Add(2)
	p.Finish()
	p.Finish()
	p.Add(1)
	p.Println("done")
	shows("careful\\x1b[2J\nscore: 5/10 cells · 1 failed · 1 from cache · 4.00/s · in 1s\ndone\n")
}

func TestProgressLabelsAreSafe(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		p, out, c := newTestProgress(terminal, "a\r\x1b[2J[red]", 1, "b\n\u202e")
		p.Count("c\x07", 1)
		p.Println("d\re\nf")
		c.advance(time.Minute)
		p.Add(1)
		p.Finish()
		shown := screen(out)
		if strings.ContainsFunc(shown, func(r rune) bool { return r != '\n' && text.Hidden(r) }) || !strings.Contains(shown, "[red]") {
			t.Errorf("terminal %v: %q", terminal, shown)
		}
		if got, want := strings.Count(out.String(), "\n"), map[bool]int{false: 3, true: 2}[terminal]; got != want {
			t.Errorf("terminal %v: %d lines, want %d: %q", terminal, got, want, out)
		}
		if !terminal && strings.ContainsAny(out.String(), "\r\x1b") {
			t.Errorf("not plain: %q", out)
		}
	}
}

func TestProgressNil(t *testing.T) {
	var p *Progress
	p.Brief().Add(1)
	p.AddCached(1)
	p.Count("failed", 1)
	p.Println("x")
	p.Finish()
}

func TestProgressConcurrent(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		for _, total := range []int{3000, 0} {
			var out bytes.Buffer // guarded by p: a race if it is not
			p := NewProgress(&out, terminal, "work", total, "")
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					for range 100 {
						p.Add(1)
						p.AddCached(2)
						p.Count("failed", 1)
					}
					p.Println("one")
				})
			}
			wg.Wait()
			p.Finish()
			lines := strings.Split(strings.TrimSuffix(screen(&out), "\n"), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, "work: 3,000") || !strings.Contains(last, " · 1,000 failed · 2,000 from cache") {
				t.Errorf("terminal %v: the last line is %q", terminal, last)
			}
			for _, line := range lines[:len(lines)-1] {
				assert.Equal(t, "one", line, "terminal %v", terminal)
			}
			assert.Len(t, lines, 11, "terminal %v", terminal)
		}
	}
}
