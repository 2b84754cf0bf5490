package refract

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// frame says which texts of a segment are there, and gives them to metrics.
type frame struct {
	hyps, refs []int // present ones: index in the block -> index in the segment
	columns    int   // references of the segment, missing ones included
	block      metrics.Block
}

func newFrame(s *Segment) frame {
	f := frame{columns: s.NumReferences()}
	f.block.Source = s.Source.Value
	f.block.Hypotheses = make([]string, 0, len(s.Hypotheses))
	f.hyps = make([]int, 0, len(s.Hypotheses))
	for i := range s.Hypotheses {
		if t := s.Hypotheses[i].Text; t.Valid {
			f.block.Hypotheses = append(f.block.Hypotheses, t.Value)
			f.hyps = append(f.hyps, i)
		}
	}
	f.block.References = make([]string, 0, f.columns)
	f.refs = make([]int, 0, f.columns)
	for i, t := range s.AllReferences(make([]Text, 0, f.columns)) {
		if t.Valid {
			f.block.References = append(f.block.References, t.Value)
			f.refs = append(f.refs, i)
		}
	}
	return f
}

// score scores segments with one metric; order is that in which columns are
// asked for.
func (d *demand) score(ctx context.Context, segments []*SegmentScores, order []int) error {
	frames := make([]frame, len(segments))
	var todo []int
	var w metrics.Workspace
	if p, ok := d.metric.(metrics.Preparer); ok {
		if w, ok = d.workspaces.Get().(metrics.Workspace); !ok {
			w = p.NewWorkspace()
		}
		defer d.workspaces.Put(w)
	}
	for i, s := range segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		seg := s.Segment
		frames[i] = newFrame(seg)
		f, ms := &frames[i], &s.Metrics[d.index]
		status := metrics.Scored
		if d.info.NeedsReferences && len(f.refs) == 0 {
			status = metrics.MissingReference
		} else if d.info.NeedsSource && !seg.Source.Valid {
			status = metrics.MissingSource
		}
		ms.init(seg, f, d.info, status)
		switch {
		case status != metrics.Scored || len(f.hyps) == 0:
		case w == nil || d.keeper != nil:
			todo = append(todo, i)
		default:
			if err := d.prepared(w, f, ms); err != nil {
				return fmt.Errorf("%s, segment %q: %w", d.info.Name, seg.ID, err)
			}
		}
	}
	if err := d.batched(ctx, w, segments, todo, frames, order); err != nil {
		return err
	}
	for _, s := range segments {
		if err := s.Metrics[d.index].check(s.Segment); err != nil {
			return fmt.Errorf("%s, segment %q: %w", d.info.Name, s.Segment.ID, err)
		}
	}
	return nil
}

// check looks for scores that are no numbers: they would poison every mean
// that they enter, and no rank is defined for them.
func (ms *MetricScores) check(seg *Segment) error {
	for i, v := range ms.Values {
		if ms.Status[i] == metrics.Scored && (math.IsNaN(v) || math.IsInf(v, 0)) {
			return fmt.Errorf("system %q has the score %v; a metric without a number must say so by a status",
				seg.Hypotheses[i/ms.Columns].System, v)
		}
	}
	return nil
}

// init makes the matrix with the statuses that follow from what is missing.
func (ms *MetricScores) init(seg *Segment, f *frame, info metrics.Info, status metrics.Status) {
	ms.Columns = 1
	if info.NeedsReferences {
		ms.Columns = max(1, f.columns)
	}
	n := len(seg.Hypotheses) * ms.Columns
	ms.Values = make([]float64, n)
	ms.Status = make([]metrics.Status, n)
	if status == metrics.Scored && len(f.hyps) == len(seg.Hypotheses) && (!info.NeedsReferences || len(f.refs) == f.columns) {
		return
	}
	refs := seg.AllReferences(nil)
	for h := range seg.Hypotheses {
		for c := range ms.Columns {
			st := status
			switch {
			case !seg.Hypotheses[h].Text.Valid:
				st = metrics.MissingHypothesis
			case status == metrics.Scored && info.NeedsReferences && !refs[c].Valid:
				st = metrics.MissingReference
			}
			ms.Status[h*ms.Columns+c] = st
		}
	}
}

// blockFor leaves out of the block what the metric does not ask for.
func (f *frame) blockFor(info metrics.Info) metrics.Block {
	b := f.block
	if !info.NeedsReferences {
		b.References = nil
	}
	if !info.NeedsSource {
		b.Source = ""
	}
	return b
}

