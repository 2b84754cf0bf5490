package evidence

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// Report holds the parts of a report. Any part may be missing.
type Report struct {
	Title string
	// Result is the comparison with people; nil without human scores.
	Result *conclusions.Result
	// Held is the dataset whose segments are shown, by Explore; nil for none.
	Held *Held
	// Shown names the dataset of Held if the result has several.
	Shown string
	// Chosen says which part of the dataset was chosen, if there is no Result; "" means all.
	Chosen string
	// Ended lists metrics that failed and have no numbers.
	Ended []experiment.Ended
	// More holds additional tables, such as those of judges.
	More []*report.NamedTable

	explorer *page.Explorer
}

// Explore packs the segments of Held for the page, once all are added, and lets go of them. The
// arguments are those of [Held.Explorer].
func (r *Report) Explore(ctx context.Context, human string, ratings []dataset.MQMRating) (err error) {
	r.explorer = r.Held.Explorer(ctx, human, ratings)
	_, err = r.explorer.Pack(ctx)
	r.Held.segments = nil
	return err
}

// Document returns the page.
func (r *Report) Document() *page.Document {
	d := &page.Document{Explorer: r.explorer, Title: r.Title, Terms: report.Explanations(), Facts: r.facts(), Rankings: r.rankings()}
	switch {
	case r.Result != nil:
		claim := r.Result.Claim()
		d.Claim, d.Evidence, d.Findings, d.Method, d.Forests = claim.Text, claim.Evidence, claim.Cautions, claim.Method, r.Result.Forests()
		if t, err := r.Result.Table("rules"); err == nil && len(claim.Rules) > conclusions.MostSpoken {
			d.Rules = r.shown(t)
		}
	case r.Held != nil:
		d.Claim, d.Evidence = r.Held.claim(r.Chosen)
	}
	if r.Held != nil && r.Shown != "" {
		d.Findings = append(d.Findings, "The segments and the scores of systems below are of "+r.Shown+".")
	}
	if r.Result != nil {
		for _, f := range r.Result.Figures() {
			f.Data = r.shown(f.Data)
			d.Figures = append(d.Figures, f)
		}
	}
	for _, t := range r.Tables() {
		if slices.Contains(elsewhere, t.Name) {
			continue
		}
		table := r.shown(t)
		if t.Name == "differences" {
			if table.Rows = r.notLeading(table.Rows); len(table.Rows) == 0 {
				continue
			}
			table.Title = "Settings against each other, and by other statistics"
		}
		d.Tables = append(d.Tables, table)
	}
	return d
}

// replaced are the columns of tables that the page shows in others: p-values as numbers,
// and level and grouping in the name of the statistic.
var replaced = map[string][]string{"rows": {"level", "group"}, "differences": {"p", "corrected"}}

// elsewhere are the tables that the page shows in another form: curves and prompts below
// their figures, the order of systems next to their scores, rules with the claim.
var elsewhere = []string{"rules", "curve", "prompts", "ranking"}

// notLeading removes the differences that the forest shows.
func (r *Report) notLeading(rows [][]report.Value) [][]report.Value {
	var out [][]report.Value
	for i := range r.Result.Differences {
		if !r.Result.Leads(&r.Result.Differences[i]) {
			out = append(out, rows[i])
		}
	}
	return out
}

// shown is a table as the page has it: with the names that papers print, and with the level
// and the grouping of a statistic in its name, so that its value is among the first columns.
func (r *Report) shown(t *report.NamedTable) *report.NamedTable {
	out := *t
	out.Columns = slices.Clone(t.Columns)
	for k, c := range t.Columns {
		switch {
		case r.Result != nil && c.Kind == report.KindInterval && strings.HasSuffix(c.Header, "ci"):
			out.Columns[k].Header = strings.TrimSuffix(c.Header, "ci") + fmt.Sprintf("%.4g%% interval", 100*r.Result.Confidence)
		case c.Name == "dataset" && r.Result != nil && len(r.Result.Datasets) == 1:
			out.Columns[k].Hide = true
		case t.Name == "rows" && c.Name == "set":
			out.Columns[k].Secondary = true // the number of references is next to it
		case slices.Contains(replaced[t.Name], c.Name):
			out.Columns[k].Hide = true
		case c.Name == "p_value":
			out.Columns[k] = report.Column{Name: c.Name, Header: "p", Kind: c.Kind, Digits: 3, Secondary: true}
		case c.Name == "corrected_value":
			out.Columns[k] = report.Column{Name: c.Name, Header: "p (Holm)", Kind: c.Kind, Digits: 3}
		}
	}
	out.Rows = make([][]report.Value, len(t.Rows))
	for i, row := range t.Rows {
		out.Rows[i] = slices.Clone(row)
		for k, c := range t.Columns {
			if text, ok := row[k].Show(0); ok && slices.Contains([]string{"metric", "statistic", "a", "b"}, c.Name) {
				if t.Name == "rows" && c.Name == "statistic" && i < len(r.Result.Rows) {
					text = r.Result.Rows[i].Statistic
				}
				out.Rows[i][k] = report.String(report.Display(text))
			}
		}
	}
	return &out
}

// facts lists what the numbers are based on.
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
		for _, n := range r.Result.Notes {
			out = append(out, report.Fact{Name: "method", Value: n})
		}
	}
	for _, m := range r.Ended {
		out = append(out, report.Fact{Name: "ended", Value: m.Metric + ": " + m.Reason})
	}
	if r.Held != nil {
		out = append(out, r.Held.facts()...)
	}
	return out
}

// rankings lists the systems of each dataset in the order of people or, without human scores,
// those of Held in the order of the first setting.
func (r *Report) rankings() []*report.NamedTable {
	var out []*report.NamedTable
	if r.Result != nil {
		for i, k := range r.Result.Rankings {
			settings := []string{k.Human}
			for _, name := range k.Settings {
				settings = append(settings, report.Display(name.String()))
			}
			t := rankingTable(i+1, "Systems of "+k.Dataset, settings, k.Systems)
			t.Note("Scores are means over the segments that have a human score.")
			if text := k.Without(); text != "" {
				t.Note("%s", text)
			}
			out = append(out, t)
		}
	}
	if len(out) == 0 && r.Held != nil {
		if settings, systems := r.Held.ranking(); settings != nil {
			t := rankingTable(1, "Systems under each setting", settings, systems)
			t.Note("Corpus scores and means of segments are different numbers, so compare ranks.")
			out = append(out, t)
		}
	}
	return out
}

// rankingTable has the rank and the score of each system under each setting.
func rankingTable(number int, title string, settings []string, systems []experiment.RankedSystem) *report.NamedTable {
	t := &report.NamedTable{Name: fmt.Sprintf("ranking-%d", number), Title: title, Columns: []report.Column{{Name: "system"}}}
	for k, name := range settings {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprint("rank ", k), Header: name + ": rank", Kind: report.KindFloat},
			report.Column{Name: fmt.Sprint("score ", k), Header: name + ": score", Kind: report.KindFloat, Digits: 3, Secondary: k > 0})
	}
	for _, s := range systems {
		row := []any{s.Name}
		for _, p := range append([]experiment.Place{s.First}, s.Under...) {
			if p.Rank == 0 {
				row = append(row, nil, nil)
			} else {
				row = append(row, p.Rank, p.Score)
			}
		}
		t.Add(row...)
	}
	return t
}

// Tables returns all tables of the report: those of the result, the scores of all systems,
// and those in More.
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
