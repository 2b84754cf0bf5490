package command

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/judge/audit"
	"github.com/refract-eval/refract/report"
)

// runEngine scores a dataset, and gathers what judges say on the way. Where some
// metrics fail and others go on, the command writes what it has, and ends with
// s.incomplete.
func (s *scorer) runEngine(ctx context.Context, e *env, eng *refract.Engine, ds refract.Dataset, write func(*refract.SegmentScores) error) error {
	var err error
	if s.gather, err = s.explain(e, eng); err != nil {
		return err
	}
	if s.canaries > 0 {
		if s.gather == nil {
			return usagef("--canaries are for metrics that ask a model, and none of these does ('refract judges' lists some)")
		}
		s.pool = audit.NewCanaries(s.gather.Metrics(), s.canaries, defaultSeed)
	}
	defer s.judging.answered()
	err = eng.Run(ctx, ds, func(seg *refract.SegmentScores) error {
		if err := s.gather.add(seg); err != nil {
			return err
		}
		if s.pool != nil {
			s.pool.Add(seg.Segment)
		}
		return write(seg)
	})
	if errors.As(err, &s.incomplete) {
		return nil
	}
	return err
}

// explainTo shows, after the scores, what judges say: beside a table for
// people, else where notes go.
func (s *scorer) explainTo(ctx context.Context, e *env, out *atomicfile.File) error {
	if s.gather == nil {
		return nil
	}
	if s.gather.fragment != nil {
		if err := s.gather.WriteHTML(s.gather.fragment); err != nil {
			return err
		}
	}
	var w io.Writer = e.stderr
	if s.format == report.Table && filepath.Ext(s.path) != ".parquet" {
		w = out
		colour := e.stdoutTerminal && s.path == "" && e.getenv("NO_COLOR") == ""
		if err := s.gather.WriteText(w, colour); err != nil {
			return err
		}
	}
	if err := audit.WriteTrust(w, &s.gather.Trust); err != nil {
		return err
	}
	s.gather.warn(e)
	if n := s.gather.Unneeded; n > 0 {
		e.note("%s of references left out, as they could not change a score", english.Thousands(n, "call"))
	}
	if s.pool == nil || s.incomplete != nil {
		return nil
	}
	stands, err := s.pool.Plant(ctx)
	if err != nil {
		return err
	}
	return audit.WriteStands(w, stands)
}
