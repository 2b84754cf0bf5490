package program

import (
	"fmt"
	"math"
	"slices"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// request is a line sent to a program.
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

// answer is a line written by a program. Its lists have one item a segment, with one value
// a cell (hypotheses × references, row-major) or one a hypothesis.
type answer struct {
	ID     *int         `json:"id"`
	Scores [][]*float64 `json:"scores"`
	Status [][]string   `json:"status"` // why scores are null
	Error  string       `json:"error"`  // instead of everything else
}

// statuses are the ones that a program may give.
var statuses = []metrics.Status{metrics.Failed, metrics.Unparseable, metrics.Blocked, metrics.Cut}

// saidError is an error reported by the program.
type saidError struct{ text string }

func (e *saidError) Error() string { return fmt.Sprintf("the program says: %.1000q", e.text) }

// readAnswer reads the scores of blocks from the answer to a request.
func (m *metric) readAnswer(line []byte, r *request, blocks []scored) error {
	var a answer
	if err := read(line, &a); err != nil {
		return err
	}
	switch {
	case a.ID == nil || *a.ID != r.ID:
		return fmt.Errorf(`"id" is not the %d of the request`, r.ID)
	case a.Error != "":
		return &saidError{m.said.hide(a.Error)}
	case len(a.Scores) != len(blocks):
		return fmt.Errorf("it has scores of %s for %d", english.Count(len(a.Scores), "segment"), len(blocks))
	case a.Status != nil && len(a.Status) != len(blocks):
		return fmt.Errorf("it has statuses of %s for %d", english.Count(len(a.Status), "segment"), len(blocks))
	}
	for i := range blocks {
		b := &blocks[i]
		var status []string
		columns := columns(b.Block, r.Native)
		n := len(b.Hypotheses) * columns
		if a.Status != nil {
			status = a.Status[i]
		}
		if len(a.Scores[i]) != n || status != nil && len(status) != n {
			return fmt.Errorf("segment %d of the request: %s and %s for %s × %d", i+1, english.Count(len(a.Scores[i]), "score"), english.Count(len(status), "status", "statuses"), english.Count(len(b.Hypotheses), "hypothesis", "hypotheses"), columns)
		}
		b.Scores = metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n)}
		for c, v := range a.Scores[i] {
			word := ""
			if status != nil {
				word = status[c]
			}
			if err := m.cell(&b.Scores, c, v, word); err != nil {
				return fmt.Errorf("segment %d of the request: score %d: %w", i+1, c+1, err)
			}
		}
	}
	return nil
}

// cell stores a score, or the reason why there is none.
func (m *metric) cell(out *metrics.Scores, c int, v *float64, word string) error {
	if v != nil {
		if word != "" && word != metrics.Scored.String() {
			return fmt.Errorf("it is %v, with the status %.40q", *v, word)
		}
		lo, hi := m.info.Lower, m.info.Upper
		within := min(max(*v, lo), hi)
		// Sums of floats may exceed a bound in their last bits.
		if math.Abs(*v-within) > 1e-9*max(1, math.Abs(within)) {
			return fmt.Errorf("it is %v, and the hello line bounds it by %v and %v", *v, lo, hi)
		}
		if within != 0 { // avoid -0
			out.Values[c] = within
		}
		return nil
	}
	out.Status[c] = metrics.Failed
	if word == "" {
		if out.Reports == nil {
			out.Reports = make([]*analysis.Report, len(out.Values))
		}
		out.Reports[c] = &analysis.Report{Outcome: analysis.Missing, Detail: "the program gave no number"}
		return nil
	}
	status, err := metrics.ParseStatus(word)
	if err != nil || !slices.Contains(statuses, status) {
		return fmt.Errorf("it is null, with the status %.40q; want failed, unparseable, blocked or cut", word)
	}
	out.Status[c] = status
	return nil
}
