package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Feedback is what a model or people find wrong with a report.
type Feedback struct {
	Place
	Failures  [][]analysis.Failure // of each error
	Alignment float64
}

// ReadFeedback reads rows with "id", "system", and "failures", "alignment" or
// both, as 'refract feedback --verdicts' writes them. Reports that it could not
// judge, which their "status" tells, are left out.
func ReadFeedback(name string, in io.Reader) iter.Seq2[*Feedback, error] {
	return func(yield func(*Feedback, error) bool) {
		for f, err := range ReadRows(name, in, feedbackOf) {
			if (f != nil || err != nil) && !yield(f, err) {
				return
			}
		}
	}
}

func feedbackOf(line []byte) (*Feedback, error) {
	var row struct {
		reportedRow
		Failures  [][]analysis.Failure `json:"failures"`
		Alignment *float64             `json:"alignment"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, explainJSON(err)
	}
	f := &Feedback{Failures: row.Failures}
	var err error
	if f.Place, err = row.place(); err != nil {
		return nil, err
	}
	for _, of := range row.Failures {
		for _, failure := range of {
			if !slices.Contains(analysis.Failures(), failure) {
				return nil, fmt.Errorf("unknown failure %q; there are %v", failure, analysis.Failures())
			}
		}
	}
	switch {
	case row.Alignment != nil && !(*row.Alignment >= 0 && *row.Alignment <= 1):
		return nil, fmt.Errorf(`"alignment" is %v; want a share from 0 to 1`, *row.Alignment)
	case row.Alignment != nil:
		f.Alignment = *row.Alignment
	case len(row.Failures) > 0:
		right, fields := analysis.Alignment(row.Failures)
		f.Alignment = float64(right) / float64(fields)
	case row.Status != "":
		return nil, nil
	default:
		return nil, errors.New(`there are neither "failures" nor an "alignment"`)
	}
	return f, nil
}

// FeedbackFile is feedback on the reports of a run.
type FeedbackFile struct {
	of map[placeKey]*Feedback
	at []placeKey // in order
}

// placeKey is a Place that can be compared; reference is -1 for none.
type placeKey struct {
	id, system, metric string
	reference          int
}

func keyOf(p *Place) placeKey {
	k := placeKey{p.ID, p.System, p.Metric, -1}
	if p.Reference != nil {
		k.reference = *p.Reference
	}
	return k
}

// NewFeedbackFile reads feedback, and holds it by the reports that it is on.
func NewFeedbackFile(name string, in io.Reader) (*FeedbackFile, error) {
	f := &FeedbackFile{of: map[placeKey]*Feedback{}}
	for row, err := range ReadFeedback(name, in) {
		if err != nil {
			return nil, err
		}
		k := keyOf(&row.Place)
		if f.of[k] != nil {
			return nil, fmt.Errorf("%s: %s has feedback on a report of %q twice", name, row, row.Metric)
		}
		f.of[k], f.at = row, append(f.at, k)
	}
	return f, nil
}

// count adds the feedback on a report, if there is some. Feedback on another
// number of errors is on another report.
func (f *FeedbackFile) count(t *analysis.Trust, p *Place, r *analysis.Report) {
	if f == nil {
		return
	}
	k := keyOf(p)
	if row := f.of[k]; row != nil && len(row.Failures) == len(r.Errors) {
		t.AddFeedback(p.Metric, p.System, row.Alignment, row.Failures)
		delete(f.of, k)
	}
}

// Left is the feedback on reports that the run does not have.
func (f *FeedbackFile) Left() []*Feedback {
	var out []*Feedback
	if f == nil {
		return nil
	}
	for _, k := range f.at {
		if row := f.of[k]; row != nil {
			out = append(out, row)
		}
	}
	return out
}
