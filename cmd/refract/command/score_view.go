package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/metrics"
)

// scoreView holds the flags about the output of scores.
type scoreView struct {
	output
	confidence float64 // of the intervals of systems' scores; 0 for none
	width      *int    // decimals that were asked for
}

// digits is the number of decimals, by --width or else the usual.
func (v *scoreView) digits(usual int) int {
	if v.width != nil {
		return *v.width
	}
	return usual
}

// sink receives scored segments, and writes the rest at the end.
type sink struct {
	add func(*refract.SegmentScores) error
	end func(context.Context, *refract.Incomplete) error // with the metrics that ended, if any
}

// sink returns the sink of an engine for rows per system, segment or cell. id names the references, for rows that are
// written at once; nil where it is not known.
func (v *scoreView) sink(per string, eng *refract.Engine, out io.Writer, id *refract.Identity, verbose bool) (*sink, error) {
	switch per {
	case "segment":
		w := v.table(out, []report.Column{
			{Name: "id"}, {Name: "system"}, {Name: "metric"}, {Name: "aggregate"},
			{Name: "references", Header: "refs", Kind: report.KindInt}, {Name: "score", Kind: report.KindFloat, Digits: v.digits(4)},
			{Name: "status"}, {Name: "missing_references", Header: "missing refs", Kind: report.KindInt}, {Name: "signature", Hide: true},
		})
		return &sink{segmentRows(w, eng, id), func(context.Context, *refract.Incomplete) error { return w.Close() }}, nil
	case "cell":
		w, err := v.matrixWriter(out)
		if err != nil {
			return nil, err
		}
		native := slices.ContainsFunc(eng.Settings(), func(set refract.Setting) bool { return set.Aggregator.Native() })
		var infos []matrix.Info
		for _, m := range eng.Metrics() {
			infos = append(infos, matrix.InfoOf(m, native, id.Of(aggregate.Aggregator{}), id.Of(aggregate.Single)))
		}
		add := func(seg *refract.SegmentScores) error { return w.WriteSegment(seg, infos) }
		return &sink{add, func(context.Context, *refract.Incomplete) error { return w.Close() }}, nil
	}
	acc := eng.Systems()
	acc.Identify(id)
	if v.confidence > 0 {
		acc.Keep()
	}
	return &sink{acc.Add, func(ctx context.Context, ended *refract.Incomplete) error {
		return v.showSystems(ctx, acc, eng.Settings(), out, verbose, ended)
	}}, nil
}

// showSystems writes the scores of systems.
func (v *scoreView) showSystems(ctx context.Context, acc *refract.Systems, settings []refract.Setting, out io.Writer, verbose bool, ended *refract.Incomplete) error {
	t := &systemScores{acc: acc, settings: settings, scores: acc.Scores(), confidence: v.confidence, digits: v.digits, verbose: verbose, ended: ended.Reasons()}
	if v.confidence > 0 {
		if err := t.resample(ctx); err != nil {
			return err
		}
	}
	table := t.forPrograms
	if v.format.ForPeople() {
		table = t.forPeople
	}
	return v.whole(out, table())
}

// matrixWriter writes cells as JSON Lines, or as Parquet where the output's name says so.
func (v *scoreView) matrixWriter(out io.Writer) (*matrix.Writer, error) {
	parquet := filepath.Ext(v.path) == ".parquet"
	switch {
	case parquet && v.formatGiven:
		return nil, usagef("-o %s is Parquet; leave --format out", v.path)
	case parquet:
		return matrix.NewParquetWriter(out), nil
	case v.format != report.JSONLines && (v.formatGiven || v.format != report.Table):
		return nil, usagef("the matrix is JSON Lines, or Parquet: take -f jsonl, or name -o FILE.jsonl or FILE.parquet")
	}
	v.format = report.JSONLines
	return matrix.NewJSONLWriter(out), nil
}

// segmentRows writes a row per hypothesis and setting of each segment.
func segmentRows(w report.Writer, eng *refract.Engine, id *refract.Identity) func(*refract.SegmentScores) error {
	type signed struct{ setting, references int }
	settings, reducer, signatures := eng.Settings(), eng.Reducer(), map[signed]string{}
	return func(s *refract.SegmentScores) error {
		for k, of := range settings {
			for h := range s.Segment.Hypotheses {
				system := s.Segment.Hypotheses[h].System
				red, err := reducer.Reduce(s, k, h)
				if err != nil {
					return fmt.Errorf("segment %q, system %q: %w", s.Segment.ID, system, err)
				}
				at := signed{k, red.References}
				if signatures[at] == "" {
					signatures[at] = refract.SettingSignature(of, metrics.Sentence, strconv.Itoa(red.References), id.Of(of.Aggregator)).String()
				}
				err = w.Row(report.String(s.Segment.ID), report.String(system), report.String(of.Metric.Info().Name), report.StringOrNull(of.AggregatorName()),
					report.Int(red.References), where(red.Status == metrics.Scored, report.Float(red.Value)), report.String(red.Status.String()), report.Int(red.Missing), report.String(signatures[at]))
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// explain shows what judges say, below a table of scores or where notes go, and puts the
// outputs in place.
func (v *scoreView) explain(e *env, trust *audit.Trust, out io.Writer) error {
	w := e.noteWriter()
	if v.format == report.Table && filepath.Ext(v.path) != ".parquet" {
		w = out
	}
	if err := audit.WriteTrust(w, trust); err != nil {
		return err
	}
	return e.commit()
}
