package analysis

import (
	"cmp"
	"maps"
	"slices"
)

// Trust counts, by metric and system, what became of a judge's answers and what
// the checks found in them. Its zero value is ready for use; it is not safe
// for concurrent use.
type Trust struct {
	rows map[trustKey]*TrustRow
}

// trustKey names the row of a system, or the total of a metric.
type trustKey struct {
	metric, system string
	total          bool
}

// TrustRow counts the reports of one metric on one system.
type TrustRow struct {
	Metric, System string
	Reports        int                     // all of them
	Outcomes       map[Outcome]int         // of the reports
	Errors         int                     // of the reports that have a score
	Places         map[Place]int           // of these errors
	Problems       map[string]ProblemCount // by the codes of Check
	Flagged        int                     // reports on texts that are suspicious
	PartsWithout   int                     // parts of reports that have no score
	parts          [][]float64             // scores of each report's parts
}

// ProblemCount is how often a problem was found.
type ProblemCount struct {
	Reports int // reports with the problem
	Errors  int // errors with it; 0 for a problem of whole reports
}

// Combined reports whether reports have parts.
func (r *TrustRow) Combined() bool { return len(r.parts) > 0 }

// Alpha is the agreement of the reports' parts, see [Alpha].
func (r *TrustRow) Alpha(ordinal bool) float64 { return Alpha(r.parts, ordinal) }

// WithScore returns the number of reports with a score.
func (r *TrustRow) WithScore() int { return r.Outcomes[Scored] + r.Outcomes[NoError] }

// Add counts one report; a nil one is not counted.
func (t *Trust) Add(metric, system string, r *Report) {
	if r == nil {
		return
	}
	for _, k := range []trustKey{{metric, system, false}, {metric, "", true}} {
		t.row(k).add(r)
	}
}

// row is the row of a key, which is made where there is none.
func (t *Trust) row(k trustKey) *TrustRow {
	if t.rows == nil {
		t.rows = map[trustKey]*TrustRow{}
	}
	if t.rows[k] == nil {
		t.rows[k] = &TrustRow{Metric: k.metric, System: k.system, Outcomes: map[Outcome]int{}, Places: map[Place]int{}, Problems: map[string]ProblemCount{}}
	}
	return t.rows[k]
}

func (row *TrustRow) add(r *Report) {
	row.Reports++
	row.Outcomes[r.Outcome]++
	if len(r.Flags) > 0 {
		row.Flagged++
	}
	if len(r.Parts) > 0 {
		var scores []float64
		for _, p := range r.Parts {
			if p.Outcome.HasScore() {
				scores = append(scores, *p.Score)
			}
		}
		row.parts = append(row.parts, scores)
		row.PartsWithout += len(r.Parts) - len(scores)
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

// Rows returns a copy of the counts, in the order of metrics and systems.
func (t *Trust) Rows() []TrustRow {
	var out []TrustRow
	for k, row := range t.rows {
		if !k.total {
			out = append(out, row.clone())
		}
	}
	slices.SortFunc(out, func(a, b TrustRow) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.System, b.System))
	})
	return out
}

// Total returns a copy of the sums over the systems of a metric; its System is
// "".
func (t *Trust) Total(metric string) TrustRow {
	if row := t.rows[trustKey{metric, "", true}]; row != nil {
		return row.clone()
	}
	return TrustRow{Metric: metric}
}

func (row *TrustRow) clone() TrustRow {
	c := *row
	c.Outcomes, c.Places, c.Problems = maps.Clone(row.Outcomes), maps.Clone(row.Places), maps.Clone(row.Problems)
	return c
}
