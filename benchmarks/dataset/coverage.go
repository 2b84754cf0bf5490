package dataset

import (
	"fmt"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// coverage counts, for each system, the segments without a text of it.
type coverage struct {
	segments int
	first    []string // ids of the first segments
	systems  []*covered
	index    map[string]int
}

type covered struct {
	name    string
	missing int
	ids     []string // the first that miss it
	seen    int      // number of the last segment that had it
}

const shownIDs = 3

// add counts one segment.
func (c *coverage) add(s *refract.Segment) {
	c.segments++
	present := 0
	for i := range s.Hypotheses {
		h := &s.Hypotheses[i]
		if !h.Text.Valid {
			c.system(i, h.System, s)
			continue
		}
		c.system(i, h.System, s).seen = c.segments
		present++
	}
	if present < len(c.systems) {
		for _, sys := range c.systems {
			if sys.seen != c.segments {
				sys.missing++
				if len(sys.ids) < shownIDs {
					sys.ids = append(sys.ids, s.ID)
				}
			}
		}
	}
	if len(c.first) < shownIDs {
		c.first = append(c.first, s.ID)
	}
}

// system finds a system, which is at index hint where the order is the same
// in all segments. A new one has missed all segments before s.
func (c *coverage) system(hint int, name string, s *refract.Segment) *covered {
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
		c.systems = append(c.systems, &covered{
			name:    name,
			missing: c.segments - 1,
			ids:     append([]string(nil), c.first...),
		})
	}
	return c.systems[i]
}

// report warns of each system that lacks segments.
func (c *coverage) report(file string, warn func(Warning)) {
	for _, sys := range c.systems {
		if sys.missing == 0 {
			continue
		}
		warn(Warning{refract.Position{File: file}, fmt.Sprintf("system %s has no text for %d of %s (ids %s)",
			text.Quote(sys.name), sys.missing, english.Count(c.segments, "segment"), someIDs(sys.ids, sys.missing))})
	}
}

// someIDs writes the first ids of n.
func someIDs(ids []string, n int) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = text.Quote(id)
	}
	s := strings.Join(quoted, ", ")
	if n > len(ids) {
		s += ", …"
	}
	return s
}
