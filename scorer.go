package refract

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// needs are what the settings need from one metric.
type needs struct {
	all    bool // every cell
	first  bool // the first column
	native bool // native scores, if the metric has them

	firstStatistics, nativeStatistics bool // for corpus scores
}

// add adds the needs of one more setting.
func (n *needs) add(set Setting, pooled bool) {
	a := set.Aggregator
	_, apart := set.Metric.(metrics.NativeScorer) // computes native scores without cells
	n.all = n.all || !a.Single() && !(apart && a.Native())
	n.first = n.first || a.Single()
	n.native = n.native || a.Native() && metrics.HasNative(set.Metric)
	n.firstStatistics = n.firstStatistics || pooled && a.Single()
	n.nativeStatistics = n.nativeStatistics || pooled && a.Native()
}

// scorer scores segments with one metric: a metrics.Preparer by workspaces, any other by its
// Score, as far as the store lacks scores.
type scorer struct {
	metric metrics.Metric
	info   metrics.Info
	index  int // in the engine's metrics
	needs

	workspaces *sync.Pool  // nil if the metric is no Preparer
	cache      *scoreCache // nil if the scores are not stored
}

// open sets up scoring after the needs of all settings are known.
func (s *scorer) open(store ScoreStore, damage func()) {
	if p, ok := s.metric.(metrics.Preparer); ok {
		s.workspaces = &sync.Pool{New: func() any { return p.NewWorkspace() }}
	} else if store != nil && s.info.Storable {
		s.cache = newScoreCache(store, damage, s.metric)
	}
}

// segmentWork is a segment on its way through the metrics. It holds the texts that are
// present, as metrics take them.
type segmentWork struct {
	scores     *SegmentScores
	references []Text         // of the segment, missing ones included
	hyps, refs []int          // present texts: index in the block -> index in the segment
	block      metrics.Block  // the present texts
	open       sync.WaitGroup // waits for the metrics of a run
}

// newWork prepares a segment for scoring. It refuses a segment without the references that a
// metric needs, or with too much text. Run calls it in the dataset's order, so the segment in
// the error does not depend on timing.
func (e *Engine) newWork(s *Segment) (*segmentWork, error) {
	n := s.NumReferences()
	w := &segmentWork{
		scores:     &SegmentScores{Segment: s, Metrics: make([]MetricScores, len(e.scorers))},
		references: s.AllReferences(make([]Text, 0, n)),
		hyps:       make([]int, 0, len(s.Hypotheses)),
		refs:       make([]int, 0, n),
	}
	w.block = metrics.Block{Source: s.Source.Value, Hypotheses: make([]string, 0, len(s.Hypotheses)), References: make([]string, 0, n)}
	size := 0
	for i := range s.Hypotheses {
		if t := s.Hypotheses[i].Text; t.Valid {
			size += len(t.Value)
			w.block.Hypotheses = append(w.block.Hypotheses, t.Value)
			w.hyps = append(w.hyps, i)
		}
	}
	for i, t := range w.references {
		if t.Valid {
			size += len(t.Value)
			w.block.References = append(w.block.References, t.Value)
			w.refs = append(w.refs, i)
		}
	}
	if most := e.options.MaxText; most > 0 && size > most {
		return nil, &TooLongError{s.ID, s.Pos, size, most}
	}
	if len(w.refs) == 0 && !e.options.AllowNoReferences {
		for k := range e.scorers {
			if info := e.scorers[k].info; info.NeedsReferences {
				return nil, &NoReferencesError{info.Name, s.ID, s.Pos}
			}
		}
	}
	return w, nil
}

