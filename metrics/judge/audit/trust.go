package audit

import (
	"fmt"
	"io"

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

// TrustNotes explain the columns of TrustColumns.
func TrustNotes() []string {
	return []string{
		"absent: located in neither text (M3); expl.: quotes what is nowhere (M4); repeated: one error twice (G2); corr.: the correction already stands there (G1);",
		"count≠, total≠: what is stated is not what is listed; flagged: suspicious texts",
	}
}

// TrustColumns are the columns of a table that shows what became of judges'
// answers and what the checks found in them. hideMetric leaves the metric to
// the title where people read.
func TrustColumns(hideMetric bool) []report.Column {
	columns := []report.Column{{Name: "metric", Hide: hideMetric}, {Name: "system"}}
	for _, c := range trustCounts {
		columns = append(columns, report.Column{Name: c.name, Header: c.header, Kind: report.KindInt, Hide: c.hide})
	}
	return columns
}

// TrustCells is a row of that table.
func TrustCells(r *analysis.TrustRow) []report.Value {
	row := []report.Value{report.String(r.Metric), report.String(r.System)}
	for _, c := range trustCounts {
		row = append(row, report.Int(c.count(r)))
	}
	return row
}

// WriteTrust writes a table for people of each metric.
func WriteTrust(w io.Writer, t *analysis.Trust) error {
	var table report.Writer
	metric := ""
	for _, r := range t.Rows() {
		if table == nil || r.Metric != metric {
			if err := closeTable(table); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
			var err error
			metric = r.Metric
			opts := report.Options{Title: "Reports of " + metric, Notes: TrustNotes()}
			if table, err = report.NewWriter(w, report.Table, TrustColumns(true), opts); err != nil {
				return err
			}
		}
		if err := table.Row(TrustCells(&r)...); err != nil {
			return err
		}
	}
	return closeTable(table)
}

func closeTable(t report.Writer) error {
	if t == nil {
		return nil
	}
	return t.Close()
}
