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
	Counts         map[string]int // by the names of trustCounts, and prompt_cut
}

// Reports returns the number of reports.
func (r *TrustRow) Reports() int { return r.Counts["reports"] }

// WithScore returns the number of reports with a score.
func (r *TrustRow) WithScore() int { return r.Reports() - r.Counts["no_score"] }

// placeNames are the counts of errors by their place.
var placeNames = map[analysis.Place]string{
	analysis.InHypothesis: "located", analysis.Approximate: "located", analysis.InSource: "in_source", analysis.Absent: "absent",
}

// Add counts one report; a nil one is not counted.
func (t *Trust) Add(metric, system string, r *analysis.Report) {
	if r == nil {
		return
	}
	counts := t.row(metric, system).Counts
	count := func(name string, is bool) {
		if is {
			counts[name]++
		}
	}
	count("reports", true)
	count(strings.ReplaceAll(string(r.Outcome), "-", "_"), true)
	count("no_score", !r.Outcome.HasScore())
	isCut := func(r *analysis.Report) bool { return slices.Contains(r.Flags, analysis.FlagPromptCut) }
	count("prompt_cut", isCut(r) || slices.ContainsFunc(r.Parts, isCut))
	count("flagged", slices.ContainsFunc(r.Flags, func(flag string) bool { return flag != analysis.FlagPromptCut }))
	for _, p := range r.Parts {
		count("parts_without", !p.Outcome.HasScore())
	}
	if !r.Outcome.HasScore() {
		return
	}
	for i := range r.Errors {
		name, known := placeNames[r.Errors[i].Place]
		count("errors", true)
		count(name, known)
	}
	for _, p := range r.Problems {
		count(p.Code, true)
	}
}

// row returns a system's row, a new one if there is none yet.
func (t *Trust) row(metric, system string) *TrustRow {
	i, found := slices.BinarySearchFunc(t.rows, system, func(r *TrustRow, system string) int {
		return cmp.Or(cmp.Compare(r.Metric, metric), cmp.Compare(r.System, system))
	})
	if !found {
		t.rows = slices.Insert(t.rows, i, &TrustRow{metric, system, map[string]int{}})
	}
	return t.rows[i]
}

// add adds the counts of another row.
func (r *TrustRow) add(from *TrustRow) {
	for name, n := range from.Counts {
		r.Counts[name] += n
	}
}

// Total sums a metric's counts over its systems.
func (t *Trust) Total(metric string) *TrustRow {
	total := &TrustRow{metric, "", map[string]int{}}
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
		without := t.Counts["no_score"]
		if float64(without) <= most*float64(t.Reports()) {
			continue
		}
		commonest := string(analysis.Unparseable)
		for _, o := range []analysis.Outcome{analysis.Blocked, analysis.Cut, analysis.Missing} {
			if t.Counts[string(o)] > t.Counts[commonest] {
				commonest = string(o)
			}
		}
		remedy := ""
		if commonest == string(analysis.Cut) {
			remedy = "; the token limit cut them: give the judge the option max-tokens, such as max-tokens=8192 for a model that thinks"
		}
		errs = append(errs, fmt.Errorf("%w: %s: %d of %s have no score (most of them: %s, %d), more than the share of %g that is allowed%s",
			ErrCoverage, t.Metric, without, english.Count(t.Reports(), "answer"), commonest, t.Counts[commonest], most, remedy))
	}
	return errors.Join(errs...)
}

// trustCounts are the columns of the trust table after metric and system. They count reports,
// except that "errors" to "severity" count errors in reports with a score, the last five of them
// by the codes of analysis.Check.
var trustCounts = []struct {
	name, header string
	hide         bool // left out of the table for people
}{
	{"reports", "", false},
	{"scored", "", true},
	{"no_error", "no error", false},
	{"no_score", "no score", false},
	{"unparseable", "", true},
	{"blocked", "", true},
	{"cut", "", true},
	{"missing", "", true},
	{"errors", "", false},
	{"located", "", false},
	{"in_source", "", true},
	{"absent", "", false},
	{"explanation", "expl.", false},
	{"repeated", "", false},
	{"correction", "corr.", false},
	{"penalty", "", false},
	{"severity", "", false},
	{"count", "count≠", false},
	{"total", "total≠", false},
	{"flagged", "", false},
	{"parts_without", "parts without", true},
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
			row = append(row, r.Counts[c.name])
		}
		if r.Counts["parts_without"] > 0 {
			out.Columns[len(out.Columns)-1].Hide = false
		}
		out.Add(row...)
		if n := r.Counts["prompt_cut"]; n > 0 {
			out.Note("warning: %s: the server counted too few tokens for %d of %s, so it read only a part of them; do not trust the scores, and give the server a longer context",
				strings.TrimSpace(r.Metric+" "+r.System), n, english.Count(r.Reports(), "prompt"))
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
