package report

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a clock that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func newTestProgress(terminal bool, label string, total int, opts ...ProgressOption) (*Progress, *bytes.Buffer, *clock) {
	c := &clock{t: time.Unix(1_700_000_000, 0)}
	var out bytes.Buffer
	opts = append(opts, func(p *Progress) { p.now = c.now })
	return NewProgress(&out, terminal, label, total, opts...), &out, c
}

func TestProgressPlain(t *testing.T) {
	p, out, c := newTestProgress(false, "expand", 20_000, WithUnit("calls"))
	p.AddCached(300)
	for range 100 {
		c.advance(200 * time.Millisecond)
		p.Add(9)
	}
	p.Count("retried", 2)
	p.Count("failed", 1)
	p.Println("a warning")
	p.Finish()
	p.Finish()
	p.Add(1)
	want := `expand: 525/20,000 calls · 300 from cache · 45.0/s · ETA 7m13s
expand: 750/20,000 calls · 300 from cache · 45.0/s · ETA 7m08s
expand: 975/20,000 calls · 300 from cache · 45.0/s · ETA 7m03s
expand: 1,200/20,000 calls · 300 from cache · 45.0/s · ETA 6m58s
a warning
expand: 1,200/20,000 calls · 300 from cache · 1 failed · 2 retried · 45.0/s · in 20s
`
	if out.String() != want {
		t.Errorf("got:\n%swant:\n%s", out, want)
	}
}

func TestProgressTerminal(t *testing.T) {
	p, out, c := newTestProgress(true, "score", 10)
	p.Add(1) // too soon to draw again
	c.advance(time.Second)
	p.Add(1)
	p.Println("careful\x1b[2J")
	c.advance(50 * time.Millisecond)
	p.Add(8)
	p.Finish()
	p.Println("done")
	want := "\rscore: 0/10\x1b[K" +
		"\rscore: 2/10 · 2.0/s · ETA 4.0s\x1b[K" +
		"\r\x1b[K" + `careful\x1b[2J` + "\n" +
		"\rscore: 2/10 · 2.0/s · ETA 4.0s\x1b[K" +
		"\r\x1b[Kscore: 10/10 · 9.5/s · in 1.1s\n" + // 1.05 s
		"done\n"
	if out.String() != want {
		t.Errorf("got:\n%q\nwant:\n%q", out, want)
	}
}

// The rate forgets, so that the time left follows a server that slows down.
func TestProgressRecentRate(t *testing.T) {
	p, out, c := newTestProgress(false, "x", 100_000)
	for range 60 {
		c.advance(time.Second)
		p.Add(100)
		p.AddCached(10)
	}
	for range 60 {
		c.advance(time.Second)
		p.Add(1)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if got, want := lines[len(lines)-1], "x: 6,660/100,000 · 600 from cache · 1.0/s · ETA 1d02h"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(lines) != 24 {
		t.Errorf("%d lines in 120 s, want one every 5 s", len(lines))
	}
}

func TestProgressWithoutTotalOrWork(t *testing.T) {
	p, out, c := newTestProgress(false, "read", -1, WithUnit("segments"))
	c.advance(6 * time.Second)
	p.Add(1_500)
	p.Finish()
	if want := "read: 1,500 segments · 250/s\nread: 1,500 segments · 250/s · in 6.0s\n"; out.String() != want {
		t.Errorf("unknown total: got %q, want %q", out, want)
	}

	p, out, c = newTestProgress(false, "expand", 3)
	c.advance(10 * time.Second)
	p.AddCached(3)
	p.Finish()
	if want := "expand: 3/3 · 3 from cache\nexpand: 3/3 · 3 from cache · in 10s\n"; out.String() != want {
		t.Errorf("all cached: got %q, want %q", out, want)
	}

	p, out, _ = newTestProgress(false, "expand", 3)
	p.Finish()
	if want := "expand: 0/3 · in 0.0s\n"; out.String() != want {
		t.Errorf("nothing done: got %q, want %q", out, want)
	}
}

func TestProgressLabelsAreSafe(t *testing.T) {
	p, out, c := newTestProgress(false, "a\r\x1b[2J", 1, WithUnit("b\n\u202e"))
	p.Count("c\x07", 1)
	p.Println("d\re\nf")
	c.advance(time.Minute)
	p.Add(1)
	p.Finish()
	if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && hidden(r) }) || strings.Count(out.String(), "\n") != 3 {
		t.Errorf("%q", out)
	}
}

func TestProgressNil(t *testing.T) {
	var p *Progress
	p.Add(1)
	p.AddCached(1)
	p.Count("failed", 1)
	p.Println("x")
	p.Finish()
}

func TestProgressConcurrent(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var out bytes.Buffer // guarded by p: a race if it is not
		p := NewProgress(&out, terminal, "work", 3000)
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
		if want := "work: 3,000/3,000 · 2,000 from cache · 1,000 failed"; !strings.Contains(out.String(), want) {
			t.Errorf("terminal %v: %q is not in %q", terminal, want, out.String())
		}
		if got := strings.Count(out.String(), "one\n"); got != 10 {
			t.Errorf("terminal %v: %d of 10 lines", terminal, got)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0.0s"}, {9940 * time.Millisecond, "9.9s"}, {10 * time.Second, "10s"},
		{59400 * time.Millisecond, "59s"}, {59600 * time.Millisecond, "1m00s"}, {418 * time.Second, "6m58s"},
		{time.Hour - time.Millisecond, "1h00m"}, {3*time.Hour + 5*time.Minute, "3h05m"},
		{24*time.Hour - time.Second, "1d00h"}, {76 * time.Hour, "3d04h"},
	}
	for _, tt := range tests {
		if got := formatDuration(tt.d); got != tt.want {
			t.Errorf("formatDuration(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}
