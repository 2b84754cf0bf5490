package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/audit"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/internal/shard"
	"github.com/refract-eval/refract/metrics"
)

// mergeRun is one run of refract merge.
type mergeRun struct {
	scoreView
	reports string
}

func (e *env) mergeCommand() *cobra.Command {
	m := &mergeRun{}
	cmd := &cobra.Command{
		Use:   "merge SHARD…",
		Short: "Put the shards of a run together",
		Long: `Put together what --shard I/N of score, expand and check wrote, in any order. The
output is what one process writes with the same flags, byte for byte, and the
scores of systems are the same to the last bit. --format and -o are as they are
of that command.

Shards that are missing, there twice, cut off, or of another run are named, as
are ids that several of them have; then nothing is written.`,
		Example: `  refract score jsonl:data.jsonl -m chrf --shard 1/2 -o scores.csv
  refract score jsonl:data.jsonl -m chrf --shard 2/2 -o scores.csv
  refract merge scores.csv.*.shard -o scores.csv`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), e, args) },
	}
	m.registerFormat(cmd, "", "; without it, by the extension of -o; of 'check', that of the counts")
	m.registerPath(cmd)
	m.parquet = true
	cmd.Flags().StringVar(&m.reports, "reports", "", "`FILE` for the reports of judges that score --reports left in the shards")
	grouped(cmd, resultFlags)
	return cmd
}

func (m *mergeRun) run(ctx context.Context, e *env, args []string) error {
	files, err := shardFiles(args)
	if err != nil {
		return err
	}
	e.paths.Reads("a shard", files...)
	if err := e.checkPaths(); err != nil {
		return err
	}
	set, err := shard.Open(ctx, files)
	if err != nil {
		return err
	}
	if v := set.Manifest.Version; v != refract.Version {
		return fmt.Errorf("the shards are of refract %s, and this is refract %s: merge them with that", v, refract.Version)
	}
	if set.Segments == 0 {
		return fmt.Errorf("the shards have no segment: %w", dataset.ErrEmpty)
	}
	c := set.Manifest.Command
	switch {
	case !slices.Contains([]string{"score", "expand", "check"}, c):
		return fmt.Errorf("shards of %q are not merged by this version", c)
	case m.reports != "" && c != "score":
		return usagef("--reports: shards of %s have none", c)
	case c == "score":
		err = m.byExtension()
	case m.formatGiven && m.format != report.JSONLines && c != "check": // whose counts have it
		err = usagef("--format: shards of %s are merged as JSON Lines: leave it out", c)
	default:
		err = m.isLines()
	}
	if err != nil {
		return err
	}
	out, err := e.create(m.path)
	if err != nil {
		return err
	}
	for _, w := range set.Warnings {
		e.warn("%s", w)
	}
	if c == "score" {
		return m.scores(ctx, e, set, out)
	}
	if err := set.Each(ctx, copyTo(out)); err != nil {
		return err
	}
	if c == "check" {
		if err := m.counts(ctx, e, set); err != nil {
			return err
		}
	}
	if err := e.commit(); err != nil {
		return err
	}
	e.note("%s, %s", english.Count(set.Manifest.Of, "shard"), english.Count(set.Segments, "segment"))
	if set.Below > 0 {
		return below(set.Manifest.Complete(), set.Below, "", set.Lack, cmp.Or(m.path, "the output")+" is written")
	}
	return nil
}

func copyTo(w io.Writer) func(io.Reader) error {
	return func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	}
}

// counts shows what the shards of check have counted, as that does.
func (m *mergeRun) counts(ctx context.Context, e *env, set *shard.Set) error {
	var all *diversify.Counts
	err := set.EachTotals(ctx, func(r io.Reader) error {
		one := checked{}
		if err := json.NewDecoder(r).Decode(&one); err != nil {
			return err
		}
		if one.Counts == nil || one.Counts.Diversity == nil {
			return shard.ErrDamaged
		}
		if all == nil {
			all = one.Counts
		} else {
			all.Merge(one.Counts)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case all.Answers == 0:
		return errNoVariant
	case m.path == "" || m.path == "-":
		return m.onScreen().whole(e.stderr, all.Table())
	}
	return m.onScreen().show(e, all.Table())
}

// shardFiles are the files that arguments name, which may be patterns.
func shardFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		found := []string{arg}
		if _, err := os.Lstat(arg); err != nil && strings.ContainsAny(arg, "*?[") {
			// A bracket is one of a name before it is one of a pattern.
			if found, err = filepath.Glob(strings.ReplaceAll(arg, "[", `[[]`)); err != nil || len(found) == 0 {
				found, err = filepath.Glob(arg)
			}
			if err != nil || len(found) == 0 {
				return nil, fmt.Errorf("no shard is named as %q says: no task of the run has written one", arg)
			}
		}
		out = append(out, found...)
	}
	return out, nil
}

