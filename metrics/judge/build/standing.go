package build

import (
	"slices"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/report"
)

// Table shows the agreement on each failure, and on the alignment.
func (a *Agreement) Table() *report.NamedTable {
	t := &report.NamedTable{Title: "agreement with people", Columns: []report.Column{
		{Name: "what"}, {Name: "of", Kind: report.KindInt}, {Name: "by the model", Kind: report.KindInt}, {Name: "by people", Kind: report.KindInt},
		{Name: "by both", Kind: report.KindInt}, {Name: "alpha", Kind: report.KindFloat, Digits: 3},
	}}
	alpha := func(v float64, defined bool) any {
		if !defined {
			return report.Null()
		}
		return v
	}
	for _, f := range analysis.Failures() {
		g := a.On(f)
		if slices.Contains(analysis.Unmeasured(), f) {
			t.Add(string(f), g.Errors, report.Null(), g.People, report.Null(), report.Null())
			continue
		}
		t.Add(string(f), g.Errors, g.Model, g.People, g.Both, alpha(g.Alpha, g.Defined))
	}
	v, defined, n := a.OnAlignment()
	t.Add("alignment", n, report.Null(), report.Null(), report.Null(), alpha(v, defined))
	t.Note("%d reports have labels and an alignment; %d more have labels alone. Alpha is Krippendorff's.", a.Reports, a.Unlabeled)
	return t
}
