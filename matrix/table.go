package matrix

import (
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// TableColumns are the columns of a matrix that is shown as a table.
func TableColumns() []report.Column {
	kinds := map[string]report.Column{
		"reference":  {Kind: report.KindInt},
		"references": {Kind: report.KindInt, Hide: true},
		"score":      {Kind: report.KindFloat, Digits: 4},
		"direction":  {Hide: true},
		"signature":  {Hide: true},
	}
	var out []report.Column
	for _, name := range Columns() {
		c := kinds[name]
		c.Name = name
		out = append(out, c)
	}
	return out
}

// NewTableWriter returns a Writer of a table with TableColumns.
func NewTableWriter(w report.Writer) Writer { return &cellTable{w} }

type cellTable struct{ w report.Writer }

func (t *cellTable) Write(r *Row) error {
	values := map[string]report.Value{
		"id": report.String(r.ID), "system": report.String(r.System), "metric": report.String(r.Metric),
		"references": report.Int(r.References), "status": report.String(r.Status.String()),
		"direction": report.String(r.Direction.String()), "signature": report.String(r.Signature),
	}
	if r.Aggregate != "" {
		values["aggregate"] = report.String(r.Aggregate)
	}
	if r.Reference != NoReference {
		values["reference"] = report.Int(r.Reference)
	}
	if r.Status == metrics.Scored {
		values["score"] = report.Float(r.Score)
	}
	var row []report.Value
	for _, name := range Columns() {
		row = append(row, values[name])
	}
	if err := t.w.Row(row...); err != nil {
		return fmt.Errorf("segment %q, system %q: %w", r.ID, r.System, err)
	}
	return nil
}

func (t *cellTable) Close() error { return t.w.Close() }