// scores merges the shards of score.
func (m *mergeRun) scores(ctx context.Context, e *env, set *shard.Set, out io.Writer) error {
	var d scoreDetails
	if err := json.Unmarshal(set.Manifest.Details, &d); err != nil {
		return err
	}
	m.per = d.Per
	switch {
	case m.per != "cell" && filepath.Ext(m.path) == ".parquet":
		return usagef("only the matrix is stored as Parquet, and the shards have no cells: choose another name for -o")
	case m.reports != "" && !d.Reports:
		return usagef("--reports: the shards have none, as they were scored without --reports")
	}
	eng, err := d.engine(ctx, e, set.Identity)
	if err != nil {
		return err
	}
	some := false
	var each func(body io.Reader) error
	var end func() error
	switch m.per {
	case "segment":
		w, err := m.table(out, segmentColumns())
		if err != nil {
			return err
		}
		show := showRows(w, eng, set.Identity)
		each = func(body io.Reader) error {
			for dec := json.NewDecoder(body); ; some = true {
				var row segmentRow
				if err := dec.Decode(&row); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
				if row.Setting < 0 || row.Setting >= len(eng.Settings()) {
					return shard.ErrDamaged
				}
				if err := show(&row); err != nil {
					return err
				}
			}
		}
		end = w.Close
	case "cell":
		w, err := m.matrixWriter(out)
		if err != nil {
			return err
		}
		sign := func(metric string, native bool, signature string) (string, error) {
			i := slices.IndexFunc(d.Metrics, func(d metricDetail) bool { return d.Name == metric })
			if i < 0 {
				return "", shard.ErrDamaged
			}
			return d.Metrics[i].sign(set.Identity, native, signature)
		}
		each = func(body io.Reader) error {
			defer func() { some = w.Rows() > 0 }()
			return w.Copy(ctx, body, "its matrix", sign)
		}
		end = w.Close
	default:
		all := eng.Systems()
		each = func(body io.Reader) error {
			defer func() { some = len(all.Scores()) > 0 }()
			return addState(eng, all, json.NewDecoder(body))
		}
		end = func() error {
			all.Identify(set.Identity)
			return m.showSystems(ctx, all, eng.Settings(), out, e.verbose, nil)
		}
	}
	if err := set.Each(ctx, each); err != nil {
		return err
	}
	if !some {
		return dataset.ErrNoSystems
	}
	if err := end(); err != nil {
		return err
	}
	gather, err := m.gathered(ctx, e, set, &d)
	if err == nil {
		_, err = m.explain(e, gather, out)
	}
	if err == nil {
		err = e.commit()
	}
	if err != nil {
		return err
	}
	return (&judgeFlags{maxUnparsed: d.MaxUnparsed}).covered(gather)
}

// addState adds what another process has of the systems of an engine.
func addState(eng *refract.Engine, all *refract.Systems, state *json.Decoder) error {
	one := eng.Systems()
	if err := state.Decode(one); err != nil {
		return err
	}
	all.Merge(one)
	return nil
}

// gathered is what judges say in all shards.
func (m *mergeRun) gathered(ctx context.Context, e *env, set *shard.Set, d *scoreDetails) (*audit.Reports, error) {
	var ms []metrics.Metric
	for _, detail := range d.Metrics {
		if !detail.Explains {
			continue
		}
		info, err := detail.info(set.Identity)
		if err != nil {
			return nil, err
		}
		metric, err := matrix.NewMetric(info)
		if err != nil {
			return nil, err
		}
		ms = append(ms, metric)
	}
	gather := audit.MergedReports(ms)
	err := set.EachTotals(ctx, func(r io.Reader) error { return json.NewDecoder(r).Decode(gather) })
	if err != nil || m.reports == "" {
		return gather, err
	}
	records, err := e.create(m.reports)
	if err != nil {
		return nil, err
	}
	return gather, set.EachBeside(ctx, copyTo(records))
}
