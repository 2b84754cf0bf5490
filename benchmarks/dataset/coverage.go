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
	missing map[string]*examples // ids of segments, by system
	blank   map[string]int       // texts without a word, by system
	files   map[string]string    // of systems that have one each
	// references and sources count all of them, and the others those without a word.
	blankReferences, references, blankSources, sources int
}

const mostShown = 3

// add counts a segment. A new system has missed all segments before it.
func (c *coverage) add(s *refract.Segment) {
	if c.missing == nil {
		c.missing, c.blank = map[string]*examples{}, map[string]int{}
	}
	for i := range s.Hypotheses {
		if name := s.Hypotheses[i].System; (i >= len(c.systems) || c.systems[i] != name) && c.missing[name] == nil {
			c.systems = append(c.systems, name)
			c.missing[name] = &examples{c.all.n, slices.Clone(c.all.shown)}
		}
		if t := s.Hypotheses[i].Text; t.Valid && strings.TrimSpace(t.Value) == "" {
			c.blank[s.Hypotheses[i].System]++
		}
	}
	if s.Source.Valid {
		if c.sources++; strings.TrimSpace(s.Source.Value) == "" {
			c.blankSources++
		}
	}
	c.references += len(s.References)
	for _, t := range s.References {
		if t.Valid && strings.TrimSpace(t.Value) == "" {
			c.blankReferences++
		}
	}
	var texts map[string]bool // systems with a text
	has := func(i int, name string) bool {
		if i < len(s.Hypotheses) && s.Hypotheses[i].System == name { // most segments have the same order
			return s.Hypotheses[i].Text.Valid
		}
		if texts == nil {
			texts = map[string]bool{}
			for _, h := range s.Hypotheses {
				texts[h.System] = h.Text.Valid
			}
		}
		return texts[name]
	}
	for i, name := range c.systems {
		if !has(i, name) {
			c.missing[name].add(text.Quote(s.ID))
		}
	}
	if c.all.n++; c.all.n <= mostShown {
		c.all.shown = append(c.all.shown, text.Quote(s.ID))
	}
}

// report warns about blank references and sources, and about each system that lacks segments or has
// blank texts.
func (c *coverage) report(file, unit string, warn func(Warning)) {
	if c.blankReferences > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("blank references: %d of %d; they are scored as empty texts, not as missing ones", c.blankReferences, c.references)})
	}
	if c.blankSources > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("blank sources: %d of %d; metrics that use them take them as empty texts, not as missing ones", c.blankSources, c.sources)})
	}
	lacking := 0
	for _, name := range c.systems {
		e, at := c.missing[name], refract.Position{File: cmp.Or(c.files[name], file)}
		if blank := c.blank[name]; blank > 0 {
			warn(Warning{at, fmt.Sprintf("system %s: blank outputs: %d of %d; they are scored as empty texts, not as missing ones", text.Quote(name), blank, c.all.n-e.n)})
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

func (e *examples) String() string {
	s := strings.Join(e.shown, ", ")
	if e.n > len(e.shown) {
		s += ", …"
	}
	return s
}
