package analysis

import (
	"cmp"
	"maps"
	"slices"
)

// Trust counts, by metric and system, what became of a judge's answers and what
// the checks found in them. Its zero value is ready for use; it is not safe
// for concurrent use, but parts that were counted apart can be merged.
type Trust struct {
	rows map[trustKey]*TrustRow
}

type trustKey struct{ metric, system string }

// TrustRow is how far the reports of one metric on one system can be trusted.
type TrustRow struct {
	Metric, System string
	Reports        int                     // all of them
	Outcomes       map[Outcome]int         // of the reports
	Errors         int                     // of the reports that have a score
	Places         map[Place]int           // of these errors
	Problems       map[string]ProblemCount // by the codes of Check
	Flagged        int                     // reports on texts that are suspicious
}

// ProblemCount is how often a problem was found.
type ProblemCount struct {
	Reports int // reports with the problem
	Errors  int // errors with it; 0 for a problem of whole reports
}

func newTrustRow(metric, system string) *TrustRow {
	return &TrustRow{Metric: metric, System: system, Outcomes: map[Outcome]int{}, Places: map[Place]int{}, Problems: map[string]ProblemCount{}}
}

// WithScore is the number of reports with a score.
func (r *TrustRow) WithScore() int { return r.Outcomes[Scored] + r.Outcomes[NoError] }

// Add counts one report; a nil one is not counted.
func (t *Trust) Add(metric, system string, r *Report) {
	if r == nil {
		return
	}
	row := t.row(metric, system)
	row.Reports++
	row.Outcomes[r.Outcome]++
	if len(r.Flags) > 0 {
		row.Flagged++
	}
	if !r.Outcome.HasScore() {
		return
	}
	row.Errors += len(r.Errors)
	for i := range r.Errors {
		row.Places[r.Errors[i].Place]++
	}
	seen := make(map[string]bool, len(r.Problems))
	for _, p := range r.Problems {
		c := row.Problems[p.Code]
		if !seen[p.Code] {
			seen[p.Code] = true
			c.Reports++
		}
		if p.Error != nil {
			c.Errors++
		}
		row.Problems[p.Code] = c
	}
}

func (t *Trust) row(metric, system string) *TrustRow {
	k := trustKey{metric, system}
	row, ok := t.rows[k]
	if !ok {
		row = newTrustRow(metric, system)
		if t.rows == nil {
			t.rows = map[trustKey]*TrustRow{}
		}
		t.rows[k] = row
	}
	return row
}

// Merge adds what other counted.
func (t *Trust) Merge(other *Trust) {
	for k, from := range other.rows {
		t.row(k.metric, k.system).add(from)
	}
}

func (r *TrustRow) add(o *TrustRow) {
	r.Reports += o.Reports
	r.Errors += o.Errors
	r.Flagged += o.Flagged
	for outcome, n := range o.Outcomes {
		r.Outcomes[outcome] += n
	}
	for place, n := range o.Places {
		r.Places[place] += n
	}
	for code, c := range o.Problems {
		mine := r.Problems[code]
		r.Problems[code] = ProblemCount{mine.Reports + c.Reports, mine.Errors + c.Errors}
	}
}

// Rows returns a copy of the counts, in the order of metrics and systems.
func (t *Trust) Rows() []TrustRow {
	out := make([]TrustRow, 0, len(t.rows))
	for _, row := range t.rows {
		c := *row
		c.Outcomes, c.Places, c.Problems = maps.Clone(row.Outcomes), maps.Clone(row.Places), maps.Clone(row.Problems)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b TrustRow) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.System, b.System))
	})
	return out
}

// Total sums the rows of a metric; its System is "".
func (t *Trust) Total(metric string) TrustRow {
	sum := newTrustRow(metric, "")
	for k, row := range t.rows {
		if k.metric == metric {
			sum.add(row)
		}
	}
	return *sum
}
