package refract

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

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
	f := &segmentWork{
		scores:     &SegmentScores{Segment: s, Metrics: make([]MetricScores, len(e.needs))},
		references: s.AllReferences(make([]Text, 0, n)),
		hyps:       make([]int, 0, len(s.Hypotheses)),
		refs:       make([]int, 0, n),
	}
	f.block = metrics.Block{Source: s.Source.Value, Hypotheses: make([]string, 0, len(s.Hypotheses)), References: make([]string, 0, n)}
	size := 0
	for i := range s.Hypotheses {
		if t := s.Hypotheses[i].Text; t.Valid {
			size += len(t.Value)
			f.block.Hypotheses = append(f.block.Hypotheses, t.Value)
			f.hyps = append(f.hyps, i)
		}
	}
	for i, t := range f.references {
		if t.Valid {
			size += len(t.Value)
			f.block.References = append(f.block.References, t.Value)
			f.refs = append(f.refs, i)
		}
	}
	return f, e.check(s, size, len(f.refs))
}

// check returns an error if a segment with this size in bytes and this number of present
// references cannot be scored.
func (e *Engine) check(s *Segment, size, references int) error {
	if most := e.options.MaxText; most > 0 && size > most {
		return &TooLongError{s.ID, s.Pos, size, most}
	}
	if references == 0 && !e.options.AllowNoReferences {
		for k := range e.needs {
			if info := e.needs[k].info; info.NeedsReferences {
				return &NoReferencesError{info.Name, s.ID, s.Pos}
			}
		}
	}
	return nil
}

// Check returns the error with which a run would stop at a segment: a *TooLongError or a
// *NoReferencesError.
func (e *Engine) Check(s *Segment) error {
	size, references := 0, 0
	for i := range s.Hypotheses {
		size += len(s.Hypotheses[i].Text.Value)
	}
	for _, t := range s.AllReferences(nil) {
		if size += len(t.Value); t.Valid {
			references++
		}
	}
	return e.check(s, size, references)
}

// score scores segments with one metric. If it fails, whole lists the segments that were
// scored nevertheless.
func (d *metricNeeds) score(ctx context.Context, batch []*segmentWork) (whole []*segmentWork, err error) {
	var w metrics.Workspace
	if d.cache == nil {
		w = d.workspaces.Get().(metrics.Workspace)
		defer d.workspaces.Put(w)
	}
	var todo []*segmentWork
	for _, f := range batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		status := metrics.Scored
		if d.info.NeedsReferences && len(f.refs) == 0 {
			status = metrics.MissingReference
		} else if d.info.NeedsSource && !f.scores.Segment.Source.Valid {
			status = metrics.MissingSource
		}
		ms := d.init(f, status)
		switch {
		case status != metrics.Scored || len(f.hyps) == 0:
		case w == nil:
			todo = append(todo, f)
		default:
			b := d.block(f)
			w.Load(b)
			var room []float64
			if len(f.hyps)*b.Columns() == len(ms.Values) {
				room = ms.Values[:0]
			}
			if err := d.place(f, metrics.Scores{Values: w.Cells(room)}); err != nil {
				return nil, err
			}
			if err := d.extras(w, f); err != nil {
				return nil, err
			}
		}
	}
	return d.ask(ctx, todo)
}

// init creates the matrix, with the statuses of missing texts filled in.
func (d *metricNeeds) init(f *segmentWork, status metrics.Status) *MetricScores {
	hyps, columns := f.scores.Segment.Hypotheses, 1
	if d.info.NeedsReferences {
		columns = max(1, len(f.references))
	}
	n := len(hyps) * columns
	ms := &f.scores.Metrics[d.index]
	*ms = MetricScores{Columns: columns, Values: make([]float64, n), Status: make([]metrics.Status, n)}
	if status == metrics.Scored && len(f.hyps) == len(hyps) && (!d.info.NeedsReferences || len(f.refs) == len(f.references)) {
		return ms
	}
	for i := range ms.Status {
		ms.Status[i] = status
		switch {
		case !hyps[i/columns].Text.Valid:
			ms.Status[i] = metrics.MissingHypothesis
		case status == metrics.Scored && d.info.NeedsReferences && !f.references[i%columns].Valid:
			ms.Status[i] = metrics.MissingReference
		}
	}
	return ms
}

// block returns the block without the texts that the metric does not need.
func (d *metricNeeds) block(f *segmentWork) metrics.Block {
	b := f.block
	if !d.info.NeedsReferences {
		b.References = nil
	}
	if !d.info.NeedsSource {
		b.Source = ""
	}
	return b
}

