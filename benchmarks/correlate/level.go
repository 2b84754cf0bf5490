package correlate

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract/internal/english"
)

// Level is the granularity of the compared scores. Above segments, a score is the mean of a
// system's segment scores.
type Level uint8

// The levels, from the finest to the coarsest.
const (
	SegmentLevel  Level = iota
	DocumentLevel       // with the same domain and document
	DomainLevel
	SystemLevel // all segments
)

var levelNames = []string{"segment", "document", "domain", "system"}

// LevelNames returns the names that [ParseLevel] reads.
func LevelNames() []string { return slices.Clone(levelNames) }

// String returns the name that [ParseLevel] reads.
func (l Level) String() string {
	return english.Name("Level", int(l), levelNames)
}

// ParseLevel returns the level with a name: segment, document, domain or system. The error
// lists the names, and suggests the closest one.
func ParseLevel(name string) (Level, error) {
	i, err := english.Index("level", name, levelNames)
	return Level(i), err
}

// Place says where a segment belongs; "" if unknown. Domain and document together identify
// a document.
type Place struct{ Segment, Document, Domain string }

// Groups numbers the groups of segments at a level from 0, in order of appearance. It
// returns the group of each segment and the number of groups. A segment without a document,
// or without a domain, is an error at that level.
func (l Level) Groups(places []Place) (of []int32, groups int, err error) {
	of = make([]int32, len(places))
	if l == SegmentLevel {
		for i := range of {
			of[i] = int32(i)
		}
		return of, len(of), nil
	}
	index := map[Place]int32{}
	for i, p := range places {
		var key Place
		stated := true
		switch l {
		case DocumentLevel:
			key, stated = Place{Document: p.Document, Domain: p.Domain}, p.Document != ""
		case DomainLevel:
			key, stated = Place{Domain: p.Domain}, p.Domain != ""
		}
		if !stated {
			return nil, 0, fmt.Errorf("segment %q has no %s, so there are no scores at %s level; choose another level", p.Segment, l, l)
		}
		g, ok := index[key]
		if !ok {
			g = int32(len(index))
			index[key] = g
		}
		of[i] = g
	}
	return of, len(index), nil
}

// At returns the table at a level: the table itself at segment level, and otherwise the
// [Pairs.Means] of the groups of segments with these places.
func (p *Pairs) At(level Level, places []Place) (*Pairs, error) {
	if level == SegmentLevel {
		return p, nil
	}
	of, groups, err := level.Groups(places)
	if err != nil {
		return nil, err
	}
	means, err := p.Means(of, groups)
	if err == nil {
		means.level.level = level
	}
	return means, err
}

// Level is the level of the scores: that of [Pairs.At]. For other [Pairs.Means] it is
// SystemLevel if they are of one group, and otherwise DocumentLevel.
func (p *Pairs) Level() Level {
	if p.level == nil {
		return SegmentLevel
	}
	return p.level.level
}

// meansOf says whose means a table holds.
type meansOf struct {
	base  *Pairs
	of    []int32 // group of each segment of base
	level Level
}

// Under returns the table whose means a table holds: if the scores are not means, itself.
func (p *Pairs) Under() *Pairs {
	if p.level == nil {
		return p
	}
	return p.level.base
}

// Remade returns the table with the means of other scores of its segments; if the scores are
// not means, these scores.
func (p *Pairs) Remade(base *Pairs) (*Pairs, error) {
	if p.level == nil {
		return base, nil
	}
	out, err := base.Means(p.level.of, p.Segments)
	if err == nil {
		out.level.level = p.level.level
	}
	return out, err
}

// Means returns a table with one row per group of segments, such as documents: each
// system's mean gold and metric scores over its cells that have both. A cell without any is
// missing. of is the group of each segment, from 0.
//
// A [Bootstrap] of the returned table draws the segments of p and recomputes the means.
func (p *Pairs) Means(of []int32, groups int) (*Pairs, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("means: %w", err)
	}
	if len(of) != p.Segments {
		return nil, fmt.Errorf("means: groups of %d segments, want %d", len(of), p.Segments)
	}
	for seg, g := range of {
		if g < 0 || int(g) >= groups {
			return nil, fmt.Errorf("means: segment %d (from 0) is of group %d, but there are %d", seg, g, groups)
		}
	}
	out := newMeanRow(p, of, groups, nil, int64(p.Segments)).means(nil, new(scratch))
	out.level = &meansOf{p, of, DocumentLevel}
	if groups == 1 {
		out.level.level = SystemLevel
	}
	return out, nil
}
