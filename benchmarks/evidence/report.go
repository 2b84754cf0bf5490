package evidence

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
	"github.com/refract-eval/refract/report/page"
)

// Report is what a report is made of. Any part may be missing.
type Report struct {
	Title string
	// Result is the comparison with people; nil where there are no human
	// scores.
	Result *experiment.Result
	// Held is the dataset whose segments are shown; nil for none.
	Held *Held
	// Shown names the dataset of Held where the result has several.
	Shown string
	// WithoutSegments leaves the texts out of the page.
	WithoutSegments bool
	// More tables, such as those of judges.
	More []*report.NamedTable
}

// Document is the page. Its segments are made as it is written, under ctx.
func (r *Report) Document(ctx context.Context) (*page.Document, error) {
	d := &page.Document{Title: r.Title, Summary: r.summary(), Facts: r.facts(), Verdicts: r.verdicts(), Rankings: r.rankings()}
	if r.Held != nil {
		if !r.WithoutSegments {
			d.Explorer = r.Held.Explorer(ctx)
		}
	}
	for _, f := range r.Figures() {
		var light, dark bytes.Buffer
		if err := figure.Draw(&light, figure.Style{}, f.Panels...); err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.Name, err)
		}
		if err := figure.Draw(&dark, figure.Style{Dark: true}, f.Panels...); err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.Name, err)
		}
		d.Figures = append(d.Figures, page.Figure{
			ID: "figure-" + f.Name, Title: f.Title, SVG: light.Bytes(), Dark: dark.Bytes(), Alt: f.Alt, Narrow: len(f.Panels) == 1,
		})
	}
	for _, t := range r.Tables() {
		shown := *t
		shown.Columns = r.columns(t)
		d.Tables = append(d.Tables, &shown)
	}
	return d, nil
}

// columns are those of a table, without the dataset's name where there is one
// dataset only.
func (r *Report) columns(t *report.NamedTable) []report.Column {
	if r.Result == nil || len(r.Result.Datasets) != 1 {
		return t.Columns
	}
	out := slices.Clone(t.Columns)
	for i := range out {
		out[i].Hide = out[i].Hide || out[i].Name == "dataset"
	}
	return out
}

// summary says in a sentence what the page is about.
func (r *Report) summary() string {
	var parts []string
	if r.Result != nil {
		for _, d := range r.Result.Datasets {
			parts = append(parts, fmt.Sprintf("%s: %d segments and %d systems, compared with %s in %d cells", d.Name, d.Segments, len(d.Systems), d.Human, d.Cells))
		}
	} else if r.Held != nil {
		parts = append(parts, fmt.Sprintf("%d segments and %d systems, without human scores", len(r.Held.segments), len(r.Held.names)))
	}
	s := strings.Join(parts, "; ")
	if r.Shown != "" && !r.WithoutSegments {
		s += ". The segments, and the scores of systems, are those of " + r.Shown
	}
	return s + "."
}

// facts are what the numbers rest on.
func (r *Report) facts() []report.Fact {
	var out []report.Fact
	if r.Result != nil {
		for _, d := range r.Result.Datasets {
			about := "systems: " + strings.Join(d.Systems, ", ")
			if len(d.LeftOut) > 0 {
				about += "; left out as references scored as systems: " + strings.Join(d.LeftOut, ", ")
			}
			if len(d.Unjudged) > 0 {
				about += "; left out without a human score: " + strings.Join(d.Unjudged, ", ")
			}
			out = append(out, report.Fact{Name: d.Name, Value: about + "; set of references " + d.Set})
		}
		for _, m := range r.Result.Ended {
			out = append(out, report.Fact{Name: "ended", Value: m.Metric + ": " + m.Reason})
		}
		for _, n := range r.Result.Notes {
			out = append(out, report.Fact{Name: "method", Value: n})
		}
	}
	if r.Held != nil {
		out = append(out, r.Held.facts()...)
	}
	return out
}

// verdicts are those of the result, the most important ones first.
func (r *Report) verdicts() []report.Verdict {
	if r.Result == nil {
		return nil
	}
	ordered := slices.Clone(r.Result.Verdicts)
	slices.SortStableFunc(ordered, func(a, b report.Verdict) int { return weight(&a) - weight(&b) })
	return ordered
}

// weight orders verdicts: what is decided comes before what is not, and the
// whole before its parts.
func weight(v *report.Verdict) int {
	decided := v.Outcome == report.Better || v.Outcome == report.Worse
	switch {
	case v.Kind == "difference" && decided:
		return 0
	case v.Kind == "curve":
		return 1
	case v.Kind == "prompts":
		return 2
	case v.Kind == "difference":
		return 3
	case v.Kind == "strata":
		return 5
	}
	return 4
}

// rankings are those of the result, or, without human scores, that of the
// systems under each setting.
func (r *Report) rankings() []page.Ranking {
	var out []page.Ranking
	if r.Result != nil {
		for _, k := range r.Result.Rankings {
			p := page.Ranking{Title: "Systems of " + k.Dataset, Settings: []string{k.Human}, Digits: 2, Systems: k.Systems,
				Notes: []string{"Scores are means over the segments that have a human score."}}
			for _, name := range k.Settings {
				p.Settings = append(p.Settings, name.String())
			}
			if text := k.Without(); text != "" {
				p.Notes = append(p.Notes, text)
			}
			out = append(out, p)
		}
	}
	if len(out) == 0 && r.Held != nil {
		if ranking := r.Held.ranking(); ranking != nil {
			out = append(out, *ranking)
		}
	}
	return out
}

// Tables are all tables of the report: those of the result, the scores of all
// systems, and the ones that were added.
func (r *Report) Tables() []*report.NamedTable {
	var out []*report.NamedTable
	if r.Result != nil {
		out = r.Result.Tables()
	}
	if r.Held != nil {
		out = append(out, r.Held.scoreTable())
	}
	return append(out, r.More...)
}

// panelsBeside is how many panels stand side by side and can still be read on
// a page.
const panelsBeside = 2

// Figures are those of the result, parted where they have more panels than can
// be read side by side.
func (r *Report) Figures() []experiment.Figure {
	if r.Result == nil {
		return nil
	}
	var out []experiment.Figure
	for _, f := range r.Result.Figures() {
		if len(f.Panels) <= panelsBeside {
			out = append(out, f)
			continue
		}
		parts := (len(f.Panels) + panelsBeside - 1) / panelsBeside
		for i := range parts {
			part := f
			part.Name = fmt.Sprintf("%s-%d", f.Name, i+1)
			part.Title = fmt.Sprintf("%s (%d of %d)", f.Title, i+1, parts)
			part.Panels = f.Panels[i*panelsBeside : min((i+1)*panelsBeside, len(f.Panels))]
			out = append(out, part)
		}
	}
	return out
}