// score scores segments with one metric. If it fails, whole lists the segments that were
// scored nevertheless.
func (s *scorer) score(ctx context.Context, batch []*segmentWork) (whole []*segmentWork, err error) {
	var space metrics.Workspace
	if s.workspaces != nil {
		space = s.workspaces.Get().(metrics.Workspace)
		defer s.workspaces.Put(space)
	}
	var todo []*segmentWork
	for _, w := range batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		status := metrics.Scored
		if s.info.NeedsReferences && len(w.refs) == 0 {
			status = metrics.MissingReference
		} else if s.info.NeedsSource && !w.scores.Segment.Source.Valid {
			status = metrics.MissingSource
		}
		s.init(w, status)
		switch {
		case status != metrics.Scored || len(w.hyps) == 0:
		case space == nil:
			todo = append(todo, w)
		default:
			space.Load(s.block(w))
			if err := s.place(w, metrics.Scores{Values: space.Cells(nil)}); err != nil {
				return nil, err
			}
			if err := s.extras(space, w); err != nil {
				return nil, err
			}
		}
	}
	return s.scoreByCalls(ctx, todo)
}

// init creates the matrix, with the statuses of missing texts filled in.
func (s *scorer) init(w *segmentWork, status metrics.Status) {
	hyps, columns := w.scores.Segment.Hypotheses, 1
	if s.info.NeedsReferences {
		columns = max(1, len(w.references))
	}
	n := len(hyps) * columns
	ms := &w.scores.Metrics[s.index]
	*ms = MetricScores{Columns: columns, Values: make([]float64, n), Status: make([]metrics.Status, n)}
	for i := range ms.Status {
		ms.Status[i] = status
		switch {
		case !hyps[i/columns].Text.Valid:
			ms.Status[i] = metrics.MissingHypothesis
		case status == metrics.Scored && s.info.NeedsReferences && !w.references[i%columns].Valid:
			ms.Status[i] = metrics.MissingReference
		}
	}
}

// block returns the block without the texts that the metric does not need.
func (s *scorer) block(w *segmentWork) metrics.Block {
	b := w.block
	if !s.info.NeedsReferences {
		b.References = nil
	}
	if !s.info.NeedsSource {
		b.Source = ""
	}
	return b
}

// place copies the matrix of a block to the positions of its texts in the segment.
func (s *scorer) place(w *segmentWork, scores metrics.Scores) error {
	ms := &w.scores.Metrics[s.index]
	columns := s.block(w).Columns()
	if err := s.check(w, scores, columns); err != nil {
		return err
	}
	if scores.Reports != nil {
		ms.Reports = make([]*analysis.Report, len(ms.Values))
	}
	for b, h := range w.hyps {
		for c := range columns {
			from, to := b*columns+c, h*ms.Columns
			if ms.Columns > 1 {
				to += w.refs[c]
			}
			ms.Values[to] = scores.Values[from]
			if scores.Status != nil {
				ms.Status[to] = scores.Status[from]
			}
			if scores.Reports != nil {
				ms.Reports[to] = scores.Reports[from]
			}
		}
	}
	return nil
}

// placeNative copies native scores to the positions of the hypotheses.
func (s *scorer) placeNative(w *segmentWork, scores metrics.Scores) error {
	if err := s.check(w, scores, 1); err != nil {
		return err
	}
	ms, rows := &w.scores.Metrics[s.index], len(w.scores.Segment.Hypotheses)
	ms.Native, ms.NativeStatus = make([]float64, rows), slices.Repeat([]metrics.Status{metrics.MissingHypothesis}, rows)
	for b, h := range w.hyps {
		ms.Native[h], ms.NativeStatus[h] = scores.Values[b], metrics.Scored
		if scores.Status != nil {
			ms.NativeStatus[h] = scores.Status[b]
		}
	}
	return nil
}

// check returns an error if the metric breaks its promises: if the scores of a block have
// the wrong shape, or one is NaN, which would spoil every mean that it enters and has no
// rank.
func (s *scorer) check(w *segmentWork, scores metrics.Scores, columns int) error {
	seg := w.scores.Segment
	if n := len(w.hyps) * columns; len(scores.Values) != n {
		return fmt.Errorf("%s, segment %q: %s for %s", s.info.Name, seg.ID, english.Count(len(scores.Values), "value"), english.Count(n, "cell"))
	}
	for i, v := range scores.Values {
		if (math.IsNaN(v) || math.IsInf(v, 0)) && (scores.Status == nil || scores.Status[i] == metrics.Scored) {
			return fmt.Errorf("%s, segment %q: system %q has the score %v; a metric without a number must say so by a status",
				s.info.Name, seg.ID, seg.Hypotheses[w.hyps[i/columns]].System, v)
		}
	}
	return nil
}