// prepared scores one segment in a workspace. An error says that the metric
// breaks its promises.
func (d *demand) prepared(w metrics.Workspace, f *frame, ms *MetricScores) error {
	b := f.blockFor(d.info)
	w.Load(b)
	cells := len(f.hyps) * b.Columns()
	whole := cells == len(ms.Values)
	var dst []float64
	if whole {
		dst = ms.Values[:0]
	}
	values := w.Cells(dst)
	if len(values) != cells {
		return fmt.Errorf("%d values for %d cells", len(values), cells)
	}
	if whole {
		ms.Values = values
	} else {
		f.place(ms, b.Columns(), metrics.Scores{Values: values})
	}
	rows := len(ms.Values) / ms.Columns
	if n, ok := w.(metrics.NativeWorkspace); ok && d.native {
		values := n.Native(nil)
		if len(values) != len(f.hyps) {
			return fmt.Errorf("%d native scores for %d hypotheses", len(values), len(f.hyps))
		}
		ms.initNative(rows, f)
		for b, v := range values {
			ms.Native[f.hyps[b]] = v
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
	// "The first" is the first of the segment; where it is missing there are
	// no statistics against it.
	first := !d.info.NeedsReferences || f.refs[0] == 0
	if d.firstStatistics && first {
		ms.First = statistics(func(h int) []float64 { return st.CellStatistics(nil, h, 0) })
	}
	if d.nativeStatistics {
		ms.All = statistics(func(h int) []float64 { return st.NativeStatistics(nil, h) })
	}
	return nil
}

func (ms *MetricScores) initNative(rows int, f *frame) {
	ms.Native = make([]float64, rows)
	ms.NativeStatus = make([]metrics.Status, rows)
	for i := range ms.NativeStatus {
		ms.NativeStatus[i] = metrics.MissingHypothesis
	}
	for _, h := range f.hyps {
		ms.NativeStatus[h] = metrics.Scored
	}
}

// place copies the matrix of a block to where its texts stand in the segment.
func (f *frame) place(ms *MetricScores, columns int, scores metrics.Scores) {
	if scores.Reports != nil {
		ms.Reports = make([]*analysis.Report, len(ms.Values))
	}
	for b, h := range f.hyps {
		for c := range columns {
			to := h * ms.Columns
			if ms.Columns > 1 {
				to += f.refs[c]
			}
			from := b*columns + c
			ms.Values[to] = scores.Values[from]
			if scores.Status != nil {
				ms.Status[to] = scores.Status[from]
			}
			if scores.Reports != nil {
				ms.Reports[to] = scores.Reports[from]
			}
		}
	}
}

// batched scores the segments to do by the metric's Score.
func (d *demand) batched(ctx context.Context, w metrics.Workspace, segments []*SegmentScores, todo []int, frames []frame, order []int) error {
	if len(todo) == 0 {
		return nil
	}
	blocks := make([]metrics.Block, len(todo))
	asked := make([]*frame, len(todo))
	for j, i := range todo {
		asked[j] = &frames[i]
		blocks[j] = frames[i].blockFor(d.info)
	}
	var scores []metrics.Scores
	var natives [][]float64
	var err error
	if d.keeper == nil {
		scores, err = d.call(ctx, blocks, asked, order)
	} else {
		scores, natives, err = d.keeper.score(ctx, d, w, blocks)
	}
	if at := (*metrics.CellError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s, %s: %w", d.info.Name, asked[at.Block].cell(segments[todo[at.Block]].Segment, at, d.info), at.Err)
	}
	if err != nil {
		return fmt.Errorf("%s, segments %q to %q: %w", d.info.Name, segments[todo[0]].Segment.ID, segments[todo[len(todo)-1]].Segment.ID, err)
	}
	if len(scores) != len(blocks) {
		return fmt.Errorf("%s gave %d matrices for %d segments", d.info.Name, len(scores), len(blocks))
	}
	for j, i := range todo {
		cells := len(blocks[j].Hypotheses) * blocks[j].Columns()
		wrong := func(n int, what string) error {
			return fmt.Errorf("%s, segment %q: %d %s for %d cells", d.info.Name, segments[i].Segment.ID, n, what, cells)
		}
		if n := len(scores[j].Values); n != cells {
			return wrong(n, "values")
		}
		if n := len(scores[j].Status); scores[j].Status != nil && n != cells {
			return wrong(n, "statuses")
		}
		if n := len(scores[j].Reports); scores[j].Reports != nil && n != cells {
			return wrong(n, "reports")
		}
		ms := &segments[i].Metrics[d.index]
		asked[j].place(ms, blocks[j].Columns(), scores[j])
		if natives != nil && natives[j] != nil {
			ms.initNative(len(segments[i].Segment.Hypotheses), asked[j])
			for b, v := range natives[j] {
				ms.Native[asked[j].hyps[b]] = v
			}
		}
	}
	return nil
}

// call asks the metric for what is needed of its blocks.
func (d *demand) call(ctx context.Context, blocks []metrics.Block, asked []*frame, order []int) ([]metrics.Scores, error) {
	selective, ok := d.metric.(metrics.Selective)
	if !ok || !d.info.NeedsReferences {
		return d.metric.Score(ctx, blocks)
	}
	return selective.ScoreNeeded(ctx, blocks, d.need(asked, order))
}

// cell names a cell of a block for people.
func (f *frame) cell(seg *Segment, at *metrics.CellError, info metrics.Info) string {
	name := fmt.Sprintf("segment %q, system %q", seg.ID, seg.Hypotheses[f.hyps[at.Hypothesis]].System)
	if p := seg.Pos.String(); p != "" {
		name = p + ": " + name
	}
	if info.NeedsReferences && at.Column < len(f.refs) && len(f.refs) > 1 {
		name += fmt.Sprintf(", reference %d", f.refs[at.Column]+1)
	}
	return name
}
