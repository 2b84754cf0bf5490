package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Reports collects the reports that metrics give with their scores in a run.
type Reports struct {
	Trust   Trust  // counts over all reports
	Spans   *Spans // compares them with people's; may be nil
	metrics []metrics.Metric
	at      []int // their indexes in the engine
}

// NewReports returns Reports for those metrics of an engine that explain their
// scores.
func NewReports(ms []metrics.Metric) *Reports {
	r := &Reports{}
	for i, m := range ms {
		if m.Info().Explains {
			r.metrics, r.at = append(r.metrics, m), append(r.at, i)
		}
	}
	return r
}

// Metrics returns the metrics that explain their scores.
func (r *Reports) Metrics() []metrics.Metric { return r.metrics }

// Add counts the reports of a segment, and writes each to records as a line of
// JSON unless records is nil.
func (r *Reports) Add(s *refract.SegmentScores, records io.Writer) error {
	for k, m := range r.metrics {
		ms, info := &s.Metrics[r.at[k]], m.Info()
		add := func(h int, reference *int, rep *analysis.Report) error {
			if rep == nil {
				return nil
			}
			at := Place{ID: s.Segment.ID, System: s.Segment.Hypotheses[h].System, Metric: info.Name, Reference: reference}
			r.Trust.Add(at.Metric, at.System, rep)
			if r.Spans != nil && !s.Segment.Hypotheses[h].Human { // as in comparisons of scores
				if err := r.Spans.Add(&at, rep); err != nil {
					return err
				}
			}
			if records == nil {
				return nil
			}
			return at.write(records, rep)
		}
		for i, rep := range ms.Reports {
			var reference *int
			if info.NeedsReferences {
				reference = new(i % ms.Columns)
			}
			if err := add(i/ms.Columns, reference, rep); err != nil {
				return err
			}
		}
	}
	return nil
}

// Place says which metric made a report, and about what.
type Place struct {
	ID        string `json:"id"`
	System    string `json:"system"`
	Metric    string `json:"metric"`
	Reference *int   `json:"reference"` // its index; nil if the metric needs none, and for a native score
}

// write writes the place and the report as one JSON object.
func (p *Place) write(w io.Writer, r *analysis.Report) error {
	head, err := json.Marshal(p)
	if err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("the report on segment %q, system %q: %w", p.ID, p.System, err)
	}
	line := append(append(bytes.TrimSuffix(head, []byte("}")), ','), bytes.TrimPrefix(body, []byte("{"))...)
	_, err = w.Write(append(jsonline.Escape(line), '\n'))
	return err
}
