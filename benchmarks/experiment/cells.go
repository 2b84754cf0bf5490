package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
)

// cellsKind is the folder of matrices.
const cellsKind = "cells"

// cells returns the scores of a metric against all references, by segment,
// from the store where it has them.
func (r *run) cells(ctx context.Context, d *data, m metrics.Metric) ([]refract.MetricScores, error) {
	info := m.Info()
	key := newDigest("cells")
	key.text(info.Name)
	key.text(m.Signature(metrics.Sentence).String())
	key.texts(d.segments, info.NeedsSource)
	columns := func(s *refract.Segment) int {
		if !info.NeedsReferences {
			return 1
		}
		return max(1, s.NumReferences())
	}
	w := wanted{
		kind: cellsKind, key: key.sum(), segments: d.segments, columns: columns,
		info: matrix.Info{
			Name: info.Name, Direction: info.Direction, NeedsReferences: info.NeedsReferences,
			CellSignature: m.Signature(metrics.Sentence).String(),
		},
		score: func(yield func(*refract.SegmentScores) error) error {
			engine, err := r.engine(refract.Setting{Metric: m})
			if err != nil {
				return err
			}
			return engine.Run(ctx, list(d.segments), yield)
		},
	}
	return r.matrix(ctx, d, &w)
}

// native returns the metric's own scores against a choice of references, as
// matrices of one column.
func (r *run) native(ctx context.Context, d *data, m metrics.Metric, set columnsOf) ([]refract.MetricScores, error) {
	info := m.Info()
	segments := set.keep(d.segments)
	key := newDigest("native")
	key.text(info.Name)
	key.text(m.Signature(metrics.Sentence).String())
	key.texts(segments, info.NeedsSource)
	w := wanted{
		kind: "native", key: key.sum(), segments: segments, columns: func(*refract.Segment) int { return 1 },
		// One score of a hypothesis is stored like that of a metric without
		// references.
		info: matrix.Info{
			Name: info.Name, Direction: info.Direction,
			CellSignature: m.Signature(metrics.Sentence).With("agg", matrix.Native).String(),
		},
		score: func(yield func(*refract.SegmentScores) error) error {
			native, err := aggregate.Parse("native")
			if err != nil {
				return err
			}
			engine, err := r.engine(refract.Setting{Metric: m, Aggregator: native})
			if err != nil {
				return err
			}
			return engine.Run(ctx, list(segments), func(s *refract.SegmentScores) error {
				s.Metrics = []refract.MetricScores{asColumn(&s.Metrics[0], len(s.Segment.Hypotheses))}
				return yield(s)
			})
		},
	}
	return r.matrix(ctx, d, &w)
}

func (r *run) engine(s refract.Setting) (*refract.Engine, error) {
	return refract.NewEngine([]refract.Setting{s}, refract.Options{Scope: refract.Averaged, AllowNoReferences: true, Workers: r.Workers})
}

// asColumn turns native scores into a matrix of one column.
func asColumn(ms *refract.MetricScores, hypotheses int) refract.MetricScores {
	out := refract.MetricScores{Columns: 1, Values: ms.Native, Status: ms.NativeStatus}
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

// wanted is a matrix that is read from the store, or scored and written.
type wanted struct {
	kind, key string
	segments  []*refract.Segment
	columns   func(*refract.Segment) int
	info      matrix.Info
	score     func(yield func(*refract.SegmentScores) error) error
}

func (r *run) matrix(ctx context.Context, d *data, w *wanted) ([]refract.MetricScores, error) {
	path := r.Store.path(w.kind, w.key, ".parquet")
	out, err := w.read(ctx, path)
	switch {
	case err == nil:
		r.usage.ReusedMatrices++
		r.usage.ReusedCells += countCells(out)
		return out, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !errors.Is(err, fs.ErrNotExist):
		r.warn("%s cannot be read and is made anew: %v", path, err)
		// A file that is no file, such as a folder, stays in the way.
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("store of cells: %w", err)
		}
	}
	r.progress("scoring %s: %s", d.Name, w.info.Name)
	if out, err = w.write(path); err != nil {
		return nil, err
	}
	r.usage.ScoredMatrices++
	r.usage.ScoredCells += countCells(out)
	return out, nil
}

func countCells(all []refract.MetricScores) int {
	n := 0
	for i := range all {
		n += len(all[i].Values)
	}
	return n
}

// write scores all segments and stores the matrix.
func (w *wanted) write(path string) ([]refract.MetricScores, error) {
	f, err := matrix.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Discard()
	var out []refract.MetricScores
	failed := false
	err = w.score(func(s *refract.SegmentScores) error {
		out = append(out, s.Metrics[0])
		failed = failed || w.kind == cellsKind && slices.Contains(s.Metrics[0].Status, metrics.Failed)
		if len(s.Segment.Hypotheses) == 0 {
			return nil // it has no row, and reading knows of that
		}
		stored := *s
		stored.Metrics = s.Metrics[:1]
		return matrix.WriteSegment(f, &stored, []matrix.Info{w.info})
	})
	if err != nil {
		return nil, err
	}
	if failed {
		return out, nil // another run may do better, as calls can fail for a time
	}
	return out, f.Close()
}

// read returns the matrix of a file, with rows in the order of hypotheses.
func (w *wanted) read(ctx context.Context, path string) ([]refract.MetricScores, error) {
	in, err := matrix.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out := make([]refract.MetricScores, len(w.segments))
	at := 0
	skip := func() {
		for at < len(w.segments) && len(w.segments[at].Hypotheses) == 0 {
			out[at].Columns = w.columns(w.segments[at])
			at++
		}
	}
	for s, err := range in.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		skip()
		if at == len(w.segments) || w.segments[at].ID != s.Segment.ID {
			return nil, fmt.Errorf("segment %q is not the one wanted", s.Segment.ID)
		}
		if in.Metrics()[0].CellSignature != w.info.CellSignature || len(in.Metrics()) != 1 {
			return nil, errors.New("the signature is another one")
		}
		if out[at], err = w.rows(w.segments[at], s); err != nil {
			return nil, fmt.Errorf("segment %q: %w", s.Segment.ID, err)
		}
		at++
	}
	if skip(); at != len(w.segments) {
		return nil, fmt.Errorf("it ends before segment %q", w.segments[at].ID)
	}
	return out, nil
}

// rows orders the rows of a stored segment as its hypotheses are.
func (w *wanted) rows(want *refract.Segment, s *refract.SegmentScores) (refract.MetricScores, error) {
	ms := &s.Metrics[0]
	n := w.columns(want)
	if ms.Columns != n || len(s.Segment.Hypotheses) != len(want.Hypotheses) {
		return refract.MetricScores{}, fmt.Errorf("%d systems × %d references, want %d × %d",
			len(s.Segment.Hypotheses), ms.Columns, len(want.Hypotheses), n)
	}
	index := make(map[string]int, len(want.Hypotheses))
	for h := range s.Segment.Hypotheses {
		index[s.Segment.Hypotheses[h].System] = h
	}
	out := refract.MetricScores{Columns: n}
	for i := range want.Hypotheses {
		h, ok := index[want.Hypotheses[i].System]
		if !ok {
			return out, fmt.Errorf("no system %q", want.Hypotheses[i].System)
		}
		out.Values = append(out.Values, ms.Values[h*n:(h+1)*n]...)
		out.Status = append(out.Status, ms.Status[h*n:(h+1)*n]...)
	}
	return out, nil
}
