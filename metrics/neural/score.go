package neural

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Score implements metrics.Metric.
func (m *metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	rows := rowsOf(blocks)
	values, reports := make([]float64, len(rows.all)), make([]*analysis.Report, len(rows.all))
	done := make([]bool, len(rows.all))
	g, all := errgroup.WithContext(ctx)
	from := 0
	for _, part := range parts(rows.all, m.spec.bytes, m.form.flat) {
		at, to := from, from+len(part)
		from = to
		g.Go(func() error {
			err := m.part(all, part, values[at:to], reports[at:to])
			for i := at; i < to; i++ {
				done[i] = err == nil
			}
			return err
		})
	}
	err := g.Wait()
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	out := rows.place(values, reports, m.form.spans)
	if err == nil {
		return out, nil
	}
	for b, at := range rows.at {
		if slices.ContainsFunc(at, func(i int) bool { return !done[i] }) {
			out[b] = metrics.Scores{}
		}
	}
	return nil, &metrics.BlocksError{Scores: out, Err: err}
}

// part scores the rows of a request, and splits it if it is too large for the server.
func (m *metric) part(ctx context.Context, all []row, values []float64, reports []*analysis.Report) error {
	if err := m.calls.Acquire(ctx, 1); err != nil {
		return err
	}
	err := m.budget.Count()
	var r *result
	if err == nil {
		r, err = m.ask(ctx, all)
	}
	m.calls.Release(1)
	if half := len(all) / 2; half > 0 && errors.Is(err, llm.ErrTooLarge) {
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

// ask sends a request.
func (m *metric) ask(ctx context.Context, all []row) (out *result, err error) {
	id := strconv.FormatInt(m.ids.Add(1), 10)
	call, err := m.infer(id, all, func(server string, a *answer) (err error) {
		if a.Model != "" && a.Model != m.spec.model {
			return fmt.Errorf("gave an answer of the model %.60q instead of %q", a.Model, m.spec.model)
		}
		if v := m.spec.version; v != "" && a.Version != "" && a.Version != v {
			return fmt.Errorf("gave an answer of version %.40q of the model instead of %q", a.Version, v)
		}
		if out, err = a.check(m.form, m.spec.output, id, all); err != nil || m.first == nil {
			return err
		}
		return m.agrees(out)
	})
	if err == nil {
		err = m.client.Call(ctx, call)
	}
	return out, err
}

// agrees compares an answer with the first one, because all scores of a metric must come
// from one model, and with the stated bounds. A score that exceeds a bound only by FP32
// rounding becomes the bound.
func (m *metric) agrees(r *result) error {
	switch first := m.first; {
	case r.version != first.version:
		return fmt.Errorf("gave an answer of version %.40q of the model, and of version %.40q at first", r.version, first.version)
	case first.facts != nil && r.facts.text != first.facts.text:
		return fmt.Errorf("gave other facts than at first: %.200s and %.200s", r.facts.text, first.facts.text)
	}
	lower, upper := m.info.Lower, m.info.Upper
	for i, v := range r.scores {
		if slack := 1e-4 * max(1, math.Abs(v)); v < lower-slack || v > upper+slack {
			return fmt.Errorf("gave %v as score %d of %d, where its bounds are %v and %v", v, i+1, len(r.scores), lower, upper)
		}
		r.scores[i] = min(max(v, lower), upper)
	}
	return nil
}
