package neural

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	requests := &llm.Halving[scored]{Witness: &m.witness, Ask: m.part, Other: func(ctx context.Context) error {
		_, err := m.count(ctx, []scored{{row: known}})
		return err
	}}
	if m.failed != nil {
		requests.Failed = m.lacks
	}
	g, run := errgroup.WithContext(ctx)
	calls, end := llm.Lasting(ctx, run)
	defer end()
	for _, part := range parts(rows.all, m.spec.bytes, m.form.flat) {
		g.Go(func() error {
			if err := m.calls.Acquire(run, 1); err != nil {
				return err
			}
			defer m.calls.Release(1)
			return requests.Do(calls, part)
		})
	}
	err := g.Wait()
	if why := m.why.Load(); why != nil && err == nil && !m.scored.Load() && m.open.Load() == 1 { // it is not the rows
		return nil, *why
	}
	if err != nil {
		return nil, &metrics.BlocksError{Scores: rows.place(), Err: err}
	}
	return rows.place(), nil
}

// part scores the rows of a request.
func (m *metric) part(ctx context.Context, part []scored) error {
	r, err := m.count(ctx, part)
	if err != nil {
		return err
	}
	for i := range part {
		p := &part[i]
		p.value, p.done = r.scores[i], true
		if r.reports != nil {
			p.report = r.reports[i]
		}
		if !math.IsNaN(p.value) {
			m.scored.Store(true)
			continue
		}
		if err := m.lacks(p, errors.New("the server gave no number")); err != nil {
			return err
		}
	}
	return nil
}

// lacks makes a row one without a score, if that is tolerated.
func (m *metric) lacks(r *scored, why error) error {
	if m.failed == nil || !m.failed(why) {
		return why
	}
	m.why.CompareAndSwap(nil, &why)
	r.value, r.done, r.report = math.NaN(), true, &analysis.Report{Outcome: analysis.Missing, Detail: why.Error()}
	return nil
}

// count sends a request that the budget counts.
func (m *metric) count(ctx context.Context, all []scored) (*result, error) {
	if err := m.budget.Count(); err != nil {
		return nil, err
	}
	return m.ask(ctx, all)
}

// ask sends a request.
func (m *metric) ask(ctx context.Context, all []scored) (out *result, err error) {
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
