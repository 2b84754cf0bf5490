package matrix

import (
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// TableColumns are the columns of a matrix that is shown as a table, which has
// no hashes.
func TableColumns() []report.Column {
	return []report.Column{
		{Name: "id"}, {Name: "system"}, {Name: "metric"}, {Name: "aggregate"},
		{Name: "reference", Kind: report.KindInt}, {Name: "references", Kind: report.KindInt, Hide: true},
		{Name: "score", Kind: report.KindFloat, Digits: 4}, {Name: "status"},
		{Name: "direction", Hide: true}, {Name: "signature", Hide: true},
	}
}

// NewTableWriter returns a Writer of a table with TableColumns, which Close
// closes.
func NewTableWriter(w report.Writer) *Writer { return newWriter(tableEncoder{w}) }

type tableEncoder struct{ report.Writer }

func (t tableEncoder) row(r *row, _ []byte) error {
	aggregate, reference, score := report.Null(), report.Null(), report.Null()
	if r.aggregate != "" {
		aggregate = report.String(r.aggregate)
	}
	if r.reference != noReference {
		reference = report.Int(r.reference)
	}
	if r.status == metrics.Scored {
		score = report.Float(r.score)
	}
	return t.Row(report.String(r.id), report.String(r.system), report.String(r.metric), aggregate, reference, report.Int(r.references), score,
		report.String(r.status.String()), report.String(r.direction.String()), report.String(r.signature))
}

func (t tableEncoder) end(string) error { return t.Close() }
