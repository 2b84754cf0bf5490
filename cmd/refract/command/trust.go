package command

import (
	"fmt"
	"io"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/report"
)

// trustColumn is a count of the table that shows how far a judge's reports can
// be trusted.
type trustColumn struct {
	name, header string
	hide         bool // from people
	count        func(*analysis.TrustRow) int
}

// trustCounts lists the counts: of reports, and from "errors" to "severity" of
// errors in the reports that have a score, but for two.
func trustCounts() []trustColumn {
	errors := func(code string) func(*analysis.TrustRow) int {
		return func(r *analysis.TrustRow) int { return r.Problem(code).Errors }
	}
	reports := func(code string) func(*analysis.TrustRow) int {
		return func(r *analysis.TrustRow) int { return r.Problem(code).Reports }
	}
	return []trustColumn{
		{name: "reports", count: func(r *analysis.TrustRow) int { return r.Reports }},
		{name: "scored", hide: true, count: func(r *analysis.TrustRow) int { return r.Scored }},
		{name: "no_error", header: "no error", count: func(r *analysis.TrustRow) int { return r.NoErrors }},
		{name: "no_score", header: "no score", count: func(r *analysis.TrustRow) int { return r.Reports - r.WithScore() }},
		{name: "unparseable", hide: true, count: func(r *analysis.TrustRow) int { return r.Unparseable }},
		{name: "blocked", hide: true, count: func(r *analysis.TrustRow) int { return r.Blocked }},
		{name: "cut", hide: true, count: func(r *analysis.TrustRow) int { return r.Cut }},
		{name: "missing", hide: true, count: func(r *analysis.TrustRow) int { return r.Missing }},
		{name: "errors", count: func(r *analysis.TrustRow) int { return r.Errors }},
		{name: "located", count: func(r *analysis.TrustRow) int { return r.Exact + r.Approximate }},
		{name: "in_source", hide: true, count: func(r *analysis.TrustRow) int { return r.InSource }},
		{name: "absent", count: func(r *analysis.TrustRow) int { return r.Absent }},
		{name: "explanation", header: "expl.", count: errors(analysis.CodeExplanation)},
		{name: "repeated", count: errors(analysis.CodeRepeated)},
		{name: "correction", header: "corr.", count: errors(analysis.CodeCorrection)},
		{name: "penalty", count: errors(analysis.CodePenalty)},
		{name: "severity", count: errors(analysis.CodeSeverity)},
		{name: "count", header: "count≠", count: reports(analysis.CodeCount)},
		{name: "total", header: "total≠", count: reports(analysis.CodeTotal)},
		{name: "flagged", count: func(r *analysis.TrustRow) int { return r.Flagged }},
	}
}

// writeTrust shows what became of judges' answers and what the checks found in
// them: a row for each metric and system. People get a table for each metric.
func writeTrust(w io.Writer, f report.Format, t *analysis.Trust) error {
	rows := t.Rows()
	if f != report.Table {
		return writeTrustRows(w, f, "", rows)
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Metric == rows[0].Metric {
			n++
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := writeTrustRows(w, f, "Reports of "+rows[0].Metric, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// trustTable is the same for a report.
func trustTable(t *analysis.Trust) *experiment.Table {
	out := &experiment.Table{Name: "judges", Title: "How far judges can be trusted", Notes: trustNotes(), Columns: trustColumns(false)}
	for _, r := range t.Rows() {
		out.Rows = append(out.Rows, trustRow(&r))
	}
	return out
}

func trustNotes() []string {
	return []string{
		"absent: located in neither text (M3); expl.: quotes what is nowhere (M4); repeated: one error twice (G2); corr.: the correction already stands there (G1);",
		"count≠, total≠: what is stated is not what is listed; flagged: suspicious texts",
	}
}

// trustColumns are those of the counts; hideMetric leaves the metric to the
// title where people read.
func trustColumns(hideMetric bool) []report.Column {
	columns := []report.Column{{Name: "metric", Hide: hideMetric}, {Name: "system"}}
	for _, c := range trustCounts() {
		columns = append(columns, report.Column{Name: c.name, Header: c.header, Kind: report.KindInt, Hide: c.hide})
	}
	return columns
}

func trustRow(r *analysis.TrustRow) []report.Value {
	row := []report.Value{report.String(r.Metric), report.String(r.System)}
	for _, c := range trustCounts() {
		row = append(row, report.Int(c.count(r)))
	}
	return row
}

func writeTrustRows(w io.Writer, f report.Format, title string, rows []analysis.TrustRow) error {
	out, err := report.NewWriter(w, f, trustColumns(true), report.Options{Title: title, Notes: trustNotes()})
	if err != nil {
		return err
	}
	for i := range rows {
		if err := out.Row(trustRow(&rows[i])...); err != nil {
			return err
		}
	}
	return out.Close()
}