// place copies the matrix of a block to the positions of its texts in the segment.
func (d *metricNeeds) place(f *segmentWork, scores metrics.Scores) error {
	ms := &f.scores.Metrics[d.index]
	columns := d.block(f).Columns()
	if err := d.check(f, scores, columns); err != nil {
		return err
	}
	if scores.Reports != nil {
		ms.Reports = make([]*analysis.Report, len(ms.Values))
	}
	for b, h := range f.hyps {
		for c := range columns {
			from, to := b*columns+c, h*ms.Columns
			if ms.Columns > 1 {
				to += f.refs[c]
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
func (d *metricNeeds) placeNative(f *segmentWork, scores metrics.Scores) error {
	if err := d.check(f, scores, 1); err != nil {
		return err
	}
	ms, rows := &f.scores.Metrics[d.index], len(f.scores.Segment.Hypotheses)
	ms.Native, ms.NativeStatus = make([]float64, rows), slices.Repeat([]metrics.Status{metrics.MissingHypothesis}, rows)
	for b, h := range f.hyps {
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
func (d *metricNeeds) check(f *segmentWork, scores metrics.Scores, columns int) error {
	seg := f.scores.Segment
	if n := len(f.hyps) * columns; len(scores.Values) != n {
		return fmt.Errorf("%s, segment %q: %d values for %d cells", d.info.Name, seg.ID, len(scores.Values), n)
	}
	for i, v := range scores.Values {
		if (math.IsNaN(v) || math.IsInf(v, 0)) && (scores.Status == nil || scores.Status[i] == metrics.Scored) {
			return fmt.Errorf("%s, segment %q: system %q has the score %v; a metric without a number must say so by a status",
				d.info.Name, seg.ID, seg.Hypotheses[f.hyps[i/columns]].System, v)
		}
	}
	return nil
}

// extras copies native scores and statistics from a loaded workspace, if they are
// needed.
func (d *metricNeeds) extras(w metrics.Workspace, f *segmentWork) error {
	ms, rows := &f.scores.Metrics[d.index], len(f.scores.Segment.Hypotheses)
	if n, ok := w.(metrics.NativeWorkspace); ok && d.native {
		if err := d.placeNative(f, metrics.Scores{Values: n.Native(nil)}); err != nil {
			return err
		}
	}
	st, ok := w.(metrics.StatisticsWorkspace)
	if _, corpus := d.metric.(metrics.CorpusMetric); !ok || !corpus {
		return nil
	}
	statistics := func(row func(h int) []float64) []float64 {
		var all []float64
		for b, h := range f.hyps {
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
	if d.firstStatistics && (!d.info.NeedsReferences || f.refs[0] == 0) {
		ms.First = statistics(func(h int) []float64 { return st.CellStatistics(nil, h, 0) })
	}
	if d.nativeStatistics {
		ms.All = statistics(func(h int) []float64 { return st.NativeStatistics(nil, h) })
	}
	return nil
}

// ask gets scores from the store, and from the metric's Score.
func (d *metricNeeds) ask(ctx context.Context, batch []*segmentWork) (whole []*segmentWork, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	blocks := make([]metrics.Block, len(batch))
	for i, f := range batch {
		blocks[i] = d.block(f)
	}
	all, err := d.cache.score(ctx, d, blocks)
	var left []*segmentWork
	for i := range all {
		f, x := batch[i], &all[i]
		if err != nil && (x.lacks || d.native) {
			left = append(left, f)
			continue
		}
		f.scores.Metrics[d.index].Stored = x.stored
		err := d.place(f, x.scores)
		if err == nil && d.native {
			err = d.placeNative(f, x.native)
		}
		if err != nil {
			return nil, err
		}
		whole = append(whole, f)
	}
	if left != nil {
		batch = left
	}
	first, last := batch[0].scores.Segment.ID, batch[len(batch)-1].scores.Segment.ID
	at := (*metrics.CellError)(nil)
	switch {
	case err == nil:
	case errors.As(err, new(*metrics.StartError)): // has nothing to do with a segment
	case errors.As(err, &at):
		err = fmt.Errorf("%s, %s: %w", d.info.Name, d.cell(batch[at.Block], at), at.Err)
	case len(batch) == 1:
		err = fmt.Errorf("%s, segment %q: %w", d.info.Name, first, err)
	default:
		err = fmt.Errorf("%s, segments %q to %q: %w", d.info.Name, first, last, err)
	}
	return whole, err
}

// cell describes a cell of a block for an error message.
func (d *metricNeeds) cell(f *segmentWork, at *metrics.CellError) string {
	column := 0
	if d.info.NeedsReferences && at.Column < len(f.refs) {
		column = f.refs[at.Column]
	}
	return d.name(f.scores.Segment, f.hyps[at.Hypothesis], column)
}

// name describes a cell of a segment for messages.
func (d *metricNeeds) name(seg *Segment, hypothesis, column int) string {
	name := fmt.Sprintf("%ssegment %q, system %q", seg.Pos.prefix(), seg.ID, seg.Hypotheses[hypothesis].System)
	if d.info.NeedsReferences && seg.NumReferences() > 1 {
		name += fmt.Sprintf(", reference %d", column+1)
	}
	return name
}
