// Package agreement sets the scores of metrics beside human judgements.
//
// A Collector takes in the segments of a dataset in order, with the values
// of any number of columns (a metric with an aggregator, a stored metric),
// and gives for each column the table that package correlate works on.
package agreement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
)

// Collector holds judgements and column values of all segments: rank
// statistics need them all.
type Collector struct {
	columns  int
	systems  []string
	human    []bool
	index    map[string]int
	names    []string // of judgements, in order of appearance
	gold     map[string]*table
	values   []*table
	places   []correlate.Place // of the segments
	segments int
}

// table is a growing table segments × systems. A row has as many entries as
// systems were known when it was added; the rest is missing.
type table struct {
	rows []row
}

type row struct {
	values []float64
	ok     []bool
}

func (t *table) set(segment, system int, v float64) {
	for len(t.rows) <= segment {
		t.rows = append(t.rows, row{})
	}
	r := &t.rows[segment]
	for len(r.values) <= system {
		r.values = append(r.values, 0)
		r.ok = append(r.ok, false)
	}
	r.values[system], r.ok[system] = v, true
}

// get looks up an entry; a nil table has none.
func (t *table) get(segment, system int) (float64, bool) {
	if t == nil || segment >= len(t.rows) || system >= len(t.rows[segment].values) {
		return 0, false
	}
	return t.rows[segment].values[system], t.rows[segment].ok[system]
}

// NewCollector returns a collector of that many columns.
func NewCollector(columns int) *Collector {
	c := &Collector{columns: columns, index: map[string]int{}, gold: map[string]*table{}}
	for range columns {
		c.values = append(c.values, &table{})
	}
	return c
}

// Add takes in the next segment. value returns the value of a column for the
// h-th hypothesis, oriented so that higher is better, and whether there is
// one.
func (c *Collector) Add(s *refract.Segment, value func(column, h int) (float64, bool)) {
	at := c.segments
	c.segments++
	c.places = append(c.places, correlate.Place{Segment: s.ID, Document: s.Document, Domain: s.Domain})
	for h := range s.Hypotheses {
		sys := c.system(s.Hypotheses[h].System)
		c.human[sys] = c.human[sys] || s.Hypotheses[h].Human
		for k := range c.columns {
			if v, ok := value(k, h); ok {
				c.values[k].set(at, sys, v)
			}
		}
	}
	for _, j := range s.Judgements {
		t := c.gold[j.Name]
		if t == nil {
			t = &table{}
			c.gold[j.Name] = t
			c.names = append(c.names, j.Name)
		}
		if !j.Valid {
			continue
		}
		// A system that is judged but has no hypothesis counts too: its cells
		// are missing, and told so.
		t.set(at, c.system(j.System), j.Score)
	}
}

func (c *Collector) system(name string) int {
	i, ok := c.index[name]
	if !ok {
		i = len(c.systems)
		c.index[name] = i
		c.systems = append(c.systems, name)
		c.human = append(c.human, false)
	}
	return i
}

// Names lists the kinds of judgement seen, in order of appearance.
func (c *Collector) Names() []string { return c.names }

// Segments is the number of segments added.
func (c *Collector) Segments() int { return c.segments }

// Choose returns the judgements to compare with: wanted, if there are such;
// where none is wanted the only kind there is, or else "mqm".
func (c *Collector) Choose(wanted string) (string, error) {
	return Choose(wanted, c.names)
}

// Choose picks one of several kinds of judgement, as Collector.Choose does.
func Choose(wanted string, names []string) (string, error) {
	const usual = "mqm"
	list := strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("the dataset has no human scores, so there is nothing to compare with")
	case wanted != "" && slices.Contains(names, wanted):
		return wanted, nil
	case wanted != "":
		return "", fmt.Errorf("the dataset has no human scores named %q; it has %s", wanted, list)
	case len(names) == 1:
		return names[0], nil
	case slices.Contains(names, usual):
		return usual, nil
	}
	return "", fmt.Errorf("the dataset has several kinds of human scores (%s); choose one", list)
}

// Compared says which systems a comparison has.
type Compared struct {
	Systems  []string // in the dataset's order
	Human    []string // left out, as people wrote their texts
	Unjudged []string // left out, as there is no judgement of any segment
	columns  []int
}

// Systems returns the systems that have judgements of that name. References
// scored as systems are left out unless asked for.
func (c *Collector) Systems(name string, includeHuman bool) Compared {
	var out Compared
	for i, s := range c.systems {
		judged := false
		for seg := 0; seg < c.segments && !judged; seg++ {
			_, judged = c.gold[name].get(seg, i)
		}
		switch {
		case c.human[i] && !includeHuman:
			out.Human = append(out.Human, s)
		case !judged:
			out.Unjudged = append(out.Unjudged, s)
		default:
			out.Systems = append(out.Systems, s)
			out.columns = append(out.columns, i)
		}
	}
	return out
}

// Pairs returns the table of a column and the judgements of that name, for
// the given systems.
func (c *Collector) Pairs(column int, name string, systems Compared) *correlate.Pairs {
	p := correlate.NewPairs(c.segments, len(systems.columns))
	for seg := range c.segments {
		for k, sys := range systems.columns {
			i := p.Index(seg, k)
			p.Gold[i], p.GoldOK[i] = c.gold[name].get(seg, sys)
			p.Metric[i], p.MetricOK[i] = c.values[column].get(seg, sys)
		}
	}
	return p
}

// At returns a table of this collector's segments at a level, see
// [correlate.Pairs.At].
func (c *Collector) At(level correlate.Level, p *correlate.Pairs) (*correlate.Pairs, error) {
	return p.At(level, c.places)
}

// Groups is the number of segments, documents, domains or systems' rows at a
// level.
func (c *Collector) Groups(level correlate.Level) (int, error) {
	_, n, err := level.Groups(c.places)
	return n, err
}
