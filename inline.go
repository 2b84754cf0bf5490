package refract

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/refract-eval/refract/metrics"
)

// runInline is Run in one goroutine.
func (e *Engine) runInline(ctx context.Context, ds Dataset, yield func(*SegmentScores) error) error {
	failed := make([]error, len(e.needs))
	segments, shown := 0, []string(nil)
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return err
		}
		f, err := e.newWork(s)
		if err != nil {
			return err
		}
		if segments++; segments <= remarkSegments && e.options.Warn != nil {
			shown = s.appendTexts(shown)
		}
		for k := range e.needs {
			d := &e.needs[k]
			if failed[k] == nil {
				_, failed[k] = d.score(ctx, []*segmentWork{f})
			}
			if failed[k] != nil {
				d.init(f, metrics.Ended)
			} else if e.options.Observe != nil {
				e.options.Observe(d.metric, 1)
			}
		}
		if !slices.Contains(failed, nil) && !e.options.ContinueWithoutMetrics {
			return errors.Join(failed...)
		}
		if err := cmp.Or(ctx.Err(), yield(f.scores)); err != nil {
			return err
		}
	}
	for _, remark := range metrics.Remarks(e.Metrics(), shown) {
		e.options.Warn(remark)
	}
	ended := &Incomplete{}
	for k, err := range failed {
		if err != nil {
			ended.Metrics, ended.Errs = append(ended.Metrics, e.needs[k].info.Name), append(ended.Errs, err)
		}
	}
	if len(ended.Errs) > 0 {
		return ended
	}
	return ctx.Err()
}
