package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/correlate"
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
	mu      sync.Mutex             // of natives
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
	columns := func(of *series, seg *refract.Segment) int {
		if of.info.NeedsReferences {
			return max(1, seg.NumReferences())
		}
		return 1
	}
	err = beside(ctx, in, path, d.segments, func(i int, s *refract.SegmentScores) (err error) {
		for k, info := range in.Metrics() {
			if k == len(out) { // they are known with the first segment
				m, err := matrix.NewMetric(info)
				if err != nil {
					return err
				}
				out = append(out, &series{metric: m, info: m.Info(), own: true, cells: make([]refract.MetricScores, len(d.segments))})
				for i, seg := range d.segments {
					out[k].cells[i].Columns = columns(out[k], seg)
				}
			}
			of := out[k]
			if of.cells[i], _, err = rowsOf(d.segments[i], s, k, columns(of, d.segments[i])); err != nil {
				return fmt.Errorf("%s: %w; score the references that are compared", of.info.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
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
		scores, err := dataset.ReadScores(r.p.file(f.Path), d.segments, func(w dataset.Warning) { r.warn("%s", w) })
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

func (m *stated) Info() metrics.Info { return m.info }
func (m *stated) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{}.With("scores", storedSpec)
}
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
		return m.Stored.HasNative()
	}
	return metrics.HasNative(s.metric)
}

// wants are the settings that an engine must be made for, so that all that the
// run asks of a metric can be told from its scores, and whether its own rule
// over all references is among it.
func (r *run) wants(s *series, settings []*setting) (out []refract.Setting, native bool) {
	if !s.info.NeedsReferences {
		return []refract.Setting{{Metric: s.metric, Aggregator: r.p.Aggregators[0]}}, false
	}
	native = slices.ContainsFunc(settings, func(t *setting) bool { return t.series == s && t.aggregator.Native() && t.whole })
	for _, a := range r.p.Aggregators {
		if !a.Native() || native || r.scope() == refract.Auto && s.hasNative() {
			native = native || a.Native()
			out = append(out, refract.Setting{Metric: s.metric, Aggregator: a})
		}
	}
	if len(out) == 0 {
		out = []refract.Setting{{Metric: s.metric}}
	}
	return out, native
}

// engine makes an engine for scoring all references of a dataset.
func (r *run) engine(settings []refract.Setting, everyCell bool) (*refract.Engine, error) {
	o := r.Options
	o.Scope = r.scope()
	o.Missing, o.EveryCell, o.AllowNoReferences = r.p.Missing, everyCell, true // checked before
	return refract.NewEngine(settings, o)
}

// scope is that of the engine's system scores, which Scored alone may ask for.
func (r *run) scope() refract.Scope {
	if r.Scored == nil {
		return refract.Averaged
	}
	return r.Options.Scope
}

// checkReferences wants a reference of every segment where the metric needs one.
func (d *data) checkReferences(s *series) error {
	if !s.info.NeedsReferences || d.AllowNoReference {
		return nil
	}
	for _, seg := range d.segments {
		if !slices.ContainsFunc(seg.AllReferences(nil), func(t refract.Text) bool { return t.Valid }) {
			return &refract.NoReferencesError{Metric: s.info.Name, ID: seg.ID, Pos: seg.Pos}
		}
	}
	return nil
}

// score makes the scores of all series that are not a dataset's own: from the
// store, or in one pass over the dataset.
func (r *run) score(ctx context.Context, d *data, settings []*setting, everyCell bool) error {
	var full, todo []refract.Setting
	var scored []*scoring
	defer func() {
		for _, s := range scored {
			s.cells.discard()
			s.native.discard()
		}
	}()
	for _, s := range d.series {
		of, native := r.wants(s, settings)
		full = append(full, of...)
		if s.own {
			continue
		}
		if err := d.checkReferences(s); err != nil {
			return err
		}
		cells, column, err := r.fromStore(ctx, d, s, native)
		if err != nil {
			return err
		}
		// The statistics of a corpus score are not stored.
		if _, corpus := s.metric.(metrics.CorpusMetric); cells && (column || !native) && !(corpus && r.scope() == refract.Auto) {
			continue
		}
		r.progress("scoring %s: %s", d.Name, s.info.Name)
		todo = append(todo, of...)
		now := &scoring{series: s}
		scored = append(scored, now)
		if !cells {
			if now.cells, err = r.record(r.cells(d.segments, s.metric)); err != nil {
				return err
			}
		}
		if native && !column {
			if now.native, err = r.record(r.native(d.segments, s.metric)); err != nil {
				return err
			}
		}
	}
	if len(full) == 0 {
		return nil
	}
	engine, err := r.engine(full, everyCell)
	if err != nil {
		return err
	}
	working := engine
	switch len(todo) {
	case 0:
		working = nil
	case len(full):
	default:
		if working, err = r.engine(todo, everyCell); err != nil {
			return err
		}
	}
	i := 0
	take := func(out *refract.SegmentScores) error {
		for k, s := range scored {
			if err := s.add(i, out.Segment, out.Metrics[k]); err != nil {
				return err
			}
		}
		i++
		if r.Scored == nil {
			return nil
		}
		whole := &refract.SegmentScores{Segment: out.Segment}
		for _, s := range d.series {
			whole.Metrics = append(whole.Metrics, s.cells[i-1])
		}
		err := r.Scored(d.Name, engine, whole)
		for _, s := range d.series {
			s.cells[i-1].First, s.cells[i-1].All = nil, nil // a corpus score is Scored's to make
		}
		return err
	}
	if working == nil {
		for _, seg := range d.segments {
			if err := take(&refract.SegmentScores{Segment: seg}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range scored {
		s.series.cells = make([]refract.MetricScores, len(d.segments))
	}
	var failed *refract.Incomplete
	if err := working.Run(ctx, dataset.InMemory(d.segments), take); errors.As(err, &failed) {
		r.failed = append(r.failed, failed)
		d.series = slices.DeleteFunc(d.series, func(s *series) bool { return slices.Contains(failed.Metrics, s.info.Name) })
	} else if err != nil {
		return err
	}
	for _, s := range scored {
		if !slices.Contains(d.series, s.series) {
			s.cells.discard()
			s.native.discard()
			continue
		}
		s.series.natives = []nativeScores{{nil, s.series.cells}}
		if err := errors.Join(s.cells.close(), s.native.close()); err != nil {
			return err
		}
	}
	return nil
}

// scoring is a series that is being scored. What is stored already is not
// recorded.
type scoring struct {
	series        *series
	cells, native *recorder
}

func (s *scoring) add(i int, seg *refract.Segment, ms refract.MetricScores) error {
	s.series.cells[i] = ms
	if err := s.cells.add(seg, ms); err != nil || s.native == nil {
		return err
	}
	return s.native.add(seg, asColumn(&ms, len(seg.Hypotheses)))
}

// fromStore takes cells, and where they are wanted native scores, from the
// store, and says which of them it has.
func (r *run) fromStore(ctx context.Context, d *data, s *series, native bool) (cells, column bool, err error) {
	if s.cells, cells, err = r.stored(ctx, r.cells(d.segments, s.metric)); err != nil || !native {
		return cells, false, err
	}
	of, column, err := r.stored(ctx, r.native(d.segments, s.metric))
	if cells && column {
		for i := range s.cells {
			s.cells[i].Native, s.cells[i].NativeStatus = of[i].Values, of[i].Status
		}
		s.natives = []nativeScores{{nil, s.cells}}
	}
	return cells, column, err
}

// nativeOf returns the matrices of a choice of references with the metric's own
// scores against them. It keeps the first few.
func (r *run) nativeOf(ctx context.Context, d *data, s *series, set columnsOf, whole bool) ([]refract.MetricScores, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.natives {
		if n.set == nil && whole || n.set != nil && n.set.equal(set) {
			return n.scores, nil
		}
	}
	if s.own {
		return nil, fmt.Errorf("there are native scores of %s against all references alone", s.info.Name)
	}
	segments := set.keep(d.segments)
	w := r.native(segments, s.metric)
	column, ok, err := r.stored(ctx, w)
	if err != nil {
		return nil, err
	}
	if !ok {
		if column, err = r.scoreNative(ctx, d, s, w); err != nil {
			return nil, err
		}
	}
	out := make([]refract.MetricScores, len(segments))
	for i := range out {
		set.subset(&out[i], &s.cells[i], i)
		out[i].Native, out[i].NativeStatus = column[i].Values, column[i].Status
	}
	if len(s.natives) < keptNatives {
		s.natives = append(s.natives, nativeScores{set, out})
	}
	return out, nil
}

func (r *run) scoreNative(ctx context.Context, d *data, s *series, w *wanted) ([]refract.MetricScores, error) {
	r.progress("scoring %s: %s", d.Name, s.info.Name)
	native, err := aggregate.Parse(matrix.Native)
	if err != nil {
		return nil, err
	}
	engine, err := r.engine([]refract.Setting{{Metric: s.metric, Aggregator: native}}, true)
	if err != nil {
		return nil, err
	}
	rec, err := r.record(w)
	if err != nil {
		return nil, err
	}
	defer rec.discard()
	var out []refract.MetricScores
	err = engine.Run(ctx, dataset.InMemory(w.segments), func(of *refract.SegmentScores) error {
		ms := asColumn(&of.Metrics[0], len(of.Segment.Hypotheses))
		out = append(out, ms)
		return rec.add(of.Segment, ms)
	})
	if err != nil {
		return nil, err
	}
	return out, rec.close()
}
