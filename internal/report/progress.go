package report

import (
	"cmp"
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
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	redrawEvery = 100 * time.Millisecond // on a terminal
	plainEvery  = 5 * time.Second        // elsewhere
	between     = " · "                  // the parts of a line
	besides     = 60                     // columns for the bar's own numbers
)

// Progress tells how far a piece of work is: with a bar on a terminal, and
// elsewhere with a plain line every few seconds.
//
//	expand · 300 from cache   6% |█         | (1200/20000, 45 calls/s) [20s:6m58s]
//	expand: 1,200/20,000 calls · 300 from cache · 45.00/s · ETA 6m57s
//
// A plain line has the rate since the line before, without the cache. The bar
// has that of the last five seconds or more, cached answers among them: for as
// long after many of them it is too high, and the time left too short.
//
// All methods are safe for concurrent use, and do nothing on a nil *Progress.
// Errors in writing are ignored: the work matters more.
type Progress struct {
	w           io.Writer
	terminal    bool
	lines       bool // of JSON, in place of text
	brief       bool // no last line of what took less than a plain line does
	label, unit string
	total       int
	now         func() time.Time

	mu           sync.Mutex               // for what follows, and for w
	bar          *progressbar.ProgressBar // invisible if w is no terminal
	done, fresh  int                      // fresh is without the cache
	shownFresh   int                      // at the last plain line
	counts       map[string]int
	notes        []note // in the order in which they were first set
	start, shown time.Time
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
	if total <= 0 {
		total = -1 // as the library has it
	}
	p := &Progress{w: w, terminal: isTerminal, label: Visible(label), unit: Visible(unit), total: total, now: now, counts: make(map[string]int)}
	p.start = p.now()
	p.shown = p.start
	p.bar = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(isTerminal),
		progressbar.OptionSetRenderBlankState(true),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // a spinner would draw in a goroutine of its own
		progressbar.OptionSetWidth(20),                // at most
		progressbar.OptionSetDescription(p.label),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(cmp.Or(p.unit, "it")),
	)
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
			p.bar.ChangeMax(n)
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
		p.draw()
	case !p.terminal && since >= plainEvery:
		fmt.Fprintln(p.w, p.line(p.fresh-p.shownFresh, since, p.total-p.done))
		p.shown, p.shownFresh = now, p.fresh
	}
}

// Println writes a line of its own, such as a warning, without breaking the
// bar. The line is shown as [Visible] does.
func (p *Progress) Println(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Clear()
	fmt.Fprintln(p.w, Visible(line))
	if !p.finished {
		p.draw()
	}
}

// Finish writes the last line in place of the bar, with the time taken and
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
	p.bar.Clear()
	elapsed := p.now().Sub(p.start)
	if p.brief && elapsed < plainEvery {
		return
	}
	fmt.Fprintln(p.w, p.line(p.fresh, elapsed, 0)+between+"in "+elapsed.Round(time.Second).String())
}

// draw brings the bar up to date. The library shortens the bar where the
// terminal is narrow, but not what stands before it: the line would wrap.
func (p *Progress) draw() {
	description := strings.Join(append([]string{p.label}, p.extras()...), between)
	if f, ok := p.w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			description = text.Snip(description, max(1, width-besides), "…")
		}
	}
	p.bar.Describe(description)
	p.bar.Set(p.done)
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
