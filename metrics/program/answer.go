package program

import (
	"errors"
	"fmt"
	"math"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// request is a line that a program reads.
type request struct {
	ID       int       `json:"id"`
	Segments []segment `json:"segments"`
	Native   bool      `json:"native"`
}

type segment struct {
	Source     string   `json:"source,omitempty"`
	Hypotheses []string `json:"hypotheses"`
	References []string `json:"references,omitempty"`
}

// answer is a line that a program writes. Its lists have an item a segment, and in
// it one a cell: hypotheses × references, row-major, or a hypothesis each.
type answer struct {
	ID      *int             `json:"id"`
	Scores  [][]*float64     `json:"scores"`
	Status  [][]string       `json:"status"`  // of the scores that are null: why
	Reports [][]*explanation `json:"reports"` // null where there is none
	Error   string           `json:"error"`   // in place of all of it
}

// explanation is the report on a score; where its errors stand is found here.
type explanation struct {
	Errors []struct {
		Location    string            `json:"location"`
		Aspect      string            `json:"aspect"`
		Dimension   string            `json:"dimension"`
		Severity    analysis.Severity `json:"severity"`
		Explanation string            `json:"explanation"`
		Penalty     *float64          `json:"penalty"`
	} `json:"errors"`
	Detail string  `json:"detail"`
	Raw    *string `json:"raw"`
}

// statuses are those that a program may give, with their outcomes in a report.
var statuses = map[metrics.Status]analysis.Outcome{
	metrics.Failed:      analysis.Missing,
	metrics.Unparseable: analysis.Unparseable,
	metrics.Blocked:     analysis.Blocked,
	metrics.Cut:         analysis.Cut,
}

// saidError is what a program says of itself.
type saidError struct{ text string }

func (e *saidError) Error() string { return fmt.Sprintf("the program says: %.1000q", e.text) }

// readAnswer reads the answer to a request of blocks.
func (m *Metric) readAnswer(line []byte, r *request, blocks []metrics.Block) ([]metrics.Scores, error) {
	var a answer
	if err := read(line, &a); err != nil {
		return nil, err
	}
	switch {
	case a.ID == nil || *a.ID != r.ID:
		return nil, fmt.Errorf(`"id" is not the %d of the request`, r.ID)
	case a.Error != "":
		return nil, &saidError{m.said.hide(a.Error)}
	case len(a.Scores) != len(blocks):
		return nil, fmt.Errorf("it has scores of %d segments for %d", len(a.Scores), len(blocks))
	case a.Status != nil && len(a.Status) != len(blocks):
		return nil, fmt.Errorf("it has statuses of %d segments for %d", len(a.Status), len(blocks))
	case a.Reports != nil && len(a.Reports) != len(blocks):
		return nil, fmt.Errorf("it has reports of %d segments for %d", len(a.Reports), len(blocks))
	case a.Reports != nil && !m.hello.Reports:
		return nil, errors.New(`it has reports, which the hello line promises by "reports": true`)
	}
	out := make([]metrics.Scores, len(blocks))
	for i, b := range blocks {
		columns := b.Columns()
		if r.Native {
			columns = 1
		}
		var status []string
		var reports []*explanation
		if a.Status != nil {
			status = a.Status[i]
		}
		if a.Reports != nil {
			reports = a.Reports[i]
		}
		var err error
		if out[i], err = m.matrix(b, columns, a.Scores[i], status, reports); err != nil {
			return nil, fmt.Errorf("segment %d of the request: %w", i+1, err)
		}
	}
	return out, nil
}

// matrix makes the scores of a block.
func (m *Metric) matrix(b metrics.Block, columns int, scores []*float64, status []string, reports []*explanation) (metrics.Scores, error) {
	n := len(b.Hypotheses) * columns
	if len(scores) != n || status != nil && len(status) != n || reports != nil && len(reports) != n {
		return metrics.Scores{}, fmt.Errorf("%d scores, %d statuses and %d reports for %d hypotheses × %d", len(scores), len(status), len(reports), len(b.Hypotheses), columns)
	}
	out := metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n)}
	if reports != nil {
		out.Reports = make([]*analysis.Report, n)
	}
	for c, v := range scores {
		word := ""
		if status != nil {
			word = status[c]
		}
		if err := m.cell(&out, c, v, word); err != nil {
			return out, fmt.Errorf("score %d: %w", c+1, err)
		}
		if reports != nil && reports[c] != nil {
			if v != nil {
				v = &out.Values[c]
			}
			texts := analysis.Texts{Hypothesis: b.Hypotheses[c/columns], Source: b.Source}
			if columns == len(b.References) {
				texts.Reference = b.References[c%columns]
			}
			out.Reports[c] = reports[c].of(v, out.Status[c], texts)
		}
	}
	return out, nil
}

// cell takes a score, or why there is none.
func (m *Metric) cell(out *metrics.Scores, c int, v *float64, word string) error {
	if v != nil {
		if word != "" && word != metrics.Scored.String() {
			return fmt.Errorf("it is %v, with the status %.40q", *v, word)
		}
		lo, hi := m.info.Lower, m.info.Upper
		within := min(max(*v, lo), hi)
		// Sums of floats exceed a bound by their last bits.
		if math.Abs(*v-within) > 1e-9*max(1, math.Abs(within)) {
			return fmt.Errorf("it is %v, and the hello line bounds it by %v and %v", *v, lo, hi)
		}
		if within != 0 { // never -0
			out.Values[c] = within
		}
		return nil
	}
	out.Status[c] = metrics.Failed
	if word == "" {
		return nil
	}
	status, err := metrics.ParseStatus(word)
	if _, ok := statuses[status]; err != nil || !ok {
		return fmt.Errorf("it is null, with the status %.40q; want failed, unparseable, blocked or cut", word)
	}
	out.Status[c] = status
	return nil
}

// of is the report of a cell.
func (r *explanation) of(score *float64, status metrics.Status, texts analysis.Texts) *analysis.Report {
	var all []analysis.Error
	for _, e := range r.Errors {
		all = append(all, analysis.Error{Location: e.Location, Aspect: e.Aspect, Dimension: e.Dimension, Severity: e.Severity, Explanation: e.Explanation, Penalty: e.Penalty})
	}
	out := analysis.Reported(all, score, statuses[status], texts)
	out.Detail, out.Raw = r.Detail, r.Raw
	return out
}
