package report

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

const (
	redrawEvery = 100 * time.Millisecond // on a terminal
	plainEvery  = 5 * time.Second        // elsewhere
	between     = " · "                  // the parts of a line
)

// Progress tells how far a piece of work is: on a terminal in a line that is kept up
// to date, and elsewhere in a plain line every few seconds.
//
//	expand: 1,200/20,000 calls · 300 from cache · 45.00/s · ETA 6m57s
//
// The rate is that of the last five seconds or less, without the cache.
//
// All methods are safe for concurrent use, and do nothing on a nil *Progress.
// Errors in writing are ignored: the work matters more.
type Progress struct {
	w           io.Writer
	terminal    bool
	lines       bool // of JSON, in place of text
	brief       bool // no last line of what took less than a plain line does
	label, unit string
	total       int // 0 or less for unknown
	now         func() time.Time

	mu           sync.Mutex // for what follows, and for w
	done, fresh  int        // fresh is without the cache
	counts       map[string]int
	notes        []note // in the order in which they were first set
	start, shown time.Time
	rated        time.Time // from when on, and from what, the rate is taken
	ratedFresh   int
	finished     bool
}

// note is a text beside the counts.
type note struct{ label, text string }

// NewProgress starts to show progress on w, which is standard error in a
// program. The unit names what is counted, such as "calls"; it may be "". A total
// that is not positive is unknown.
func NewProgress(w io.Writer, isTerminal bool, label string, total int, unit string) *Progress {
	return newProgress(w, isTerminal, label, total, unit, time.Now)
}

func newProgress(w io.Writer, isTerminal bool, label string, total int, unit string, now func() time.Time) *Progress {
	p := &Progress{w: w, terminal: isTerminal, label: Visible(label), unit: Visible(unit), total: total, now: now, counts: make(map[string]int)}
	p.start = p.now()
	p.shown, p.rated = p.start, p.start
	p.draw(p.start)
	return p
}

// Brief leaves out the last line where the work took less than five seconds: for
// work that mostly does.
func (p *Progress) Brief() *Progress {
	if p != nil {
		p.brief = true
	}
	return p
}

// Add tells that n more are done.
func (p *Progress) Add(n int) { p.update(func() { p.done += n; p.fresh += n }) }

// Total changes what the total is; one that is not positive is unknown.
func (p *Progress) Total(n int) {
	p.update(func() {
		if n > 0 && n != p.total {
			p.total = n
		}
	})
}

// Skip tells that n more are done without work, which no rate counts.
func (p *Progress) Skip(n int) { p.update(func() { p.done += n }) }

// AddCached tells that n more are done without work, from a cache. They are
// shown as "from cache".
func (p *Progress) AddCached(n int) {
	p.update(func() { p.done += n; p.counts["from cache"] += n })
}

// Count adds n to a count that is shown beside the total, such as "failed".
// It does not add to what is done.
func (p *Progress) Count(label string, n int) {
	p.update(func() { p.counts[Visible(label)] += n })
}

// Note sets a text that is shown beside the counts, such as what the work has
// cost so far; "" takes it away.
func (p *Progress) Note(label, text string) {
	p.update(func() {
		label, text := Visible(label), Visible(text)
		for i := range p.notes {
			if p.notes[i].label == label {
				p.notes[i].text = text
				return
			}
		}
		p.notes = append(p.notes, note{label, text})
	})
}

// update changes the counts, and shows them if it is time to.
func (p *Progress) update(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	change()
	now := p.now()
	switch since := now.Sub(p.shown); {
	case p.lines:
		if since >= linesEvery {
			p.shown = now
			p.tell(now)
		}
	case p.terminal && since >= redrawEvery:
		p.shown = now
		if p.draw(now); now.Sub(p.rated) >= plainEvery {
			p.rated, p.ratedFresh = now, p.fresh
		}
	case !p.terminal && since >= plainEvery:
		fmt.Fprintln(p.w, p.line(p.fresh-p.ratedFresh, since, p.total-p.done))
		p.shown, p.ratedFresh = now, p.fresh
	}
}

// Println writes a line of its own, such as a warning, without breaking
// the one on the terminal. The line is shown as [Visible] does.
func (p *Progress) Println(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.w, Visible(line))
	if !p.finished {
		p.draw(p.now())
	}
}

// Finish writes the last line, with the time taken and
// the mean rate without the cache. It claims no more than was done. Later
// calls do nothing.
func (p *Progress) Finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	p.finished = true
	if p.lines {
		p.tell(p.now())
		return
	}
	p.clear()
	elapsed := p.now().Sub(p.start)
	if p.brief && elapsed < plainEvery {
		return
	}
	fmt.Fprintln(p.w, p.line(p.fresh, elapsed, 0)+between+"in "+elapsed.Round(time.Second).String())
}

// draw brings the line of a terminal up to date. One that is too long would wrap.
func (p *Progress) draw(now time.Time) {
	if !p.terminal {
		return
	}
	line := p.line(p.fresh-p.ratedFresh, now.Sub(p.rated), p.total-p.done)
	if f, ok := p.w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			line = text.Snip(line, max(1, width-1), "…")
		}
	}
	fmt.Fprint(p.w, "\r"+line+"\x1b[K")
}

func (p *Progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// line is the plain form, with the rate of n in d and the time that what is
// left takes at that rate.
func (p *Progress) line(n int, d time.Duration, left int) string {
	head := p.label + ": " + humanize.Comma(int64(p.done))
	if p.total > 0 {
		head += "/" + humanize.Comma(int64(p.total))
	}
	parts := append([]string{strings.TrimSpace(head + " " + p.unit)}, p.extras()...)
	if rate := float64(n) / d.Seconds(); n > 0 && d > 0 {
		parts = append(parts, humanize.CommafWithDigits(rate, 2)+"/s")
		if left > 0 {
			parts = append(parts, "ETA "+(time.Duration(float64(left)/rate)*time.Second).String())
		}
	}
	return strings.Join(parts, between)
}

// extras are the counts beside the total that are not 0, and the notes.
func (p *Progress) extras() []string {
	var extras []string
	for _, label := range slices.Sorted(maps.Keys(p.counts)) {
		if n := p.counts[label]; n != 0 {
			extras = append(extras, humanize.Comma(int64(n))+" "+label)
		}
	}
	for _, n := range p.notes {
		if n.text != "" {
			extras = append(extras, strings.TrimSpace(n.text+" "+n.label))
		}
	}
	return extras
}
