package command

import (
	"context"
	"io"
	"path/filepath"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/internal/report"
)

// listen makes what gathers the judges' reports of a run.
func (s *scorer) listen(e *env, eng *refract.Engine) error {
	s.gather = audit.NewReports(eng.Metrics())
	judges := s.gather.Metrics()
	switch {
	case len(judges) == 0 && (s.canaries > 0 || s.reports != ""):
		return usagef("--reports and --canaries: none of the metrics gives reports; judges do (refract judges), and programs and servers that say so")
	case s.canaries > 0:
		s.pool = guard.NewPool(judges, s.canaries, defaultSeed)
	}
	if s.reports != "" && s.writer != nil {
		s.records = s.writer.Beside()
	} else if s.reports != "" {
		records, err := e.create(s.reports)
		if err != nil {
			return err
		}
		s.records = records
	}
	return nil
}

// explainTo shows, after the scores, what judges say: beside a table for
// people, else where notes go.
func (s *scorer) explainTo(ctx context.Context, e *env, out *atomicfile.File) error {
	w, err := s.explain(e, s.gather, out)
	if err != nil {
		return err
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

// explain shows what judges say below the scores, and where else notes go, which
// it returns.
func (v *scoreView) explain(e *env, gather *audit.Reports, out io.Writer) (io.Writer, error) {
	var w io.Writer = e.stderr
	if v.format == report.Table && filepath.Ext(v.path) != ".parquet" {
		w = out
	}
	return w, audit.WriteTrust(w, &gather.Trust)
}
