package diversity

import (
	"context"

	"github.com/refract-eval/refract/internal/report"
)

// Table shows sets side by side, each measure in turn, with the difference of a
// set to the first one over the segments that both have.
func Table(ctx context.Context, sets []*Set, b Bootstrap) (*report.NamedTable, error) {
	t := &report.NamedTable{Columns: []report.Column{
		{Name: "set"},
		{Name: "measure"},
		{Name: "diverse_is", Header: "diverse is"},
		{Name: "value", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Kind: report.KindInterval, Digits: 3},
		{Name: "difference", Kind: report.KindFloat, Digits: 3},
		{Name: "difference_ci", Header: "ci of it", Kind: report.KindInterval, Digits: 3},
		{Name: "paired", Kind: report.KindInt, Hide: true},
		{Name: "segments", Kind: report.KindInt},
		{Name: "undefined", Kind: report.KindInt, Minor: true},
		{Name: "few", Kind: report.KindInt, Minor: true},
		{Name: "texts", Kind: report.KindInt, Minor: true},
		{Name: "missing", Kind: report.KindInt, Minor: true},
		{Name: "blank", Kind: report.KindInt, Minor: true},
	}}
	differences := make([][]Difference, len(sets))
	for i, s := range sets {
		var err error
		if differences[i], err = s.Minus(ctx, sets[0], b); err != nil {
			return nil, err
		}
	}
	for k := range sets[0].Results {
		for i, s := range sets {
			r := s.Results[k]
			direction := "lower"
			if r.MoreIsHigher {
				direction = "higher"
			}
			difference, ci, paired := report.Null(), report.Null(), report.Null()
			if i > 0 {
				x := differences[i][k]
				difference, ci, paired = report.Float(x.Value), report.Interval(x.Low, x.High), report.Int(x.N)
			}
			t.Add(s.Name, r.Measure, direction, r.Value, report.Interval(r.Low, r.High), difference, ci, paired,
				r.N, r.Undefined, s.Few, s.Texts, s.Missing, s.Blank)
		}
	}
	return t, nil
}