// extras copies native scores and statistics from a loaded workspace, if they are
// needed.
func (s *scorer) extras(space metrics.Workspace, w *segmentWork) error {
	ms, rows := &w.scores.Metrics[s.index], len(w.scores.Segment.Hypotheses)
	if n, ok := space.(metrics.NativeWorkspace); ok && s.native {
		if err := s.placeNative(w, metrics.Scores{Values: n.Native(nil)}); err != nil {
			return err
		}
	}
	st, ok := space.(metrics.StatisticsWorkspace)
	if _, corpus := s.metric.(metrics.CorpusMetric); !ok || !corpus {
		return nil
	}
	statistics := func(row func(h int) []float64) []float64 {
		var all []float64
		for b, h := range w.hyps {
			v := row(b)
			if all == nil {
				all = make([]float64, rows*len(v))
			}
			copy(all[h*len(v):], v)
		}
		return all
	}
	// The first reference is the first of the segment. If it is missing, there are
	// no statistics against it.
	if s.firstStatistics && (!s.info.NeedsReferences || w.refs[0] == 0) {
		ms.First = statistics(func(h int) []float64 { return st.CellStatistics(nil, h, 0) })
	}
	if s.nativeStatistics {
		ms.All = statistics(func(h int) []float64 { return st.NativeStatistics(nil, h) })
	}
	return nil
}

// scoreByCalls gets scores from the store, and from the metric's Score.
func (s *scorer) scoreByCalls(ctx context.Context, batch []*segmentWork) (whole []*segmentWork, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	blocks := make([]metrics.Block, len(batch))
	for i, w := range batch {
		blocks[i] = s.block(w)
	}
	all, err := s.ask(ctx, blocks)
	var left []*segmentWork
	for i := range all {
		w, x := batch[i], &all[i]
		if err != nil && (x.lacks || s.native) {
			left = append(left, w)
			continue
		}
		err := s.place(w, x.part(false))
		if err == nil && s.native {
			err = s.placeNative(w, x.part(true))
		}
		if err != nil {
			return nil, err
		}
		whole = append(whole, w)
	}
	if left != nil {
		batch = left
	}
	return whole, s.explain(batch, err)
}

// explain says which segments an error of the metric is about.
func (s *scorer) explain(batch []*segmentWork, err error) error {
	first, last := batch[0].scores.Segment.ID, batch[len(batch)-1].scores.Segment.ID
	at := (*metrics.CellError)(nil)
	switch {
	case err == nil || errors.As(err, new(*metrics.StartError)): // the latter has nothing to do with a segment
		return err
	case errors.As(err, &at):
		return fmt.Errorf("%s, %s: %w", s.info.Name, s.cell(batch[at.Block], at), at.Err)
	case len(batch) == 1:
		return fmt.Errorf("%s, segment %q: %w", s.info.Name, first, err)
	}
	return fmt.Errorf("%s, segments %q to %q: %w", s.info.Name, first, last, err)
}

// cell describes a cell of a block for an error message.
func (s *scorer) cell(w *segmentWork, at *metrics.CellError) string {
	column := 0
	if s.info.NeedsReferences && at.Column < len(w.refs) {
		column = w.refs[at.Column]
	}
	return s.name(w.scores.Segment, w.hyps[at.Hypothesis], column)
}

// name describes a cell of a segment for messages.
func (s *scorer) name(seg *Segment, hypothesis, column int) string {
	name := fmt.Sprintf("%ssegment %q, system %q", seg.Pos.prefix(), seg.ID, seg.Hypotheses[hypothesis].System)
	if s.info.NeedsReferences && seg.NumReferences() > 1 {
		name += fmt.Sprintf(", reference %d", column+1)
	}
	return name
}
