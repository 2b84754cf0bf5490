package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// The kinds of stored matrices.
const (
	cellsKind  = "cells"
	nativeKind = "native"
)

// wanted is a matrix of a metric over segments, which the store may have.
type wanted struct {
	path     string // "" without a store
	kind     string
	segments []*refract.Segment
	columns  func(*refract.Segment) int
	info     matrix.Info
}

// cells are the scores against all references.
func (r *run) cells(segments []*refract.Segment, m metrics.Metric) *wanted {
	info := m.Info()
	w := &wanted{kind: cellsKind, segments: segments, columns: func(s *refract.Segment) int {
		if !info.NeedsReferences {
			return 1
		}
		return max(1, s.NumReferences())
	}, info: matrix.Info{
		Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences,
		CellSignature: m.Signature(metrics.Sentence).String(),
	}}
	return r.keyed(w, m)
}

// native are the metric's own scores against all references of the segments,
// as matrices of one column: stored like those of a metric without references.
func (r *run) native(segments []*refract.Segment, m metrics.Metric) *wanted {
	info := m.Info()
	return r.keyed(&wanted{kind: nativeKind, segments: segments, columns: func(*refract.Segment) int { return 1 }, info: matrix.Info{
		Name: info.Name, Direction: info.Direction,
		CellSignature: m.Signature(metrics.Sentence).With("agg", matrix.Native).String(),
	}}, m)
}

func (r *run) keyed(w *wanted, m metrics.Metric) *wanted {
	if r.Store == nil {
		return w
	}
	key := newDigest(w.kind)
	key.text(m.Info().Name)
	key.text(m.Signature(metrics.Sentence).String())
	key.texts(w.segments, m.Info().NeedsSource)
	w.path = r.Store.path(w.kind, key.sum(), ".parquet")
	return w
}

// stored returns the matrix of the store, and false where it has none that can
// be read.
func (r *run) stored(ctx context.Context, w *wanted) ([]refract.MetricScores, bool, error) {
	if w.path == "" {
		return nil, false, nil
	}
	out, err := w.read(ctx)
	switch {
	case err == nil && w.kind == cellsKind && slices.ContainsFunc(out, func(ms refract.MetricScores) bool { return !final(&ms) }):
		return nil, false, nil // of a version that stored them
	case err == nil:
		r.count(func(u *Usage) { u.ReusedMatrices++; u.ReusedCells += countCells(out) })
		return out, true, nil
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case !errors.Is(err, fs.ErrNotExist):
		r.warn("%s cannot be read and is made anew: %v", w.path, err)
		// A file that is no file, such as a folder, stays in the way.
		if err := os.Remove(w.path); err != nil {
			return nil, false, fmt.Errorf("store of cells: %w", err)
		}
	}
	return nil, false, nil
}

// final says that no other run can do better: every cell that has its texts has
// a score, and every report of a judge states one.
func final(ms *refract.MetricScores) bool {
	return !slices.ContainsFunc(ms.Status, func(s metrics.Status) bool { return s >= metrics.Failed }) &&
		!slices.ContainsFunc(ms.Reports, func(r *analysis.Report) bool { return r != nil && !r.Outcome.HasScore() })
}

func countCells(all []refract.MetricScores) int {
	n := 0
	for i := range all {
		n += len(all[i].Values)
	}
	return n
}

// recorder stores a matrix as it is scored. A nil one does nothing.
type recorder struct {
	*wanted
	run     *run
	file    *matrix.File // nil without a store
	cells   int
	partial bool
}

func (r *run) record(w *wanted) (*recorder, error) {
	out := &recorder{wanted: w, run: r}
	var err error
	if w.path != "" {
		out.file, err = matrix.Create(w.path)
	}
	return out, err
}

// add takes in the scores of the next segment.
func (r *recorder) add(seg *refract.Segment, ms refract.MetricScores) error {
	if r == nil {
		return nil
	}
	r.cells += len(ms.Values)
	ms.Native, ms.NativeStatus = nil, nil // they have a matrix of their own
	r.partial = r.partial || r.kind == cellsKind && !final(&ms)
	if r.file == nil || len(seg.Hypotheses) == 0 {
		return nil // it has no row, and reading knows of that
	}
	s := &refract.SegmentScores{Segment: seg, Metrics: []refract.MetricScores{ms}}
	return matrix.WriteSegment(r.file, s, []matrix.Info{r.info})
}

// close stores the matrix, but for one that another run may do better: calls
// fail for a time, and judges leave out what they need not say.
func (r *recorder) close() error {
	if r == nil {
		return nil
	}
	r.run.count(func(u *Usage) { u.ScoredMatrices++; u.ScoredCells += r.cells })
	if r.file == nil {
		return nil
	}
	if r.partial {
		r.file.Discard()
		return nil
	}
	return r.file.Close()
}

