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
	aliveEvery  = 30 * time.Second       // elsewhere while nothing changes, if watched
	between     = " · "                  // the parts of a line
)

// Progress shows how far work has come: on a terminal as one line that is updated, and
// elsewhere as a plain line every few seconds.
//
//	expand: 1,200/20,000 calls · 300 from cache · 45.00/s · ETA 6m57s
//
// The rate is of the last five seconds or less, and excludes cached items.
//
// All methods are safe for concurrent use, and do nothing on a nil *Progress.
// Errors in writing are ignored: the work matters more.
type Progress struct {
	w           io.Writer
	terminal    bool
	lines       bool // JSON lines instead of text
	brief       bool // no last line if the work took less than plainEvery
	label, unit string
	total       int // 0 or less for unknown
	now         func() time.Time

	mu           sync.Mutex // for what follows, and for w
	done, fresh  int        // fresh excludes cached items
	counts       map[string]int
	notes        []note // in the order in which they were first set
	start, shown time.Time
	rated        time.Time // when the rate's window began, and fresh at that time
	ratedFresh   int
	changed      bool // since a plain line
	finished     bool
	status       func() string // see Watch; may be nil
}

// note is a text shown after the counts.
type note struct{ label, text string }

// NewProgress starts to show progress on w, usually standard error. The unit names what is
// counted, such as "calls", and may be "". A total that is not positive is unknown.
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

// Brief leaves out the last line if the work took less than five seconds.
func (p *Progress) Brief() *Progress {
	if p != nil {
		p.brief = true
	}
	return p
}

// Add counts n more as done.
func (p *Progress) Add(n int) { p.update(func() { p.done += n; p.fresh += n }) }

// Total sets the total; one that is not positive is unknown.
func (p *Progress) Total(n int) {
	p.update(func() {
		if n > 0 && n != p.total {
			p.total = n
		}
	})
}

// Skip counts n more as done without work, so that they do not enter the rate.
func (p *Progress) Skip(n int) { p.update(func() { p.done += n }) }

// AddCached counts n more as done from a cache, shown as "from cache". They do not enter
// the rate.
func (p *Progress) AddCached(n int) {
	p.update(func() { p.done += n; p.counts["from cache"] += n })
}

// Count adds n to another count that is shown after the total, such as "failed".
func (p *Progress) Count(label string, n int) {
	p.update(func() { p.counts[Visible(label)] += n })
}

// Note sets a text that is shown after the counts, such as the cost so far; "" removes it.
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

// Watch also shows what status says, "" for nothing, also while nothing is counted. status must be safe
// for concurrent use, and call no method of p.
func (p *Progress) Watch(status func() string) {
	if p == nil {
		return
	}
	p.update(func() { p.status = status })
	go func() {
		for finished := false; !finished; {
			time.Sleep(time.Second)
			p.update(nil)
			p.mu.Lock()
			finished = p.finished
			p.mu.Unlock()
		}
	}()
}

// update changes the counts, if at all, and shows them if it is time to.
func (p *Progress) update(change func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	if change != nil {
		change()
	}
	p.changed = p.changed || change != nil || p.status() != ""
	now := p.now()
	switch since := now.Sub(p.shown); {
	case p.lines:
		if since >= linesEvery {
			p.shown = now
			p.writeLine(now)
		}
	case p.terminal && since >= redrawEvery:
		p.shown = now
		if p.draw(now); now.Sub(p.rated) >= plainEvery {
			p.rated, p.ratedFresh = now, p.fresh
		}
	case !p.terminal && (since >= plainEvery && p.changed || since >= aliveEvery):
		fmt.Fprintln(p.w, p.line(p.fresh-p.ratedFresh, since, p.total-p.done))
		p.shown, p.ratedFresh, p.changed = now, p.fresh, false
	}
}

// Println writes a separate line, such as a warning, without breaking the progress line on
// a terminal. The text is made safe by [Visible].
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

// Finish writes the last line, with the time taken and the mean rate without cached items.
// Later calls do nothing.
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
		p.writeLine(p.now())
		return
	}
	p.clear()
	elapsed := p.now().Sub(p.start)
	if p.brief && elapsed < plainEvery {
		return
	}
	fmt.Fprintln(p.w, p.line(p.fresh, elapsed, 0)+between+"in "+elapsed.Round(time.Second).String())
}

// draw updates the line on a terminal, cut to its width so that it does not wrap.
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

// line returns the progress line, with the rate of n items in d and the time left at that
// rate.
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

// extras returns the other counts that are not 0, and the notes.
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
	if p.status != nil && !p.finished {
		if status := p.status(); status != "" {
			extras = append(extras, status)
		}
	}
	return extras
}
