package matrix

import (
	"fmt"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Info is what a matrix holds of a metric beside its scores.
type Info struct {
	Name      string // canonical
	Direction metrics.Direction
	// NeedsReferences tells a metric with a column per reference from one
	// with a single column.
	NeedsReferences bool
	CellSignature   string
	// NativeSignature is the signature of a native score against n
	// references; nil for a metric without native scores. That of a Reader
	// knows the numbers that it has read so far and gives "" for others.
	NativeSignature func(n int) string
}

// HasNative reports whether the metric has native scores.
func (i Info) HasNative() bool { return i.NativeSignature != nil }

// WriteSegment writes the rows of one segment: metric by metric, as infos
// lists them, the cells by hypothesis and reference, and then the native
// scores by hypothesis where there are any. Statistics are not written.
//
// A segment without hypotheses or metrics is an ErrNoCells. Other errors are
// those of the Writer, and scores whose shape does not fit the segment.
func WriteSegment(w Writer, s *refract.SegmentScores, infos []Info) error {
	if err := writeSegment(w, s, infos); err != nil {
		return fmt.Errorf("segment %s: %w", text.Quote(s.Segment.ID), err)
	}
	return nil
}

func writeSegment(w Writer, s *refract.SegmentScores, infos []Info) error {
	if len(s.Metrics) != len(infos) {
		return fmt.Errorf("scores of %d metrics, descriptions of %d", len(s.Metrics), len(infos))
	}
	if len(infos) == 0 || len(s.Segment.Hypotheses) == 0 {
		return fmt.Errorf("%w: it has %d hypotheses and %d metrics; take it out of the matrix", ErrNoCells, len(s.Segment.Hypotheses), len(infos))
	}
	present := 0
	for _, t := range s.Segment.AllReferences(nil) {
		if t.Valid {
			present++
		}
	}
	for k := range infos {
		if err := writeCells(w, s.Segment, &s.Metrics[k], &infos[k]); err != nil {
			return err
		}
		if s.Metrics[k].Native == nil {
			continue
		}
		if err := writeNative(w, s.Segment, &s.Metrics[k], &infos[k], present); err != nil {
			return err
		}
	}
	return nil
}

func writeCells(w Writer, seg *refract.Segment, m *refract.MetricScores, info *Info) error {
	rows, columns := len(seg.Hypotheses), 1
	numbered := info.NeedsReferences && seg.NumReferences() > 0
	if numbered {
		columns = seg.NumReferences()
	}
	if m.Columns != columns || len(m.Values) != rows*columns || len(m.Status) != rows*columns {
		return fmt.Errorf("%s: %d columns, %d values and %d statuses for %d hypotheses × %d references",
			info.Name, m.Columns, len(m.Values), len(m.Status), rows, columns)
	}
	row := Row{
		ID: seg.ID, Metric: info.Name, Reference: NoReference,
		Direction: info.Direction, Signature: info.CellSignature,
	}
	if numbered {
		row.References = 1
	}
	for i := range m.Values {
		row.System = seg.Hypotheses[i/columns].System
		if numbered {
			row.Reference = i % columns
		}
		row.Score, row.Status = m.Values[i], m.Status[i]
		if err := w.Write(&row); err != nil {
			return err
		}
	}
	return nil
}

func writeNative(w Writer, seg *refract.Segment, m *refract.MetricScores, info *Info, references int) error {
	if len(m.Native) != len(seg.Hypotheses) || len(m.NativeStatus) != len(seg.Hypotheses) {
		return fmt.Errorf("%s: %d native scores and %d statuses for %d hypotheses",
			info.Name, len(m.Native), len(m.NativeStatus), len(seg.Hypotheses))
	}
	if !info.HasNative() {
		return fmt.Errorf("%s has native scores but no signature for them", info.Name)
	}
	if !info.NeedsReferences {
		references = 0
	}
	row := Row{
		ID: seg.ID, Metric: info.Name, Aggregate: Native, Reference: NoReference, References: references,
		Direction: info.Direction, Signature: info.NativeSignature(references),
	}
	for h := range seg.Hypotheses {
		row.System = seg.Hypotheses[h].System
		row.Score, row.Status = m.Native[h], m.NativeStatus[h]
		if err := w.Write(&row); err != nil {
			return err
		}
	}
	return nil
}
