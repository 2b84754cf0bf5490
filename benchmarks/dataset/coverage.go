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
	// references counts references without a word, and all of them.
	blankReferences, references int
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

// report warns about blank references, and about each system that lacks segments or has
// blank texts.
func (c *coverage) report(file, unit string, warn func(Warning)) {
	if c.blankReferences > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("blank references: %d of %d; they are scored as empty texts, not as missing ones", c.blankReferences, c.references)})
	}
	lacking := 0
	for _, name := range c.systems {
		lacking += c.missing[name].n
		file := cmp.Or(c.files[name], file)
		tellBlank(file, name, c.blank[name], c.all.n-c.missing[name].n, warn)
		tellMissing(file, name, c.missing[name], c.all.n, warn)
	}
	if unit == rowUnit && lacking > 0 && lacking == c.all.n*(len(c.systems)-1) {
		warn(Warning{refract.Position{File: file}, "each row has the output of one system; rows of the same segment are joined by group=COLUMN, which names what they share"})
	}
}

// tellBlank warns about the blank outputs of a system, if there are any.
func tellBlank(file, system string, blank, of int, warn func(Warning)) {
	if blank > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("system %s: blank outputs: %d of %d; they are scored as empty texts, not as missing ones", text.Quote(system), blank, of)})
	}
}

// tellMissing warns about the segments that a system lacks, if there are any.
func tellMissing(file, system string, e *examples, of int, warn func(Warning)) {
	if e.n > 0 {
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("system %s has no text for %d of %s (ids %s)", text.Quote(system), e.n, english.Count(of, "segment"), e)})
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
