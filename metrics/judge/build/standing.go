package build

import (
	"slices"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/exact"
	"github.com/refract-eval/refract/report"
)

// Standing sums verdicts up by judge and system.
type Standing struct{ rows []*standingRow }

type standingRow struct {
	metric, system string
	reports        int
	alignments     []float64 // of those that are Judged
	errors         int
	failures       map[Failure]int
	status         map[string]int
}

// Add counts a verdict, also in the sum over systems.
func (s *Standing) Add(metric, system string, v *Verdict) {
	for _, r := range []*standingRow{s.row(metric, system), s.row(metric, "")} {
		r.reports++
		r.status[v.Status]++
		if v.Status != Judged {
			continue
		}
		r.alignments = append(r.alignments, *v.Alignment)
		r.errors += len(v.Errors)
		for _, of := range v.Errors {
			for _, f := range of {
				r.failures[f]++
			}
		}
		if system == "" {
			return // it is the sum
		}
	}
}

func (s *Standing) row(metric, system string) *standingRow {
	i := slices.IndexFunc(s.rows, func(r *standingRow) bool { return r.metric == metric && r.system == system })
	if i < 0 {
		i = len(s.rows)
		s.rows = append(s.rows, &standingRow{metric: metric, system: system, failures: map[Failure]int{}, status: map[string]int{}})
	}
	return s.rows[i]
}

// Table shows the mean alignment and how many errors have each failure.
func (s *Standing) Table() *report.NamedTable {
	t := &report.NamedTable{Title: "feedback", Columns: []report.Column{
		{Name: "metric"}, {Name: "system"}, {Name: "reports", Kind: report.KindInt}, {Name: "judged", Kind: report.KindInt},
		{Name: "alignment", Kind: report.KindFloat, Digits: 3}, {Name: "errors", Kind: report.KindInt},
	}}
	for _, f := range Failures() {
		t.Columns = append(t.Columns, report.Column{Name: string(f), Kind: report.KindInt})
	}
	status := map[string]int{}
	for _, r := range s.sorted() {
		cells := []any{r.metric, r.system, r.reports, len(r.alignments), report.Null(), r.errors}
		if r.system == "" {
			cells[1] = "all"
			for name, n := range r.status {
				status[name] += n
			}
		}
		if len(r.alignments) > 0 {
			cells[4] = exact.Mean(r.alignments)
		}
		for _, f := range Failures() {
			if slices.Contains(Unmeasured(), f) {
				cells = append(cells, report.Null())
			} else {
				cells = append(cells, r.failures[f])
			}
		}
		t.Add(cells...)
	}
	for _, name := range sortedKeys(status) {
		if name != Judged {
			t.Note("%s without an alignment: %s", english.Count(status[name], "report"), name)
		}
	}
	t.Note("M1 to M5 and G1 to G4 count errors. M6, a wrong explanation of an error that is one, is asked by no question.")
	return t
}

// sorted puts the sum of a judge behind its systems.
func (s *Standing) sorted() []*standingRow {
	var out []*standingRow
	for _, r := range s.rows {
		if r.system != "" {
			continue
		}
		for _, other := range s.rows {
			if other.metric == r.metric && other.system != "" {
				out = append(out, other)
			}
		}
		out = append(out, r)
	}
	return out
}

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
	for _, f := range Failures() {
		g := a.On(f)
		if slices.Contains(Unmeasured(), f) {
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
