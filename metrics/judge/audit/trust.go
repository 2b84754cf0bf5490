package audit

import (
	"fmt"
	"io"
	"math"

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
	combined := false
	for _, r := range t.Rows() {
		if metric != "" && r.Metric != metric {
			continue
		}
		row := []any{r.Metric, r.System}
		for _, c := range trustCounts {
			row = append(row, c.count(&r))
		}
		row = append(row, r.PartsWithout, r.Alpha(false), r.Alpha(true))
		combined = combined || r.Combined()
		out.Add(row...)
	}
	if combined {
		for i := range out.Columns[at:] {
			out.Columns[at+i].Hide = false
		}
		out.Note("α: Krippendorff's agreement of the samples or members (parts) that a score is made of")
		all := t.Total(metric)
		if alpha := all.Alpha(false); !math.IsNaN(alpha) {
			out.Note("over all systems: α %.3f, ordinal %.3f", alpha, all.Alpha(true))
		}
	}
	return out
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
