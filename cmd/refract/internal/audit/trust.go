package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Trust counts, by metric and system, the outcomes of a judge's answers and the
// problems that checks found in them. Its zero value is ready for use; it is not
// safe for concurrent use.
type Trust struct{ rows []*TrustRow } // sorted by metric and system

// TrustRow counts the reports of one metric on one system, or on all of them.
type TrustRow struct {
	Metric, System string
	Reports        int
	Outcomes       map[analysis.Outcome]int // number of reports by outcome
	Errors         int                      // errors in the reports that have a score
	Places         map[analysis.Place]int   // where these errors were located
	Problems       map[string]ProblemCount  // by the codes of analysis.Check
	Flagged        int                      // reports on suspicious texts
	PromptCut      int                      // reports on prompts that the server seems to have cut
	PartsWithout   int                      // parts of reports without a score
}

// ProblemCount counts how often a problem was found.
type ProblemCount struct {
	Reports int // reports with the problem
	Errors  int // errors with it; 0 for a problem of whole reports
}

// WithScore returns the number of reports with a score.
func (r *TrustRow) WithScore() int {
	return r.Outcomes[analysis.Scored] + r.Outcomes[analysis.NoError]
}

// Add counts one report; a nil one is not counted.
func (t *Trust) Add(metric, system string, r *analysis.Report) {
	if r == nil {
		return
	}
	row := t.row(metric, system)
	row.Reports++
	row.Outcomes[r.Outcome]++
	isCut := func(r *analysis.Report) bool { return slices.Contains(r.Flags, analysis.FlagPromptCut) }
	if isCut(r) || slices.ContainsFunc(r.Parts, isCut) {
		row.PromptCut++
	}
	if slices.ContainsFunc(r.Flags, func(flag string) bool { return flag != analysis.FlagPromptCut }) {
		row.Flagged++
	}
	for _, p := range r.Parts {
		if !p.Outcome.HasScore() {
			row.PartsWithout++
		}
	}
	if !r.Outcome.HasScore() {
		return
	}
	row.Errors += len(r.Errors)
	for i := range r.Errors {
		row.Places[r.Errors[i].Place]++
	}
	seen := map[string]bool{}
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

func newRow(metric, system string) *TrustRow {
	return &TrustRow{Metric: metric, System: system, Outcomes: map[analysis.Outcome]int{}, Places: map[analysis.Place]int{}, Problems: map[string]ProblemCount{}}
}

// row returns a system's row, a new one if there is none yet.
func (t *Trust) row(metric, system string) *TrustRow {
	i, found := slices.BinarySearchFunc(t.rows, system, func(r *TrustRow, system string) int {
		return cmp.Or(cmp.Compare(r.Metric, metric), cmp.Compare(r.System, system))
	})
	if !found {
		t.rows = slices.Insert(t.rows, i, newRow(metric, system))
	}
	return t.rows[i]
}

// add adds the counts of another row.
func (r *TrustRow) add(from *TrustRow) {
	r.Reports += from.Reports
	r.Errors += from.Errors
	r.Flagged += from.Flagged
	r.PromptCut += from.PromptCut
	r.PartsWithout += from.PartsWithout
	for k, n := range from.Outcomes {
		r.Outcomes[k] += n
	}
	for k, n := range from.Places {
		r.Places[k] += n
	}
	for k, n := range from.Problems {
		r.Problems[k] = ProblemCount{r.Problems[k].Reports + n.Reports, r.Problems[k].Errors + n.Errors}
	}
}

// Total sums a metric's counts over its systems.
func (t *Trust) Total(metric string) *TrustRow {
	total := newRow(metric, "")
	for _, r := range t.rows {
		if r.Metric == metric {
			total.add(r)
		}
	}
	return total
}

// MarshalJSON writes the counts as UnmarshalJSON reads them.
func (t *Trust) MarshalJSON() ([]byte, error) { return json.Marshal(t.rows) }

// UnmarshalJSON adds the counts that MarshalJSON wrote.
func (t *Trust) UnmarshalJSON(b []byte) error {
	var rows []TrustRow
	if err := json.Unmarshal(b, &rows); err != nil {
		return err
	}
	for i := range rows {
		t.row(rows[i].Metric, rows[i].System).add(&rows[i])
	}
	return nil
}

// ErrCoverage is the cause of the errors that Covered returns.
var ErrCoverage = errors.New("too few answers have a score")

// Covered returns an error if more than a share of a metric's answers, between 0 and 1,
// has no score.
func (t *Trust) Covered(most float64) error {
	var errs []error
	for i, r := range t.rows {
		if i > 0 && r.Metric == t.rows[i-1].Metric {
			continue
		}
		t := t.Total(r.Metric)
		without := t.Reports - t.WithScore()
		if float64(without) <= most*float64(t.Reports) {
			continue
		}
		commonest := analysis.Unparseable
		for o, n := range t.Outcomes {
			if !o.HasScore() && n > t.Outcomes[commonest] {
				commonest = o
			}
		}
		remedy := ""
		if commonest == analysis.Cut {
			remedy = "; the token limit cut them: give the judge the option max-tokens, such as max-tokens=8192 for a model that thinks"
		}
		errs = append(errs, fmt.Errorf("%w: %s: %d of %s have no score (most of them: %s, %d), more than the share of %g that is allowed%s",
			ErrCoverage, t.Metric, without, english.Count(t.Reports, "answer"), commonest, t.Outcomes[commonest], most, remedy))
	}
	return errors.Join(errs...)
}

// trustCounts are the columns of the trust table after metric and system. They
// count reports, except that "errors" to "severity" count errors in reports with a score.
var trustCounts = []struct {
	name, header string
	hide         bool // left out of the table for people
	count        func(*TrustRow) int
}{
	{"reports", "", false, func(r *TrustRow) int { return r.Reports }},
	{"scored", "", true, outcome(analysis.Scored)},
	{"no_error", "no error", false, outcome(analysis.NoError)},
	{"no_score", "no score", false, func(r *TrustRow) int { return r.Reports - r.WithScore() }},
	{"unparseable", "", true, outcome(analysis.Unparseable)},
	{"blocked", "", true, outcome(analysis.Blocked)},
	{"cut", "", true, outcome(analysis.Cut)},
	{"missing", "", true, outcome(analysis.Missing)},
	{"errors", "", false, func(r *TrustRow) int { return r.Errors }},
	{"located", "", false, func(r *TrustRow) int { return r.Places[analysis.InHypothesis] + r.Places[analysis.Approximate] }},
	{"in_source", "", true, func(r *TrustRow) int { return r.Places[analysis.InSource] }},
	{"absent", "", false, func(r *TrustRow) int { return r.Places[analysis.Absent] }},
	{"explanation", "expl.", false, errorsWith("explanation")},
	{"repeated", "", false, errorsWith("repeated")},
	{"correction", "corr.", false, errorsWith("correction")},
	{"penalty", "", false, errorsWith("penalty")},
	{"severity", "", false, errorsWith("severity")},
	{"count", "count≠", false, func(r *TrustRow) int { return r.Problems["count"].Reports }},
	{"total", "total≠", false, func(r *TrustRow) int { return r.Problems["total"].Reports }},
	{"flagged", "", false, func(r *TrustRow) int { return r.Flagged }},
	{"parts_without", "parts without", true, func(r *TrustRow) int { return r.PartsWithout }},
}

func outcome(o analysis.Outcome) func(*TrustRow) int {
	return func(r *TrustRow) int { return r.Outcomes[o] }
}

func errorsWith(code string) func(*TrustRow) int {
	return func(r *TrustRow) int { return r.Problems[code].Errors }
}

// TrustTable shows the outcomes of a judge's answers and the problems that checks
// found in them; of all judges' if metric is "".
func TrustTable(t *Trust, metric string) *report.NamedTable {
	out := &report.NamedTable{
		Name: "judges", Title: "How far judges can be trusted",
		Notes: []string{
			"absent: located in neither text (M3); expl.: quotes what is nowhere (M4); repeated: one error twice (G2); corr.: the correction already stands there (G1);",
			"count≠, total≠: what is stated is not what is listed; flagged: suspicious texts",
		},
		Columns: []report.Column{{Name: "metric", Hide: metric != ""}, {Name: "system"}},
	}
	if metric != "" {
		out.Title = "Reports of " + metric
	}
	for _, c := range trustCounts {
		out.Columns = append(out.Columns, report.Column{Name: c.name, Header: c.header, Kind: report.KindInt, Hide: c.hide})
	}
	for _, r := range t.rows {
		if metric != "" && r.Metric != metric {
			continue
		}
		row := []any{r.Metric, r.System}
		for _, c := range trustCounts {
			row = append(row, c.count(r))
		}
		if r.PartsWithout > 0 {
			out.Columns[len(out.Columns)-1].Hide = false
		}
		out.Add(row...)
		if r.PromptCut > 0 {
			out.Note("warning: %s: the server counted too few tokens for %d of %d prompts, so it read only a part of them; do not trust the scores, and give the server a longer context",
				strings.TrimSpace(r.Metric+" "+r.System), r.PromptCut, r.Reports)
		}
	}
	return out
}

// WriteTrust writes a table for people for each metric.
func WriteTrust(w io.Writer, t *Trust) error {
	for i, r := range t.rows {
		if i > 0 && r.Metric == t.rows[i-1].Metric {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := TrustTable(t, r.Metric).WriteTitled(w); err != nil {
			return err
		}
	}
	return nil
}