func (r *recorder) discard() {
	if r != nil && r.file != nil {
		r.file.Discard()
	}
}

// asColumn turns native scores into a matrix of one column.
func asColumn(ms *refract.MetricScores, hypotheses int) refract.MetricScores {
	out := refract.MetricScores{Columns: 1, Values: ms.Native, Status: slices.Clone(ms.NativeStatus)}
	if ms.Native == nil {
		out.Values, out.Status = make([]float64, hypotheses), make([]metrics.Status, hypotheses)
		for h := range hypotheses {
			out.Status[h] = metrics.Failed
		}
	}
	for h, s := range out.Status {
		// A matrix knows of missing references where it has columns for them.
		if s == metrics.MissingReference {
			out.Status[h] = metrics.Failed
		}
	}
	return out
}

// read returns the matrix of a file, with rows in the order of hypotheses.
func (w *wanted) read(ctx context.Context) ([]refract.MetricScores, error) {
	in, err := matrix.Open(w.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out := make([]refract.MetricScores, len(w.segments))
	for i, seg := range w.segments {
		out[i].Columns = w.columns(seg)
	}
	return out, beside(ctx, in, w.path, w.segments, func(i int, s *refract.SegmentScores) (err error) {
		if in.Metrics()[0].CellSignature != w.info.CellSignature || len(in.Metrics()) != 1 {
			return errors.New("the signature is another one")
		}
		if len(s.Segment.Hypotheses) != len(w.segments[i].Hypotheses) {
			return fmt.Errorf("%d systems, want %d", len(s.Segment.Hypotheses), len(w.segments[i].Hypotheses))
		}
		missing := ""
		if out[i], missing, err = rowsOf(w.segments[i], s, 0, out[i].Columns); err == nil && missing != "" {
			err = fmt.Errorf("no system %q", missing)
		}
		return err
	})
}

// beside walks a stored matrix beside the segments of a dataset, which must be
// the same in the same order, but for those without hypotheses: they have no row.
func beside(ctx context.Context, in *matrix.Reader, path string, segments []*refract.Segment, take func(i int, s *refract.SegmentScores) error) error {
	i := 0
	skip := func() {
		for i < len(segments) && len(segments[i].Hypotheses) == 0 {
			i++
		}
	}
	for s, err := range in.Segments(ctx) {
		if err != nil {
			return err
		}
		if skip(); i == len(segments) {
			return fmt.Errorf("%s has segment %q, which the dataset has not", path, s.Segment.ID)
		}
		if seg := segments[i]; s.Segment.ID != seg.ID {
			return fmt.Errorf("%s (%s) has segment %q where the dataset has %q (%s); they must have the same segments in the same order",
				path, s.Segment.Pos, s.Segment.ID, seg.ID, seg.Pos)
		}
		if err := take(i, s); err != nil {
			return fmt.Errorf("%s (%s): segment %q: %w", path, s.Segment.Pos, s.Segment.ID, err)
		}
		i++
	}
	if skip(); i < len(segments) {
		return fmt.Errorf("%s ends before segment %q of the dataset (%s); score the whole dataset", path, segments[i].ID, segments[i].Pos)
	}
	return nil
}

// rowsOf orders the rows of a stored segment as the hypotheses of a dataset's
// are, and names a system that it lacks, whose scores are missing then.
func rowsOf(want *refract.Segment, s *refract.SegmentScores, metric, columns int) (out refract.MetricScores, missing string, err error) {
	ms := &s.Metrics[metric]
	if ms.Columns != columns {
		return out, "", fmt.Errorf("%d references, want %d", ms.Columns, columns)
	}
	index := make(map[string]int, len(s.Segment.Hypotheses))
	for h := range s.Segment.Hypotheses {
		index[s.Segment.Hypotheses[h].System] = h
	}
	out = refract.MetricScores{Columns: columns}
	for i := range want.Hypotheses {
		h, ok := index[want.Hypotheses[i].System]
		if !ok {
			missing = want.Hypotheses[i].System
			out.Values = append(out.Values, make([]float64, columns)...)
			out.Status = append(out.Status, slices.Repeat([]metrics.Status{metrics.MissingHypothesis}, columns)...)
		} else {
			out.Values = append(out.Values, ms.Values[h*columns:(h+1)*columns]...)
			out.Status = append(out.Status, ms.Status[h*columns:(h+1)*columns]...)
		}
		if ms.Native == nil {
			continue
		}
		if !ok {
			out.Native, out.NativeStatus = append(out.Native, 0), append(out.NativeStatus, metrics.MissingHypothesis)
		} else {
			out.Native, out.NativeStatus = append(out.Native, ms.Native[h]), append(out.NativeStatus, ms.NativeStatus[h])
		}
	}
	return out, missing, nil
}
