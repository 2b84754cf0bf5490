package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
)

// series holds the scores of one metric for the dataset at hand.
type series struct {
	metric metrics.Metric
	info   metrics.Info
	spec   string
	own    bool // the scores were made elsewhere
	// stated is how many references own scores of segments are said to be of.
	stated  int
	systems map[string]float64     // own scores of systems; nil where there are none
	cells   []refract.MetricScores // by segment, against all references
	natives []nativeScores
}

// nativeScores are a metric's own scores against a choice of references.
type nativeScores struct {
	set    columnsOf
	scores []refract.MetricScores
}

// keptNatives is how many native scorings of a metric are kept.
const keptNatives = 256

// storedSpec is the metric that stands for the scores that a folder has.
const storedSpec = "stored"

// isStored reports whether a spec names scores of the dataset's folder: all of
// them where the name is "".
func isStored(spec string) (name string, ok bool) {
	name, named := strings.CutPrefix(spec, storedSpec+":")
	return strings.TrimPrefix(name, storedSpec), named || spec == storedSpec
}

// allSeries lists the series of a dataset: of the metrics, which are yet to be
// scored, then its own.
func (r *run) allSeries(ctx context.Context, d *data) ([]*series, error) {
	var out []*series
	for i, m := range r.metrics {
		out = append(out, &series{metric: m, info: m.Info(), spec: r.specs[i]})
	}
	for _, own := range []func(context.Context, *data) ([]*series, error){r.matrixSeries, r.fileSeries, r.storedSeries} {
		s, err := own(ctx, d)
		if err != nil {
			return nil, err
		}
		out = append(out, s...)
	}
	for i, s := range out {
		if slices.ContainsFunc(out[:i], func(t *series) bool { return t.info.Name == s.info.Name }) {
			return nil, fmt.Errorf("two metrics are named %q", s.info.Name)
		}
	}
	return out, nil
}

// matrixSeries takes the cells of a stored matrix, which walks beside the
// dataset: the same segments in the same order.
func (r *run) matrixSeries(ctx context.Context, d *data) ([]*series, error) {
	if d.Matrix == "" {
		return nil, nil
	}
	path := r.p.file(d.Matrix)
	in, err := matrix.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var out []*series
	i := 0
	for s, err := range in.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		if i == len(d.segments) {
			return nil, fmt.Errorf("%s has segment %q, which the dataset has not", path, s.Segment.ID)
		}
		seg := d.segments[i]
		if s.Segment.ID != seg.ID {
			return nil, fmt.Errorf("%s (%s) has segment %q where the dataset has %q (%s); they must have the same segments in the same order",
				path, s.Segment.Pos, s.Segment.ID, seg.ID, seg.Pos)
		}
		if i == 0 {
			for _, info := range in.Metrics() {
				m, err := matrix.NewMetric(info)
				if err != nil {
					return nil, err
				}
				out = append(out, &series{metric: m, info: m.Info(), own: true})
			}
		}
		for k, of := range out {
			columns := 1
			if of.info.NeedsReferences {
				columns = max(1, seg.NumReferences())
			}
			ms, _, err := rowsOf(seg, s, k, columns)
			if err != nil {
				return nil, fmt.Errorf("%s (%s): segment %q: %s: %w; score the references that are compared", path, s.Segment.Pos, seg.ID, of.info.Name, err)
			}
			of.cells = append(of.cells, ms)
		}
		i++
	}
	if i < len(d.segments) {
		return nil, fmt.Errorf("%s ends before segment %q of the dataset (%s); score the whole dataset", path, d.segments[i].ID, d.segments[i].Pos)
	}
	for _, s := range out {
		s.natives = []nativeScores{{nil, s.cells}}
	}
	return out, nil
}

// fileSeries reads the files of scores.
func (r *run) fileSeries(_ context.Context, d *data) ([]*series, error) {
	var out []*series
	for _, f := range d.Scores {
		s := newStated(f.Name, 0)
		scores, err := dataset.ReadScores(r.p.file(f.Path), d.segments)
		if err != nil {
			return nil, err
		}
		s.lay(d, func(i, h int) (float64, bool) { v := scores[i][h]; return v.Value, v.Valid })
		out = append(out, s)
	}
	return out, nil
}

