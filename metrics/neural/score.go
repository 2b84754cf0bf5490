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
	m.open.Add(1)
	defer m.open.Add(-1)
	rows := rowsOf(blocks)
	values, reports := make([]float64, len(rows.all)), make([]*analysis.Report, len(rows.all))
	done := make([]bool, len(rows.all))
	g, run := errgroup.WithContext(ctx)
	calls, end := llm.Lasting(ctx, run)
	defer end()
	from := 0
	for _, part := range parts(rows.all, m.spec.bytes, m.form.flat) {
		at, to := from, from+len(part)
		from = to
		g.Go(func() error {
			if err := m.calls.Acquire(run, 1); err != nil {
				return err
			}
			defer m.calls.Release(1)
			err := m.part(calls, part, values[at:to], reports[at:to], false)
			for i := at; i < to; i++ {
				done[i] = err == nil
			}
			return err
		})
	}
	err := g.Wait()
	out := rows.place(values, reports)
	if why := m.why.Load(); why != nil && err == nil && !m.scored.Load() && m.open.Load() == 1 { // it is not the rows
		clear(done)
		err = *why
	}
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

// part scores the rows of a request. If the request is too large for the server, or the server fails at it
// but answers another one, part halves it until the row at fault stands alone: that row has no score.
func (m *metric) part(ctx context.Context, all []row, values []float64, reports []*analysis.Report, halved bool) error {
	if err := m.budget.Count(); err != nil {
		return err
	}
	half, tries := len(all)/2, ctx
	if halved && half > 0 {
		tries = llm.Briefly(ctx)
	}
	r, err := m.ask(tries, all)
	blame := llm.BlameFor(err)
	switch {
	case err == nil:
		copy(values, r.scores)
		copy(reports, r.reports)
		for i, v := range values {
			if none := errors.New("the server gave no number"); math.IsNaN(v) && !m.lacks(values, reports, i, none) {
				return none
			} else if !math.IsNaN(v) {
				m.scored.Store(true)
			}
		}
		return nil
	case half > 0 && errors.Is(err, llm.ErrTooLarge):
	case m.failed == nil || blame == llm.BlameServer || blame == llm.BlameEither && !m.answers(ctx):
		return err
	}
	if half == 0 {
		if !m.lacks(values, reports, 0, err) {
			return err
		}
		return nil
	}
	if err := m.part(ctx, all[:half], values[:half], reports[:half], true); err != nil {
		return err
	}
	return m.part(ctx, all[half:], values[half:], reports[half:], true)
}

// lacks makes a row one without a score, if that is tolerated.
func (m *metric) lacks(values []float64, reports []*analysis.Report, i int, why error) bool {
	if m.failed == nil || !m.failed(why) {
		return false
	}
	m.why.CompareAndSwap(nil, &why)
	values[i], reports[i] = math.NaN(), &analysis.Report{Outcome: analysis.Missing, Detail: why.Error()}
	return true
}

// answers reports whether the server still scores what it scored at first.
func (m *metric) answers(ctx context.Context) bool {
	if m.budget.Count() != nil {
		return false
	}
	_, err := m.ask(llm.Briefly(ctx), []row{known})
	return err == nil
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
