package audit

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/internal/report"
)

// CanarySource returns the texts of a segment that are neither missing nor blank.
func CanarySource(s *refract.Segment) guard.CanarySource {
	texts := make([]refract.Text, len(s.Hypotheses))
	for i := range texts {
		texts[i] = s.Hypotheses[i].Text
	}
	c := guard.CanarySource{References: present(s.References), Hypotheses: present(texts)}
	if s.Source.Valid {
		c.Source = &s.Source.Value
	}
	return c
}

// present returns the texts that are neither missing nor blank.
func present(texts []refract.Text) []string {
	var out []string
	for _, t := range texts {
		if t.Valid && strings.TrimSpace(t.Value) != "" {
			out = append(out, t.Value)
		}
	}
	return out
}

// WriteStands writes a table for people: a row for each judge and kind of
// injection, and a row with each judge's total.
func WriteStands(w io.Writer, stands []guard.Stand) error {
	t := &report.NamedTable{Title: "Canaries", Columns: []report.Column{{Name: "judge"}, {Name: "injection"}}}
	for _, name := range []string{"planted", "judged", "seen through", "fooled", "blind", "no score"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Kind: report.KindInt})
	}
	t.Columns = append(t.Columns, report.Column{Name: "mean gain", Kind: report.KindFloat, Digits: 3})
	for i := range stands {
		s := &stands[i]
		if s.All.Planted == 0 {
			t.Note("%s: no canary could be made: no segment has what the judges need and a text that can be made bad", s.Judge)
		}
		row := func(kind string, c *guard.Count) {
			gain := report.Null()
			if g, ok := c.MeanGain(); ok {
				gain = report.Float(g)
			}
			t.Add(s.Judge, kind, c.Planted, c.Judged(), c.SeenThrough, c.Fooled, c.Blind, c.NoScore, gain)
		}
		for _, kind := range slices.Sorted(maps.Keys(s.Kinds)) {
			row(kind, s.Kinds[kind])
		}
		row("all", &s.All)
	}
	return t.WriteTitled(w)
}