// storedSeries reads the scores that a folder has for its metrics. Its own
// scores of systems go beside those of segments: most are the means of these,
// those of corpus metrics are not.
func (r *run) storedSeries(_ context.Context, d *data) ([]*series, error) {
	all, names := false, []string(nil)
	for _, spec := range r.p.Metrics {
		if name, ok := isStored(spec); ok {
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
	spec := r.p.Path(d.Spec)
	found, err := dataset.StoredMetrics(spec, dataset.SegmentLevel, names...)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has no stored metric scores at segment level", spec)
	}
	ofSystems, err := dataset.StoredMetrics(spec, dataset.SystemLevel)
	if err != nil {
		return nil, err
	}
	var out []*series
	for _, m := range found {
		s := newStated(m.Label(), len(m.References))
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

func newStated(name string, references int) *series {
	m := &stated{metrics.Info{Name: name, Direction: metrics.HigherIsBetter}}
	return &series{metric: m, info: m.info, own: true, stated: references}
}

// lay fills in one score a hypothesis.
func (s *series) lay(d *data, value func(segment, h int) (float64, bool)) {
	for i, seg := range d.segments {
		ms := refract.MetricScores{Columns: 1, Values: make([]float64, len(seg.Hypotheses)), Status: make([]metrics.Status, len(seg.Hypotheses))}
		for h := range seg.Hypotheses {
			var ok bool
			if ms.Values[h], ok = value(i, h); !ok {
				ms.Status[h] = metrics.Failed
			}
		}
		s.cells = append(s.cells, ms)
	}
}

// stated is a metric of which only scores of segments are known.
type stated struct{ info metrics.Info }

func (m *stated) Info() metrics.Info                        { return m.info }
func (m *stated) Signature(metrics.Level) metrics.Signature { return nil }
func (m *stated) Score(context.Context, []metrics.Block) ([]metrics.Scores, error) {
	return nil, fmt.Errorf("the scores of %s were made elsewhere", m.info.Name)
}

// signature is that of a setting.
func (s *series) signature(a aggregate.Aggregator, lo, hi int, set string) string {
	if _, ok := s.metric.(*stated); ok {
		return storedSpec
	}
	of := refract.Setting{Metric: s.metric, Aggregator: a}
	return refract.SettingSignature(of, metrics.Sentence, refract.ReferenceCount(lo, hi), set).String()
}

// hasNative says whether there is a native score of a series.
func (s *series) hasNative() bool {
	if m, ok := s.metric.(*matrix.Metric); ok {
		return m.HasNative()
	}
	return metrics.HasNative(s.metric)
}

// score scores, in one pass over the dataset, what is neither a dataset's own
// nor in the store. What is needed of a metric follows from its settings.
func (r *run) score(ctx context.Context, d *data, settings []*setting, everyCell bool) error {
	all := columnsOf(nil)
	var full, todo []refract.Setting
	var records []*recorder // of cells, then of native scores, by metric of todo
	defer func() {
		for _, rec := range records {
			rec.discard()
		}
	}()
	for _, s := range d.series {
		if s.own {
			continue
		}
		of, native := s.wants(settings)
		full = append(full, of...)
		if err := r.checkReferences(d, s); err != nil {
			return err
		}
		stored, err := r.fromStore(ctx, d, s, native)
		if err != nil {
			return err
		}
		if _, corpus := s.metric.(metrics.CorpusMetric); stored && !(r.Corpus && corpus) {
			continue
		}
		r.progress("scoring %s: %s", d.Name, s.info.Name)
		todo = append(todo, of...)
		for _, w := range []*wanted{r.cells(d.segments, s.metric), r.native(d.segments, s.metric)} {
			rec := &recorder{wanted: w, run: r}
			if !stored && (w.kind == cellsKind || native) {
				if rec, err = r.record(w); err != nil {
					return err
				}
			}
			records = append(records, rec)
		}
	}
	if len(full) == 0 {
		return nil
	}
	engine, err := r.engine(d, full, everyCell)
	if err != nil {
		return err
	}
	yield := func(i int, seg *refract.Segment) error {
		if r.Scored == nil {
			return nil
		}
		out := &refract.SegmentScores{Segment: seg}
		for _, s := range d.series {
			if !s.own {
				out.Metrics = append(out.Metrics, s.cells[i])
				s.cells[i].First, s.cells[i].All = nil, nil
			}
		}
		return r.Scored(d.Name, engine, out)
	}
	if len(todo) == 0 {
		for i, seg := range d.segments {
			if err := yield(i, seg); err != nil {
				return err
			}
		}
		return nil
	}
	working := engine
	if len(todo) < len(full) {
		if working, err = r.engine(d, todo, everyCell); err != nil {
			return err
		}
	}
	var scored []*series
	for _, m := range working.Metrics {
		at := slices.IndexFunc(d.series, func(s *series) bool { return s.metric == m })
		s := d.series[at]
		s.cells, s.natives = make([]refract.MetricScores, 0, len(d.segments)), nil
		scored = append(scored, s)
	}
	i := 0
	err = working.Run(ctx, list(d.segments), func(out *refract.SegmentScores) error {
		for k, s := range scored {
			ms := out.Metrics[k]
			s.cells = append(s.cells, ms)
			if err := records[2*k].add(out.Segment, ms); err != nil {
				return err
			}
			if rec := records[2*k+1]; rec.file != nil {
				if err := rec.add(out.Segment, asColumn(&ms, len(out.Segment.Hypotheses))); err != nil {
					return err
				}
			}
		}
		i++
		return yield(i-1, out.Segment)
	})
	if err != nil {
		return err
	}
	for k, s := range scored {
		s.natives = []nativeScores{{all, s.cells}}
		for _, rec := range records[2*k : 2*k+2] {
			if err := rec.close(); err != nil {
				return err
			}
		}
	}
	return nil
}
