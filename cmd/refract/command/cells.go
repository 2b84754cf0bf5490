package command

import (
	"fmt"
	"path/filepath"

	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/report"
)

// matrixWriter writes cells as the format says that was asked for, or the
// extension of the output.
func (s *scorer) matrixWriter(out *atomicfile.File) (matrix.Writer, error) {
	kind, err := s.kind()
	if err != nil {
		return nil, err
	}
	switch {
	case filepath.Ext(s.path) == ".parquet":
		if s.formatGiven() {
			return nil, usagef("-o %s is Parquet; leave --format out", s.path)
		}
		return matrix.NewParquetWriter(out), nil
	case kind == report.JSONLines:
		return matrix.NewJSONLWriter(out), nil
	}
	w, err := s.table(out, cellColumns(), report.Options{})
	if err != nil {
		return nil, err
	}
	return &cellTable{w}, nil
}

// cellColumns are those of a stored matrix, for the other formats.
func cellColumns() []report.Column {
	kinds := map[string]report.Column{
		"reference":  {Kind: report.KindInt},
		"references": {Kind: report.KindInt, Hide: true},
		"score":      {Kind: report.KindFloat, Digits: 4},
		"direction":  {Hide: true},
		"signature":  {Hide: true},
	}
	var out []report.Column
	for _, name := range matrix.Columns() {
		c := kinds[name]
		c.Name = name
		out = append(out, c)
	}
	return out
}

// cellTable is a matrix.Writer of a table.
type cellTable struct{ w report.Writer }

func (t *cellTable) Write(r *matrix.Row) error {
	values := map[string]report.Value{
		"id": report.String(r.ID), "system": report.String(r.System), "metric": report.String(r.Metric),
		"references": report.Int(r.References), "status": report.String(r.Status.String()),
		"direction": report.String(r.Direction.String()), "signature": report.String(r.Signature),
	}
	if r.Aggregate != "" {
		values["aggregate"] = report.String(r.Aggregate)
	}
	if r.Reference != matrix.NoReference {
		values["reference"] = report.Int(r.Reference)
	}
	if r.Status == metrics.Scored {
		values["score"] = report.Float(r.Score)
	}
	var row []report.Value
	for _, name := range matrix.Columns() {
		row = append(row, values[name])
	}
	if err := t.w.Row(row...); err != nil {
		return fmt.Errorf("segment %q, system %q: %w", r.ID, r.System, err)
	}
	return nil
}

func (t *cellTable) Close() error { return t.w.Close() }
