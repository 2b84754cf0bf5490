package neural

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Score implements metrics.Metric.
func (m *Metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return m.score(ctx, blocks, false)
}

// HasNative implements metrics.NativeScorer.
func (m *Metric) HasNative() bool { return m.form.counts }

// ScoreNative implements metrics.NativeScorer.
func (m *Metric) ScoreNative(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return m.score(ctx, blocks, true)
}

func (m *Metric) score(ctx context.Context, blocks []metrics.Block, native bool) ([]metrics.Scores, error) {
	rows := rowsOf(blocks, native)
	values, reports := make([]float64, len(rows.all)), make([]*analysis.Report, len(rows.all))
	done := make([]bool, len(rows.all))
	g, ctx := errgroup.WithContext(ctx)
	from := 0
	for _, part := range parts(rows.all, m.form, int(m.size.Load())) {
		at := from
		from += len(part)
		g.Go(func() error {
			err := m.part(ctx, part, values[at:at+len(part)], reports[at:at+len(part)])
			if err != nil && ctx.Err() == nil {
				return &metrics.BlocksError{First: rows.block[at], Last: rows.block[at+len(part)-1], Err: err}
			}
			for i := range part {
				done[at+i] = err == nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		if of := (*metrics.BlocksError)(nil); errors.As(err, &of) {
			of.Scores = rows.place(values, reports, m.form.spans)
			for b, at := range rows.at {
				if slices.ContainsFunc(at, func(i int) bool { return !done[i] }) {
					of.Scores[b] = metrics.Scores{}
				}
			}
		}
		return nil, err
	}
	return rows.place(values, reports, m.form.spans), nil
}

// part scores the rows of a request, or of several where a server has no room for
// one.
func (m *Metric) part(ctx context.Context, all []row, values []float64, reports []*analysis.Report) error {
	if err := m.calls.Acquire(ctx, 1); err != nil {
		return err
	}
	r, _, err := m.ask(ctx, all)
	m.calls.Release(1)
	if half := len(all) / 2; half > 0 && errors.Is(err, llm.ErrTooLarge) {
		m.refused(weight(all, m.form))
		if err := m.part(ctx, all[:half], values[:half], reports[:half]); err != nil {
			return err
		}
		return m.part(ctx, all[half:], values[half:], reports[half:])
	}
	if err != nil {
		return err
	}
	copy(values, r.scores)
	copy(reports, r.reports)
	return nil
}

// ask carries out a request.
func (m *Metric) ask(ctx context.Context, all []row) (out *result, at string, err error) {
	id := strconv.FormatInt(m.ids.Add(1), 10)
	inputs := m.form.inputs(all)
	if err := valid(inputs); err != nil {
		return nil, "", err
	}
	call, err := m.wire.infer(id, inputs, m.form.outputs(m.spec.Output),
		func(server string, a *answer) (err error) {
			at = server
			if err := m.ofModel(a); err != nil {
				return err
			}
			if out, err = a.check(m.form, m.spec.Output, id, all); err != nil {
				return err
			}
			if err = m.same(out); err == nil {
				err = m.bounded(out)
			}
			return err
		})
	if err == nil {
		call.Most = m.mostBytes(all)
		err = m.call(ctx, call)
	}
	if err != nil {
		return nil, at, err
	}
	return out, at, nil
}

// call carries out a call within the budget, which the probe is no part of.
func (m *Metric) call(ctx context.Context, c llm.Call) error {
	if m.first != nil {
		if err := m.budget.Count(); err != nil {
			return err
		}
	}
	return m.client.Call(ctx, c)
}

// valid wants texts that servers neither refuse nor change.
func valid(inputs []tensor) error {
	for _, t := range inputs {
		if i := slices.IndexFunc(t.texts, func(s string) bool { return !utf8.ValidString(s) }); i >= 0 {
			return fmt.Errorf("the %s %.60q is not valid UTF-8, which servers refuse or change", t.name, t.texts[i])
		}
	}
	return nil
}

// ofModel wants an answer of the model that was asked.
func (m *Metric) ofModel(a *answer) error {
	if a.model != "" && a.model != m.spec.Model {
		return fmt.Errorf("gave an answer of the model %.60q in place of %q", a.model, m.spec.Model)
	}
	if v := m.spec.Version; v != "" && a.version != "" && a.version != v {
		return fmt.Errorf("gave an answer of version %.40q of the model in place of %q", a.version, v)
	}
	return nil
}

// mostBytes bounds the answer to a request.
func (m *Metric) mostBytes(all []row) int64 {
	const head, number, span = 64 << 10, 64, 8
	most := head + number*len(all)
	if m.form.spans {
		for _, r := range all { // each word may be an error, in some words of JSON
			most += 1<<10 + 64*span*len(r.hypothesis)
		}
	}
	return int64(most)
}

// same compares an answer with the first one: all scores of a metric are of one
// model.
func (m *Metric) same(r *result) error {
	switch first := m.first; {
	case first == nil:
	case r.version != first.version:
		return fmt.Errorf("gave an answer of version %.40q of the model, where %s gave version %.40q at first", r.version, m.at, first.version)
	case first.facts != nil && r.facts.text != first.facts.text:
		return fmt.Errorf("gave other facts than %s at first: %.200s and %.200s", m.at, r.facts.text, first.facts.text)
	}
	return nil
}

// bounded wants scores within the bounds that are stated. One that passes a bound by
// the rounding of FP32 is the bound.
func (m *Metric) bounded(r *result) error {
	info := m.info
	if m.first == nil { // of the probe
		return nil
	}
	for i, v := range r.scores {
		if slack := 1e-4 * max(1, math.Abs(v)); v < info.Lower-slack || v > info.Upper+slack {
			return fmt.Errorf("gave %v as score %d of %d, where its bounds are %v and %v", v, i+1, len(r.scores), info.Lower, info.Upper)
		}
		r.scores[i] = min(max(v, info.Lower), info.Upper)
	}
	return nil
}

// place puts scores into cells.
func (r *rows) place(values []float64, reports []*analysis.Report, explains bool) []metrics.Scores {
	out := make([]metrics.Scores, len(r.at))
	for b, at := range r.at {
		s := metrics.Scores{Values: make([]float64, len(at)), Status: make([]metrics.Status, len(at))}
		if explains {
			s.Reports = make([]*analysis.Report, len(at))
		}
		for c, i := range at {
			s.Values[c] = values[i]
			if explains {
				s.Reports[c] = reports[i]
			}
		}
		out[b] = s
	}
	return out
}

// defaultSize is how many bytes of text a request has, unless the spec says so.
const defaultSize = 32 << 10

// size begins at a number of bytes. It becomes less where a server has no room for as
// many.
func size(bytes int) *atomic.Int64 {
	s := new(atomic.Int64)
	s.Store(int64(bytes))
	return s
}

// refused has requests be smaller than one that a server had no room for.
func (m *Metric) refused(bytes int) {
	for now := m.size.Load(); now > int64(bytes/2) && now > 1; now = m.size.Load() {
		m.size.CompareAndSwap(now, int64(max(1, bytes/2)))
	}
}
