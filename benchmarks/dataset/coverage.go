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
	systems []*covered
	index   map[string]int
}

type covered struct {
	name    string
	missing examples // ids of segments
	seen    int      // number of the last segment that had it
}

const mostShown = 3

// add counts one segment.
func (c *coverage) add(s *refract.Segment) {
	number, present := c.all.n+1, 0
	for i := range s.Hypotheses {
		h := &s.Hypotheses[i]
		sys := c.system(i, h.System)
		if h.Text.Valid {
			sys.seen = number
			present++
		}
	}
	id := ""
	if present < len(c.systems) || number <= mostShown {
		id = text.Quote(s.ID)
	}
	for _, sys := range c.systems {
		if sys.seen < number {
			sys.missing.add(id)
		}
	}
	c.all.add(id)
}

// system finds a system, which is at index hint where the order is the same
// in all segments. A new one has missed all segments before this one.
func (c *coverage) system(hint int, name string) *covered {
	if hint < len(c.systems) && c.systems[hint].name == name {
		return c.systems[hint]
	}
	i, ok := c.index[name]
	if !ok {
		if c.index == nil {
			c.index = map[string]int{}
		}
		i = len(c.systems)
		c.index[name] = i
		c.systems = append(c.systems, &covered{name: name, missing: examples{c.all.n, slices.Clone(c.all.shown)}})
	}
	return c.systems[i]
}

// report warns of each system that lacks segments.
func (c *coverage) report(file string, warn func(Warning)) {
	for _, sys := range c.systems {
		if sys.missing.n > 0 {
			warn(Warning{refract.Position{File: file}, fmt.Sprintf("system %s has no text for %d of %s (ids %s)",
				text.Quote(sys.name), sys.missing.n, english.Count(c.all.n, "segment"), &sys.missing)})
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
