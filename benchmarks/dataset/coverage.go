package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// coverage counts, for each system, the segments for which it has no text.
type coverage struct {
	all     examples // ids of the segments
	systems []string
	of      map[string]*systemCoverage
	files   map[string]string // of systems that have one each
	// references and sources count all of them, and the others those without a word.
	blankReferences, references, blankSources, sources int
	sourceless                                         func() bool // see Options
}

// systemCoverage is what is known of one system.
type systemCoverage struct {
	missing examples // ids of segments without a text
	blank   int      // texts without a word
	last    int      // number of the last segment with a text
}

const mostShown = 3

// add counts a segment. A new system has missed all segments before it.
func (c *coverage) add(s *refract.Segment) {
	if c.of == nil {
		c.of = map[string]*systemCoverage{}
	}
	for i := range s.Hypotheses {
		name, t := s.Hypotheses[i].System, s.Hypotheses[i].Text
		of := c.of[name]
		if of == nil {
			of = &systemCoverage{missing: examples{c.all.n, slices.Clone(c.all.shown)}}
			c.systems, c.of[name] = append(c.systems, name), of
		}
		if t.Valid {
			of.last = c.all.n + 1
		}
		if isBlank(t) {
			of.blank++
		}
	}
	if s.Source.Valid {
		c.sources++
	}
	if isBlank(s.Source) {
		c.blankSources++
	}
	c.references += len(s.References)
	for _, t := range s.References {
		if isBlank(t) {
			c.blankReferences++
		}
	}
	c.all.addID(s.ID)
	for _, name := range c.systems {
		if of := c.of[name]; of.last < c.all.n {
			of.missing.addID(s.ID)
		}
	}
}

func isBlank(t refract.Text) bool { return t.Valid && strings.TrimSpace(t.Value) == "" }

// report warns about blank references and sources, and about each system that lacks segments
// or has blank texts.
func (c *coverage) report(file, unit string, warn func(Warning)) {
	if c.blankReferences > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("blank references: %d of %d; they are scored as empty texts, not as missing ones", c.blankReferences, c.references)})
	}
	if c.blankSources > 0 && (c.sourceless == nil || !c.sourceless()) {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("blank sources: %d of %d; metrics that use them take them as empty texts, not as missing ones", c.blankSources, c.sources)})
	}
	lacking := 0
	for _, name := range c.systems {
		of, at := c.of[name], refract.Position{File: cmp.Or(c.files[name], file)}
		e := &of.missing
		if of.blank > 0 {
			warn(Warning{at, fmt.Sprintf("system %s: blank outputs: %d of %d; they are scored as empty texts, not as missing ones", text.Quote(name), of.blank, c.all.n-e.n)})
		}
		if lacking += e.n; e.n > 0 {
			warn(Warning{at, fmt.Sprintf("system %s has no text for %d of %s (ids %s)", text.Quote(name), e.n, english.Count(c.all.n, "segment"), e)})
		}
	}
	if unit == rowUnit && lacking > 0 && lacking == c.all.n*(len(c.systems)-1) {
		warn(Warning{refract.Position{File: file}, "each row has the output of one system; rows of the same segment are joined by group=COLUMN, which names what they share"})
	}
}

// examples counts items and keeps the first few to show.
type examples struct {
	n     int
	shown []string
}

func (e *examples) add(s string) {
	if e.n++; e.n <= mostShown {
		e.shown = append(e.shown, s)
	}
}

// addID adds an id, which is quoted only if it is shown.
func (e *examples) addID(id string) {
	if e.n < mostShown {
		id = text.Quote(id)
	}
	e.add(id)
}

func (e *examples) String() string {
	s := strings.Join(e.shown, ", ")
	if e.n > len(e.shown) {
		s += ", …"
	}
	return s
}
