package llm

import "time"

// flow finds how many calls a server can have in flight: more while its
// answers are good, additively, and fewer when it refuses or its answers take
// longer, multiplicatively. It starts like TCP, doubling with every round trip
// until the first sign of too much.
//
// Only answers to calls that began after the last decrease count, since the
// others still tell of what was before it.
type flow struct {
	limit, most float64
	step        float64 // increase per round trip, away from the ceiling
	doubling    bool
	since       time.Time // of the last decrease
	ceiling     float64   // the limit that was too much last; 0 before the first

	answers, refused int // of the current short window

	recent window    // the current long window
	ended  time.Time // when the window before it did
	base   float64   // slowly moving minimum of the windows' mean latency, in seconds; 0 before the first
	late   int       // windows in a row whose answers were late
	// A decrease for lateness is on trial for some windows, whose answers per
	// second are compared with those before it.
	rate, before float64 // answers per second, smoothed
	trial        int     // windows to come
}

// window gathers latencies, in seconds.
type window struct {
	n, slow int
	sum     float64
}

const (
	// startFlow is enough to keep a server with continuous batching busy from
	// the start, and far from what overwhelms a provider.
	startFlow   = 128
	restartFlow = 8

	// leastCut is the smallest decrease upon a refusal; half the share of
	// refusals is another.
	leastCut = 0.15

	// slowFactor times the base and slowGrace, in seconds, is a slow answer.
	// Servers that batch take up to twice as long where they are best used, and
	// a client that is busy itself adds some of its own.
	slowFactor = 2
	slowGrace  = 0.1
	// lateWindows in a row with more slow answers than not are no chance.
	lateWindows = 2
	lateCut     = 0.7
	leastLate   = 8 // latency alone does not bring the limit below it
	// A decrease that leaves fewer answers per second than this part of those
	// before was wrong: it is not that the server can do no more, but that the
	// answers have become longer. The first window only fills the server again.
	trialWindows = 5
	sameRate     = 0.85
	smooth       = 0.3
	// baseDrift is how fast the base follows latencies above it otherwise.
	baseDrift = 0.001
)

func newFlow(most int) *flow {
	return &flow{limit: min(startFlow, float64(most)), most: float64(most), step: max(1, float64(most)/64), doubling: true}
}

// bound is how many calls may be in flight, at least 1.
func (f *flow) bound() int { return int(f.limit) }

// restart begins anew, carefully.
func (f *flow) restart(now time.Time) {
	f.cut(now, 1)
	f.limit = min(f.limit, restartFlow)
	f.doubling = true
}

// good takes a good answer into account; busy tells whether the server had
// about as many calls as it may have.
func (f *flow) good(now, started time.Time, busy bool) {
	if started.Before(f.since) {
		return
	}
	f.answers++
	if busy {
		f.limit = min(f.most, f.limit+f.increase())
		f.measure(now, now.Sub(started).Seconds())
	}
	f.judge(now)
}

// increase is what a good answer adds to the limit. Near what was too much
// before, it goes by one call in a round trip.
func (f *flow) increase() float64 {
	switch {
	case f.doubling:
		return 1
	case f.limit > 0.75*f.ceiling && f.limit < 1.1*f.ceiling+1:
		return 1 / f.limit
	}
	return f.step / f.limit
}

// throttled takes a refusal into account.
func (f *flow) throttled(now, started time.Time) {
	if started.Before(f.since) {
		return
	}
	f.doubling = false
	f.answers++
	f.refused++
	f.judge(now)
}

// judge decreases the limit by the share of refusals, once in a window.
func (f *flow) judge(now time.Time) {
	if f.answers < max(4, int(f.limit/2)) {
		return
	}
	share := float64(f.refused) / float64(f.answers)
	f.answers, f.refused = 0, 0
	if share > 0 {
		f.cut(now, 1-max(leastCut, share/2))
	}
}

// measure decreases the limit where most answers of two long windows in a row
// took much longer than the base, and takes that back where it was wrong.
func (f *flow) measure(now time.Time, latency float64) {
	w := &f.recent
	if f.base > 0 && latency > slowFactor*f.base+slowGrace {
		w.slow++
		latency = min(latency, 8*f.base) // one that hung says little of the others
	}
	w.n++
	w.sum += latency
	// The first answers are those of a server that is not yet full.
	if w.n < 20 || f.base > 0 && w.n < int(f.limit) {
		return
	}
	mean, late := w.sum/float64(w.n), 2*w.slow > w.n
	answers := 0.0
	if !f.ended.IsZero() {
		answers = float64(w.n) / max(now.Sub(f.ended).Seconds(), 1e-9)
	}
	*w, f.ended = window{}, now
	if f.base == 0 || mean < f.base {
		f.base = mean
	} else {
		f.base += baseDrift * (mean - f.base)
	}
	switch {
	case f.rate == 0:
		f.rate = answers
	case f.trial != trialWindows:
		f.rate += smooth * (answers - f.rate)
	}
	if f.trial > 0 {
		if f.trial--; f.trial == 0 && f.rate < sameRate*f.before {
			f.base, f.limit, f.ceiling = mean, max(f.limit, f.ceiling), 0
		}
		return
	}
	if !late {
		f.late = 0
		return
	}
	f.doubling = false
	if f.late++; f.late >= lateWindows && f.limit > leastLate {
		f.cut(now, max(lateCut, leastLate/f.limit))
		f.trial, f.before = trialWindows, f.rate
	}
}

// cut decreases the limit to a part of it, at least 1.
func (f *flow) cut(now time.Time, part float64) {
	f.ceiling = f.limit
	f.limit = max(1, f.limit*part)
	f.doubling = false
	f.since = now
	f.answers, f.refused, f.late, f.trial, f.recent = 0, 0, 0, 0, window{}
}
