package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
)

// storedSpec is the metric spec for the scores in a folder.
const storedSpec = "stored"

// IsStored reports whether a metric spec names scores in the dataset's folder: all of them
// if the name is "".
func IsStored(spec string) (name string, ok bool) {
	name, named := strings.CutPrefix(spec, storedSpec+":")
	return strings.TrimPrefix(name, storedSpec), named || spec == storedSpec
}

// matrixSeries reads the cells of a stored matrix in step with the dataset: the same
// segments in the same order.
func (r *run) matrixSeries(ctx context.Context, d *data) ([]*series, error) {
	if d.Matrix == "" {
		return nil, nil
	}
	path := r.p.File(d.Matrix)
	in, err := matrix.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var out []*series
	err = inStep(ctx, in, path, d.segments, func(i int, s *refract.SegmentScores) (err error) {
		for k, info := range in.Metrics() {
			if k == len(out) { // they are known from the first segment on
				m, err := matrix.NewMetric(info)
				if err != nil {
					return err
				}
				out = append(out, &series{metric: m, info: m.Info(), own: true, cells: make([]*refract.MetricScores, len(d.segments))})
				for i, seg := range d.segments {
					out[k].cells[i] = &refract.MetricScores{Columns: out[k].columns(seg)}
				}
			}
			of := out[k]
			if of.cells[i], err = rowsOf(d.segments[i], s, k, of.columns(d.segments[i])); err != nil {
				return fmt.Errorf("%s: %w; score the references that are compared", of.info.Name, err)
			}
		}
		if err := in.Match(d.segments[i]); err != nil {
			return fmt.Errorf("%w; score this dataset", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	failed := in.Ended()
	switch {
	case failed == nil:
		return out, nil
	case len(failed.Errs) == len(out):
		return nil, errors.Join(failed.Errs...)
	}
	r.ended(d, failed)
	return slices.DeleteFunc(out, func(s *series) bool { return slices.Contains(failed.Metrics, s.info.Name) }), nil
}

// fileSeries reads the files of scores.
func (r *run) fileSeries(_ context.Context, d *data) ([]*series, error) {
	var out []*series
	for _, f := range d.Scores {
		scores, perReference, err := dataset.ReadScores(r.p.File(f.Path), d.segments, func(w dataset.Warning) { r.warn("%s", w) })
		if err != nil {
			return nil, err
		}
		s := newStated(f.Name, 0, perReference)
		s.file = true
		s.lay(d, func(i, cell int) (float64, bool) { v := scores[i][cell]; return v.Value, v.Valid })
		out = append(out, s)
	}
	return out, nil
}

// storedSeries reads the metric scores in a folder. The folder's own scores of systems are
// kept with those of segments: most are their means, but those of corpus metrics are not.
func (r *run) storedSeries(_ context.Context, d *data) ([]*series, error) {
	all, names := false, []string(nil)
	for _, spec := range r.p.Metrics {
		if name, ok := IsStored(spec); ok {
			all = all || name == ""
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if all {
		names = nil
	}
	if !strings.HasPrefix(d.Spec, "mtme:") {
		return nil, planErrorf("metric %q means the scores in a dataset mtme:DIR/TESTSET/LP, which this is not; give scores in a file with --scores, or in an experiment as scores", storedSpec)
	}
	spec := r.p.Path(d.Spec)
	found, err := dataset.StoredMetrics(spec, correlate.SegmentLevel, names...)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no stored metric scores at segment level", spec)
	}
	ofSystems, err := dataset.StoredMetrics(spec, correlate.SystemLevel)
	if err != nil {
		return nil, err
	}
	var out []*series
	for _, m := range found {
		s := newStated(m.Label(), len(m.References), false)
		if m.InUse && len(d.References) == 0 || slices.Equal(m.References, d.References) {
			s.shared = m.Name
		}
		of := map[string]dataset.SystemScores{}
		for _, system := range m.Systems {
			of[system.System] = system
		}
		s.lay(d, func(i, h int) (float64, bool) {
			v := of[d.segments[i].Hypotheses[h].System]
			if i >= len(v.Values) {
				return 0, false
			}
			return v.Values[i], v.Valid[i]
		})
		if at := slices.IndexFunc(ofSystems, func(o dataset.StoredMetric) bool { return o.Label() == m.Label() }); at >= 0 {
			s.systems = map[string]float64{}
			for _, system := range ofSystems[at].Systems {
				if len(system.Values) == 1 && system.Valid[0] {
					s.systems[system.System] = system.Values[0]
				}
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func newStated(name string, references int, perReference bool) *series {
	m := &stated{metrics.Info{Name: name, Direction: metrics.HigherIsBetter, NeedsReferences: perReference}}
	return &series{metric: m, info: m.info, own: true, stated: references}
}

// lay fills in a score for each hypothesis or, of a metric with references, for each of its
// cells.
func (s *series) lay(d *data, value func(segment, cell int) (float64, bool)) {
	for i, seg := range d.segments {
		columns := s.columns(seg)
		n := len(seg.Hypotheses) * columns
		ms := &refract.MetricScores{Columns: columns, Values: make([]float64, n), Status: make([]metrics.Status, n)}
		for cell := range n {
			var ok bool
			if ms.Values[cell], ok = value(i, cell); !ok {
				ms.Status[cell] = metrics.Failed
			}
		}
		s.cells = append(s.cells, ms)
	}
}

// columns is the number of scores that an output of a segment has.
func (s *series) columns(seg *refract.Segment) int {
	if s.info.NeedsReferences {
		return max(1, seg.NumReferences())
	}
	return 1
}

// stated is a metric of which only segment scores are known.
type stated struct{ info metrics.Info }

func (m *stated) Info() metrics.Info { return m.info }
func (m *stated) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{}.With("scores", storedSpec)
}
func (m *stated) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return nil, fmt.Errorf("the scores of %s were made elsewhere", m.info.Name)
}

// inStep reads a stored matrix in step with the segments of a dataset, which must be the
// same in the same order, except for segments without hypotheses, which have no row.
func inStep(ctx context.Context, in *matrix.Reader, path string, segments []*refract.Segment, take func(i int, s *refract.SegmentScores) error) error {
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
			return fmt.Errorf("%s has segment %q, which the dataset does not have", path, s.Segment.ID)
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

// rowsOf orders the rows of a stored segment like the hypotheses of the dataset's segment.
// The scores of a system missing there are missing.
func rowsOf(want *refract.Segment, s *refract.SegmentScores, metric, columns int) (*refract.MetricScores, error) {
	ms, n := &s.Metrics[metric], len(want.Hypotheses)
	out := &refract.MetricScores{Columns: columns, Values: make([]float64, n*columns)}
	if ms.Columns != columns {
		return out, fmt.Errorf("%s, want %d", english.Count(ms.Columns, "reference"), columns)
	}
	absent := []metrics.Status{metrics.MissingHypothesis}
	out.Status = slices.Repeat(absent, n*columns)
	if ms.Native != nil {
		out.Native, out.NativeStatus = make([]float64, n), slices.Repeat(absent, n)
	}
	index := make(map[string]int, len(s.Segment.Hypotheses))
	for h := range s.Segment.Hypotheses {
		index[s.Segment.Hypotheses[h].System] = h
	}
	for i := range want.Hypotheses {
		h, ok := index[want.Hypotheses[i].System]
		if !ok {
			continue
		}
		copy(out.Values[i*columns:], ms.Values[h*columns:(h+1)*columns])
		copy(out.Status[i*columns:], ms.Status[h*columns:(h+1)*columns])
		if ms.Native != nil {
			out.Native[i], out.NativeStatus[i] = ms.Native[h], ms.NativeStatus[h]
		}
	}
	return out, nil
}
