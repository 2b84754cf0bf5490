package audit

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/exact"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/report"
)

// trustCounts are the columns of the table of trust behind metric and system: of
// reports, and from "errors" to "severity" of errors in the reports that have a
// score.
var trustCounts = []struct {
	name, header string
	hide         bool // from people
	count        func(*analysis.TrustRow) int
}{
	{"reports", "", false, func(r *analysis.TrustRow) int { return r.Reports }},
	{"scored", "", true, outcome(analysis.Scored)},
	{"no_error", "no error", false, outcome(analysis.NoError)},
	{"no_score", "no score", false, func(r *analysis.TrustRow) int { return r.Reports - r.WithScore() }},
	{"unparseable", "", true, outcome(analysis.Unparseable)},
	{"blocked", "", true, outcome(analysis.Blocked)},
	{"cut", "", true, outcome(analysis.Cut)},
	{"missing", "", true, outcome(analysis.Missing)},
	{"errors", "", false, func(r *analysis.TrustRow) int { return r.Errors }},
	{"located", "", false, func(r *analysis.TrustRow) int {
		return r.Places[analysis.InHypothesis] + r.Places[analysis.Approximate]
	}},
	{"in_source", "", true, func(r *analysis.TrustRow) int { return r.Places[analysis.InSource] }},
	{"absent", "", false, func(r *analysis.TrustRow) int { return r.Places[analysis.Absent] }},
	{"explanation", "expl.", false, errorsWith(analysis.CodeExplanation)},
	{"repeated", "", false, errorsWith(analysis.CodeRepeated)},
	{"correction", "corr.", false, errorsWith(analysis.CodeCorrection)},
	{"penalty", "", false, errorsWith(analysis.CodePenalty)},
	{"severity", "", false, errorsWith(analysis.CodeSeverity)},
	{"count", "count≠", false, func(r *analysis.TrustRow) int { return r.Problems[analysis.CodeCount].Reports }},
	{"total", "total≠", false, func(r *analysis.TrustRow) int { return r.Problems[analysis.CodeTotal].Reports }},
	{"flagged", "", false, func(r *analysis.TrustRow) int { return r.Flagged }},
}

func outcome(o analysis.Outcome) func(*analysis.TrustRow) int {
	return func(r *analysis.TrustRow) int { return r.Outcomes[o] }
}

func errorsWith(code string) func(*analysis.TrustRow) int {
	return func(r *analysis.TrustRow) int { return r.Problems[code].Errors }
}

// TrustTable shows what became of the answers of a judge, or of all where
// metric is "", and what the checks found in them.
func TrustTable(t *analysis.Trust, metric string) *report.NamedTable {
	out := &report.NamedTable{
		Name: "judges", Title: "How far judges can be trusted",
		Notes: []string{
			"absent: located in neither text (M3); expl.: quotes what is nowhere (M4); repeated: one error twice (G2); corr.: the correction already stands there (G1);",
			"count≠, total≠: what is stated is not what is listed; flagged: suspicious texts",
		},
		Columns: []report.Column{{Name: "metric", Hide: metric != ""}, {Name: "system"}},
	}
	if metric != "" {
		out.Title = "Reports of " + metric
	}
	for _, c := range trustCounts {
		out.Columns = append(out.Columns, report.Column{Name: c.name, Header: c.header, Kind: report.KindInt, Hide: c.hide})
	}
	at := len(out.Columns)
	out.Columns = append(out.Columns, report.Column{Name: "parts_without", Header: "parts without", Kind: report.KindInt, Hide: true},
		report.Column{Name: "alpha", Header: "α", Kind: report.KindFloat, Digits: 3, Hide: true},
		report.Column{Name: "alpha_ordinal", Header: "α ordinal", Kind: report.KindFloat, Digits: 3, Hide: true})
	of := len(out.Columns) // feedback
	out.Columns = append(out.Columns, report.Column{Name: "judged", Kind: report.KindInt, Hide: true},
		report.Column{Name: "alignment", Kind: report.KindFloat, Digits: 3, Hide: true},
		report.Column{Name: "judged_errors", Header: "of errors", Kind: report.KindInt, Hide: true})
	for _, f := range analysis.Failures() {
		out.Columns = append(out.Columns, report.Column{Name: string(f), Kind: report.KindInt, Hide: true})
	}
	combined, judged := false, false
	for _, r := range t.Rows() {
		if metric != "" && r.Metric != metric {
			continue
		}
		row := []any{r.Metric, r.System}
		for _, c := range trustCounts {
			row = append(row, c.count(&r))
		}
		row = append(row, r.PartsWithout, r.Alpha(false), r.Alpha(true))
		combined, judged = combined || r.Combined(), judged || len(r.Alignments) > 0
		out.Add(append(row, feedbackCells(&r)...)...)
	}
	if combined {
		show(out.Columns[at:of])
		out.Note("α: Krippendorff's agreement of the samples or members (parts) that a score is made of")
		all := t.Total(metric)
		if alpha := all.Alpha(false); !math.IsNaN(alpha) {
			out.Note("over all systems: α %.3f, ordinal %.3f", alpha, all.Alpha(true))
		}
	}
	if judged {
		show(out.Columns[of:])
		for _, f := range analysis.Unmeasured() {
			out.Columns[slices.IndexFunc(out.Columns, func(c report.Column) bool { return c.Name == string(f) })].Hide = true
		}
		out.Note("judged: reports with feedback by a model; alignment: fields of their errors that are right, of all; M1 to G4: errors that fail so; M6, a wrong explanation of an error that is one, is unmeasured: no question asks for it")
		if all := t.Total(metric); metric != "" {
			out.Note("over all systems: alignment %.3f of %s", exact.Mean(all.Alignments), english.Count(len(all.Alignments), "report"))
		}
	}
	return out
}

func show(columns []report.Column) {
	for i := range columns {
		columns[i].Hide = false
	}
}

// feedbackCells are null without feedback, and under failures that are not
// measured.
func feedbackCells(r *analysis.TrustRow) []any {
	n := len(r.Alignments)
	if n == 0 {
		return append([]any{0}, make([]any, 2+len(analysis.Failures()))...)
	}
	cells := []any{n, exact.Mean(r.Alignments), r.ErrorsAsked}
	for _, f := range analysis.Failures() {
		if slices.Contains(analysis.Unmeasured(), f) && r.Failures[f] == 0 {
			cells = append(cells, nil)
			continue
		}
		cells = append(cells, r.Failures[f])
	}
	return cells
}

// WriteTrust writes a table for people of each metric.
func WriteTrust(w io.Writer, t *analysis.Trust) error {
	last := ""
	for _, r := range t.Rows() {
		if r.Metric == last {
			continue
		}
		last = r.Metric
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := TrustTable(t, last).WriteTitled(w); err != nil {
			return err
		}
	}
	return nil
}
