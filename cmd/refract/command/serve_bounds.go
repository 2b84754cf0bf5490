package command

import (
	"context"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/serve"
)

// What a request may ask for: see docs/serve.md.
const (
	mostListed   = 64        // metrics, and aggregators
	mostSpec     = 4096      // bytes of one
	mostSettings = 256       // metrics with their aggregators
	mostSegments = 1_000_000 // and those of few bytes:
	leastSegment = 16        // bytes, of which a request of more than someSegments has one each
	someSegments = 10_000
	mostScores   = 4_000_000
)

// Bytes that an answer is expected to have.
const (
	scoreBytes  = 32  // for a score with its status
	systemBytes = 512 // for that of a system with its signature
	rowBytes    = 512 // for a row of a table
)

// demand is what a request asks for.
type demand struct {
	settings, segments, systems int
	cells                       int // of hypotheses and references
	columns                     int // references, at least 1 a segment
	names                       int // bytes of the names of systems
	scores, bytes               int
}

// demandOf sees what segments have. Their scores by so many metrics are counted.
func demandOf(segments []*refract.Segment, metrics, settings int) *demand {
	d := &demand{segments: len(segments), settings: settings}
	seen := map[string]bool{}
	for _, s := range segments {
		columns := max(1, len(s.References))
		d.columns += columns
		d.cells += columns * len(s.Hypotheses)
		for i := range s.Hypotheses {
			if name := s.Hypotheses[i].System; !seen[name] {
				seen[name] = true
				d.names += len(name)
			}
		}
	}
	d.systems = len(seen)
	d.scores = metrics*d.cells + settings*d.systems
	d.bytes = settings * (systemBytes + systemBytes*d.systems + 3*d.names)
	return d
}

// demands is what a request for scores asks for.
func (q *scoreRequest) demands() *demand {
	d := demandOf(q.segments, len(q.metrics), len(q.metrics)*max(1, len(q.aggregators)))
	more := 0
	if q.perSegment {
		more += d.settings * d.segments * d.systems
	}
	if q.cells {
		more += len(q.metrics) * d.columns * d.systems
	}
	d.scores += more
	d.bytes += more * scoreBytes
	return d
}

// admit waits until there is room for what is asked for, and refuses what is too much.
func (d *demand) admit(ctx context.Context) error {
	switch {
	case d.settings > mostSettings:
		return usagef("the request has %s, each a metric with an aggregator, and at most %d are taken: part it", english.Thousands(d.settings, "setting"), mostSettings)
	case d.scores > mostScores:
		return usagef("the request asks for %s, by %s for %s of %s, and at most %s are taken: part it", english.Thousands(d.scores, "score"),
			english.Thousands(d.settings, "setting"), english.Thousands(d.segments, "segment"), english.Thousands(d.systems, "system"), english.Thousands(mostScores, "score"))
	}
	return serve.Expect(ctx, int64(d.bytes))
}
