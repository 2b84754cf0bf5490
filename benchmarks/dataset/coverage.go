package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// coverage counts, for each system, the segments without a text of it.
type coverage struct {
	all     examples // ids of the segments
	systems []string
	missing map[string]*examples // ids of segments, by system
}

const mostShown = 3

// add counts one segment. A new system has missed all segments before it.
func (c *coverage) add(s *refract.Segment) {
	if c.missing == nil {
		c.missing = map[string]*examples{}
	}
	for i := range s.Hypotheses {
		if name := s.Hypotheses[i].System; (i >= len(c.systems) || c.systems[i] != name) && c.missing[name] == nil {
			c.systems = append(c.systems, name)
			c.missing[name] = &examples{c.all.n, slices.Clone(c.all.shown)}
		}
	}
	has := func(i int, name string) bool {
		if i < len(s.Hypotheses) && s.Hypotheses[i].System == name { // the order is the same in most segments
			return s.Hypotheses[i].Text.Valid
		}
		return slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == name && h.Text.Valid })
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

// report warns of each system that lacks segments.
func (c *coverage) report(file string, warn func(Warning)) {
	for _, name := range c.systems {
		if e := c.missing[name]; e.n > 0 {
			warn(Warning{refract.Position{File: file}, fmt.Sprintf("system %s has no text for %d of %s (ids %s)", text.Quote(name), e.n, english.Count(c.all.n, "segment"), e)})
		}
	}
}

// examples counts what is shown by its first few.
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
