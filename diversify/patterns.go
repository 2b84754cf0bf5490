package diversify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/report"
)

// Patterns counts rejected answers by what is alike in them (see [Pattern]),
// with an example of each. The zero value is ready for use.
type Patterns struct {
	Segments, Accepted, Rejected int

	Counts map[string]*Count
}

const (
	// maxPatterns bounds what untrusted texts can make of a Patterns.
	maxPatterns   = 1000
	otherPatterns = "(others)"
)

// Add counts the answers of a segment.
func (p *Patterns) Add(s *refract.Segment) {
	if p.Counts == nil {
		p.Counts = map[string]*Count{}
	}
	p.Segments++
	p.Accepted += len(s.Variants)
	p.Rejected += len(s.Rejected)
	for i := range s.Rejected {
		v := &s.Rejected[i]
		name := Pattern(v)
		c := p.Counts[name]
		if c == nil {
			if len(p.Counts) >= maxPatterns {
				name = otherPatterns
			}
			if c = p.Counts[name]; c == nil {
				c = &Count{Name: strings.Clone(name)}
				p.Counts[c.Name] = c
			}
		}
		c.Answers++
		if c.last != p.Segments {
			c.last = p.Segments
			c.Segments++
		}
		if len(c.Examples) == 0 {
			text := v.Text.Value
			if v.Origin != nil && v.Origin.Raw.Valid {
				inner, _ := unwrap(v.Origin.Form, cache.Answer{Text: v.Origin.Raw.Value, HasText: true})
				text = inner.Text
			}
			c.Examples = []Example{{Where: fmt.Sprintf("segment %s, prompt %s", s.ID, v.Prompt), Text: strings.Clone(text)}}
		}
	}
}

// Merge takes in what was counted of the segments that follow.
func (p *Patterns) Merge(o *Patterns) {
	if p.Counts == nil {
		p.Counts = map[string]*Count{}
	}
	p.Segments, p.Accepted, p.Rejected = p.Segments+o.Segments, p.Accepted+o.Accepted, p.Rejected+o.Rejected
	merge(p.Counts, o.Counts, 1)
}

// Most names the most frequent pattern, and says how often it is there.
func (p *Patterns) Most() (name string, answers int) {
	if list := p.sorted(); len(list) > 0 {
		return list[0].Name, list[0].Answers
	}
	return "", 0
}

// sorted are the patterns, the most frequent first.
func (p *Patterns) sorted() []*Count {
	return slices.SortedFunc(maps.Values(p.Counts), func(a, b *Count) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), strings.Compare(a.Name, b.Name))
	})
}

// Table shows the patterns to people, the most frequent first, with a share of
// all answers.
func (p *Patterns) Table() *report.NamedTable {
	t := &report.NamedTable{Title: "rejections by pattern", Columns: []report.Column{
		{Name: "pattern"},
		{Name: "answers", Kind: report.KindInt},
		{Name: "share", Kind: report.KindFloat, Digits: 4},
		{Name: "segments", Kind: report.KindInt},
		{Name: "where", Hide: true},
		{Name: "example"},
	}}
	all := p.Accepted + p.Rejected
	t.Note("%d segments, %d answers: %d accepted, %d rejected", p.Segments, all, p.Accepted, p.Rejected)
	for _, c := range p.sorted() {
		e := &c.Examples[0]
		t.Add(c.Name, c.Answers, float64(c.Answers)/float64(all), c.Segments, e.Where, shorten(e.Text, 60))
	}
	return t
}
