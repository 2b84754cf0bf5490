package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

const (
	redrawEvery  = 100 * time.Millisecond // on a terminal
	plainEvery   = 5 * time.Second        // elsewhere
	sampleEvery  = time.Second
	rateSamples  = 30       // the rate is that of at least so many seconds
	eraseToRight = "\x1b[K" // rest of the line
	between      = " · "    // the parts of a line
)

// Progress tells how far a piece of work is, on one line that is redrawn on a
// terminal and on a plain line every few seconds elsewhere:
//
//	expand: 1,200/20,000 calls · 300 from cache · 45.2/s · ETA 6m56s
//
// The rate and the time left are those of recent work that did not come from
// the cache. All methods are safe for concurrent use, and do nothing on a nil
// *Progress. Errors in writing are ignored: the work matters more.
type Progress struct {
	w        io.Writer
	terminal bool
	label    string
	unit     string
	total    int
	now      func() time.Time

	mu       sync.Mutex
	done     int
	cached   int
	counts   map[string]int
	start    time.Time
	shown    time.Time // when a line was last written
	recent   []sample
	finished bool
}

// sample is how much was done by some time, without what was cached.
type sample struct {
	at    time.Time
	fresh int
}

// ProgressOption changes a new Progress.
type ProgressOption func(*Progress)

// WithUnit names what is counted, such as "calls".
func WithUnit(unit string) ProgressOption {
	return func(p *Progress) { p.unit = Visible(unit) }
}

// NewProgress starts a progress line on w, which is standard error in a
// program. A total that is not positive is unknown.
func NewProgress(w io.Writer, isTerminal bool, label string, total int, opts ...ProgressOption) *Progress {
	p := &Progress{
		w: w, terminal: isTerminal, label: Visible(label), total: total,
		now: time.Now, counts: make(map[string]int),
	}
	for _, opt := range opts {
		opt(p)
	}
	p.start = p.now()
	p.shown = p.start
	p.recent = []sample{{at: p.start}}
	if p.terminal {
		p.redraw(p.start)
	}
	return p
}

// Add tells that n more are done.
func (p *Progress) Add(n int) { p.update(func() { p.done += n }) }

// AddCached tells that n more are done without work, from a cache. They show
// as "from cache" and are no part of the rate.
func (p *Progress) AddCached(n int) { p.update(func() { p.done += n; p.cached += n }) }

// Count adds n to a count that is shown beside the total, such as "failed".
// It does not add to what is done.
func (p *Progress) Count(label string, n int) {
	p.update(func() { p.counts[Visible(label)] += n })
}

// Println writes a line of its own, such as a warning, without breaking the
// progress line. The line is shown as [Visible] does.
func (p *Progress) Println(line string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	line = Visible(line) + "\n"
	if !p.terminal || p.finished {
		io.WriteString(p.w, line)
		return
	}
	io.WriteString(p.w, "\r"+eraseToRight+line)
	p.redraw(p.now())
}

// Finish writes the last line, with the time taken and the mean rate. It
// claims no more than was done. Later calls do nothing.
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
	line := p.lastLine(p.now()) + "\n"
	if p.terminal {
		line = "\r" + eraseToRight + line
	}
	io.WriteString(p.w, line)
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
	if now.Sub(p.recent[len(p.recent)-1].at) >= sampleEvery {
		if len(p.recent) > rateSamples {
			p.recent = slices.Delete(p.recent, 0, 1)
		}
		p.recent = append(p.recent, sample{at: now, fresh: p.done - p.cached})
	}
	switch since := now.Sub(p.shown); {
	case p.terminal && since >= redrawEvery:
		p.redraw(now)
	case !p.terminal && since >= plainEvery:
		p.shown = now
		io.WriteString(p.w, p.line(now)+"\n")
	}
}

// redraw replaces the line on the terminal. A line that is wider than the
// terminal would wrap, and the next one not replace it.
func (p *Progress) redraw(now time.Time) {
	p.shown = now
	line := p.line(now)
	if width := terminalWidth(p.w); width > 1 {
		neutralWidths()
		line = text.Snip(line, width-1, "…")
	}
	io.WriteString(p.w, "\r"+line+eraseToRight)
}

// line is what is known while the work goes on.
func (p *Progress) line(now time.Time) string {
	parts := p.parts()
	first := p.recent[0]
	rate := rateOf(p.done-p.cached-first.fresh, now.Sub(first.at))
	if rate == 0 {
		return strings.Join(parts, between)
	}
	parts = append(parts, formatRate(rate))
	if left := p.total - p.done; left > 0 {
		seconds := min(float64(left)/rate, 1e9) // more would overflow a Duration
		parts = append(parts, "ETA "+formatDuration(time.Duration(seconds*float64(time.Second))))
	}
	return strings.Join(parts, between)
}

// lastLine is the summary.
func (p *Progress) lastLine(now time.Time) string {
	parts := p.parts()
	elapsed := now.Sub(p.start)
	if rate := rateOf(p.done-p.cached, elapsed); rate > 0 {
		parts = append(parts, formatRate(rate))
	}
	return strings.Join(append(parts, "in "+formatDuration(elapsed)), between)
}

// parts are the counts. Their order does not depend on which came first.
func (p *Progress) parts() []string {
	head := p.label + ": " + humanize.Comma(int64(p.done))
	if p.total > 0 {
		head += "/" + humanize.Comma(int64(p.total))
	}
	if p.unit != "" {
		head += " " + p.unit
	}
	parts := []string{head}
	if p.cached > 0 {
		parts = append(parts, humanize.Comma(int64(p.cached))+" from cache")
	}
	labels := make([]string, 0, len(p.counts))
	for label := range p.counts {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for _, label := range labels {
		parts = append(parts, humanize.Comma(int64(p.counts[label]))+" "+label)
	}
	return parts
}

// rateOf is n per second; 0 where there is too little to tell.
func rateOf(n int, d time.Duration) float64 {
	if n <= 0 || d < redrawEvery {
		return 0
	}
	return float64(n) / d.Seconds()
}

func formatRate(rate float64) string {
	switch {
	case rate >= 100:
		return humanize.Comma(int64(rate+0.5)) + "/s"
	case rate >= 1:
		return strconv.FormatFloat(rate, 'f', 1, 64) + "/s"
	default:
		return strconv.FormatFloat(rate*60, 'f', 1, 64) + "/min"
	}
}

// formatDuration gives the two units that matter: 3d4h, 2h5m, 6m58s, 12s,
// and tenths below ten seconds.
func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute-time.Second/2:
		return fmt.Sprintf("%ds", d.Round(time.Second)/time.Second)
	case d < time.Hour-time.Second/2:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day-time.Minute/2:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		d = d.Round(time.Hour)
		return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
	}
}

// terminalWidth returns the columns of the terminal behind w, 0 if unknown.
func terminalWidth(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
