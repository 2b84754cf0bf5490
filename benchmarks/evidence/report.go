package evidence

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/english"
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
	// Subset says what was chosen of the dataset where there is no Result; "" for all.
	Subset string
	// More tables, such as those of judges.
	More []*report.NamedTable
}

// Document is the page. Its segments are made as it is written, under ctx.
func (r *Report) Document(ctx context.Context) (*page.Document, error) {
	d := &page.Document{Title: r.Title, Lead: r.lead(), Basis: r.basis(), Terms: report.Explanations(), Facts: r.facts(), Rankings: r.rankings()}
	if r.Result != nil {
		d.Forests = r.Result.Forests()
	}
	if r.Held != nil {
		if !r.WithoutSegments {
			r.Held.judgedBy(r.human())
			d.Explorer = r.Held.Explorer(ctx)
		}
	}
	var shown []string // the statistics whose figures stand open
	if r.Result != nil && len(r.Result.Statistics) > 0 {
		shown = []string{r.Result.Statistics[0], r.Result.DecidedBy()}
	}
	clear := figure.Style{Clear: true}
	ofPairs := 0
	for _, f := range r.Figures() {
		if f.Kind == experiment.PairFigure {
			if ofPairs++; ofPairs > mostOfPairs {
				continue
			}
		}
		if f.Kind == experiment.DifferenceFigure {
			continue // the forest shows them
		}
		var light, dark bytes.Buffer
		if err := figure.Draw(&light, clear, f.Panels...); err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.Name, err)
		}
		if err := figure.Draw(&dark, figure.Style{Dark: true, Clear: true}, f.Panels...); err != nil {
			return nil, fmt.Errorf("figure %s: %w", f.Name, err)
		}
		made := page.Figure{ID: "figure-" + f.Name, Title: f.Title, SVG: light.Bytes(), Dark: dark.Bytes(), Alt: f.Alt, Findings: f.Findings,
			Aside: !slices.Contains(shown, f.Statistic)}
		if f.Data != nil {
			made.Data = r.shown(f.Data)
		}
		d.Figures = append(d.Figures, made)
	}
	if left := ofPairs - mostOfPairs; left > 0 { // they are the last of a result
		last := &d.Figures[len(d.Figures)-1]
		last.Notes = append(last.Notes, english.Count(left, "more figure")+" of pairs of systems: --figures writes all")
	}
	for _, t := range r.Tables() {
		if slices.Contains(elsewhere, t.Name) {
			continue
		}
		shown := page.Table{NamedTable: r.shown(t)}
		switch t.Name {
		case "rows": // in the order of the forest
			at, _ := columnOf(shown.NamedTable, "statistic")
			slices.SortStableFunc(shown.Rows, func(a, b []report.Value) int {
				x, _ := a[at].Show(0)
				y, _ := b[at].Show(0)
				return cmp.Compare(r.place(x), r.place(y))
			})
		case "differences":
			if shown.Rows = r.notLeading(shown.Rows); len(shown.Rows) == 0 {
				continue
			}
			if len(d.Forests) > 0 {
				shown.Title = "Other differences"
			}
		case "strata":
			shown.Findings = r.Result.StrataFindings()
		case "worth":
			shown.Findings = r.Result.FindingsOf("worth")
		}
		d.Tables = append(d.Tables, shown)
	}
	return d, nil
}

// human is the name of the human scores of the segments that are shown; "" for none.
func (r *Report) human() string {
	if r.Result == nil {
		return ""
	}
	for i := range r.Result.Datasets {
		if d := &r.Result.Datasets[i]; r.Shown == "" || d.Name == r.Shown {
			return d.Human
		}
	}
	return ""
}

// mostOfPairs is how many figures of pairs of systems a page has: each has a dot and
// a row for every pair, and there is one for every metric of a dataset.
const mostOfPairs = 12

// columnOf finds a column by its name.
func columnOf(t *report.NamedTable, name string) (int, bool) {
	i := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Name == name })
	return i, i >= 0
}

// place is that of a statistic, as it is shown, among those of the result.
func (r *Report) place(shown string) int {
	return slices.IndexFunc(r.Result.Statistics, func(label string) bool { return strings.HasPrefix(shown, report.Display(label)) })
}

// elsewhere are the tables of which the page has the content in another place:
// the settings in one table, curves, prompts and numbers of segments below their
// figures, the order of systems beside their scores.
var elsewhere = []string{"summary", "curve", "prompts", "segments", "ranking"}

// notLeading leaves out the differences that the forest shows.
func (r *Report) notLeading(rows [][]report.Value) [][]report.Value {
	var out [][]report.Value
	for i := range r.Result.Differences {
		if !r.Result.Leads(&r.Result.Differences[i]) {
			out = append(out, rows[i])
		}
	}
	return out
}

// lead is the sentence above the page.
func (r *Report) lead() string {
	if r.Result != nil {
		return r.Result.Lead()
	}
	lead := r.Held.lead()
	if lead != "" && r.Subset != "" {
		lead = "On a subset, " + lead
	}
	return lead
}

// basis says what it rests on.
func (r *Report) basis() string {
	var s string
	switch {
	case r.Result != nil:
		s = r.Result.Basis()
	case r.Held != nil:
		s = fmt.Sprintf("%s of %s, without human scores", english.Thousands(len(r.Held.segments), "segment"), english.Count(len(r.Held.names), "system"))
		if r.Subset != "" {
			s = "the subset: " + r.Subset + " · " + s
		}
	}
	if r.Shown != "" && !r.WithoutSegments {
		s += " · the segments, and the scores of systems, are those of " + r.Shown
	}
	return s
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

// rankings are those of the result, or, without human scores, that of the
// systems under each setting.
func (r *Report) rankings() []page.Ranking {
	var out []page.Ranking
	if r.Result != nil {
		for _, k := range r.Result.Rankings {
			p := page.Ranking{Title: "Systems of " + k.Dataset, Settings: []string{k.Human}, Systems: k.Systems,
				Notes: []string{"Scores are means over the segments that have a human score."}}
			if k.Ahead >= 0 {
				p.Notes = append(p.Notes, "Colour: the interval of how far the system moves is off zero.")
			}
			for _, name := range k.Settings {
				p.Settings = append(p.Settings, report.Display(name.String()))
			}
			p.Findings = leaders(&k)
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

// leaders says which system people place first, and what settings say of it.
func leaders(k *experiment.Ranking) []string {
	if len(k.Systems) < 2 || k.Systems[0].First.Rank != 1 {
		return nil
	}
	top, agree := k.Systems[0], 0
	for _, p := range top.Under {
		if p.Rank == 1 {
			agree++
		}
	}
	text := fmt.Sprintf("People place %s first", top.Name)
	switch others := len(k.Systems) - 1; {
	case k.Ahead < 0:
	case k.Ahead == others && others == 1:
		text += ", significantly ahead of the other one"
	case k.Ahead == others:
		text += fmt.Sprintf(", significantly ahead of all %d others", others)
	case k.Ahead == 0:
		text += ", not significantly ahead of any other"
	default:
		text += fmt.Sprintf(", significantly ahead of %d of %d others", k.Ahead, others)
	}
	switch n := len(top.Under); {
	case agree == 0:
		text += "; no setting places it first"
	case agree == n:
		text += "; every setting places it first"
	default:
		text += fmt.Sprintf("; %d of %d settings place it first", agree, n)
	}
	return []string{text}
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

// Figures are those of the result.
func (r *Report) Figures() []experiment.Figure {
	if r.Result == nil {
		return nil
	}
	return r.Result.Figures()
}
