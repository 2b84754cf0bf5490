package build

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/audit"
	"github.com/refract-eval/refract/report"
)

// Agreement compares verdicts with labels.
type Agreement struct {
	Reports   int // that both judged
	Unlabeled int // labels without a verdict
	pairs     map[analysis.Failure][][]float64
	alignment [][]float64
}

// Add compares a verdict with what people say of the same report.
func (a *Agreement) Add(v *Verdict, l *audit.Feedback) error {
	if v.Status != Judged {
		a.Unlabeled++
		return nil
	}
	if len(l.Failures) != len(v.Errors) {
		return fmt.Errorf("the labels are of %d errors, and the report has %d", len(l.Failures), len(v.Errors))
	}
	a.Reports++
	if a.pairs == nil {
		a.pairs = map[analysis.Failure][][]float64{}
	}
	has := func(all []analysis.Failure, f analysis.Failure) float64 {
		if slices.Contains(all, f) {
			return 1
		}
		return 0
	}
	for i := range v.Errors {
		for _, f := range analysis.Failures() {
			a.pairs[f] = append(a.pairs[f], []float64{has(v.Errors[i], f), has(l.Failures[i], f)})
		}
	}
	a.alignment = append(a.alignment, []float64{*v.Alignment, l.Alignment})
	return nil
}

// Agreed is how far the model and people agree on a failure.
type Agreed struct {
	Errors        int // that both judged
	Model, People int // how many have it by each
	Both          int
	Alpha         float64 // Krippendorff's; NaN where it is undefined
}

// On returns the agreement on a failure.
func (a *Agreement) On(f analysis.Failure) Agreed {
	out := Agreed{Errors: len(a.pairs[f])}
	for _, p := range a.pairs[f] {
		out.Model += int(p[0])
		out.People += int(p[1])
		out.Both += int(p[0] * p[1])
	}
	out.Alpha = analysis.Alpha(a.pairs[f], false)
	return out
}

// Table shows the agreement on each failure, and on the alignment.
func (a *Agreement) Table() *report.NamedTable {
	t := &report.NamedTable{Title: "agreement with people", Columns: []report.Column{
		{Name: "what"}, {Name: "of", Kind: report.KindInt}, {Name: "by the model", Kind: report.KindInt}, {Name: "by people", Kind: report.KindInt},
		{Name: "by both", Kind: report.KindInt}, {Name: "alpha", Kind: report.KindFloat, Digits: 3},
	}}
	for _, f := range analysis.Failures() {
		g := a.On(f)
		if slices.Contains(analysis.Unmeasured(), f) {
			t.Add(string(f), g.Errors, nil, g.People, nil, nil)
			continue
		}
		t.Add(string(f), g.Errors, g.Model, g.People, g.Both, g.Alpha)
	}
	t.Add("alignment", len(a.alignment), nil, nil, nil, analysis.Alpha(a.alignment, false))
	t.Note("%d reports have labels and an alignment; %d more have labels alone. Alpha is Krippendorff's.", a.Reports, a.Unlabeled)
	return t
}
