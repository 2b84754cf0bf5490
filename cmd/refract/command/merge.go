package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/cmd/refract/internal/audit"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/shard"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge"
)

// mergeRun is one run of refract merge.
type mergeRun struct{ scoreView }

func (e *env) mergeCommand() *cobra.Command {
	m := &mergeRun{}
	cmd := &cobra.Command{
		Use:   "merge SHARD… | -",
		Short: "Put the parts of a run together",
		Long: `Put together what --shard I/N of score and expand wrote, in any order; or, with -,
add up the lines of 'refract score --per statistics'.

The output is what one process writes with the same flags, byte for byte. Shards
that are missing, there twice, cut off, or of another run are named; then nothing
is written. With -, a line that is there twice is an error; a missing one is not
noticed. Signatures of added lines leave out the set of references.`,
		Example: `  refract score jsonl:sample.jsonl -m chrf --shard 1/2 -o scores.csv
  refract score jsonl:sample.jsonl -m chrf --shard 2/2 -o scores.csv
  refract merge scores.csv.*.shard -o scores.csv
  cat *.statistics | refract merge - -f csv`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"-"}) {
				return m.statistics(cmd.Context(), e)
			}
			return m.run(cmd.Context(), e, args)
		},
	}
	m.registerFormat(cmd, "", "; without it, by the extension of -o")
	m.registerPath(cmd)
	m.parquet = true
	return cmd
}

// statistics adds up the lines on standard input.
func (m *mergeRun) statistics(ctx context.Context, e *env) error {
	m.parquet = false
	if err := m.byExtension(); err != nil {
		return err
	}
	all, eng, err := e.addUp(ctx)
	if all == nil {
		if err == nil {
			err = errors.New("standard input has no line of statistics: there is nothing to merge")
		}
		return err
	}
	out, err := e.create(m.path)
	if err != nil {
		return err
	}
	return m.showSystems(ctx, all, eng.Settings(), out, e.verbose, nil)
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
	switch c := set.Manifest.Command; {
	case c == "score":
		err = m.byExtension()
	case c != "expand":
		err = fmt.Errorf("shards of %q are not merged by this version", c)
	case m.formatGiven && m.format != report.JSONLines:
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
	if set.Manifest.Command == "score" {
		return m.scores(ctx, e, set, out)
	}
	err = set.Each(ctx, func(body io.Reader) error {
		_, err := io.Copy(out, body)
		return err
	})
	if err == nil {
		err = e.commit()
	}
	if err == nil {
		e.note("%s, %s", english.Count(set.Manifest.Of, "shard"), english.Count(set.Segments, "segment"))
	}
	return err
}

// shardFiles are the files that arguments name. They may be patterns, as no shell reads
// the command lines of Kubernetes.
func shardFiles(args []string) ([]string, error) {
	var out []string
	for _, arg := range args {
		found := []string{arg}
		if _, err := os.Lstat(arg); err != nil && strings.Contains(arg, "*") {
			if found, err = filepath.Glob(arg); err != nil || len(found) == 0 {
				return nil, fmt.Errorf("no file matches %q: no task of the run has written a shard", arg)
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
	if d.Per != "cell" && filepath.Ext(m.path) == ".parquet" {
		return usagef("only the matrix is stored as Parquet, and the shards have no cells: choose another name for -o")
	}
	eng, ms, err := d.engine(ctx, e, set.Identity)
	if err != nil {
		return err
	}
	all := eng.Systems()
	each := func(body io.Reader) error {
		one := eng.Systems()
		if err := json.NewDecoder(body).Decode(one); err != nil {
			return err
		}
		all.Merge(one)
		return nil
	}
	some := func() bool { return len(all.Scores()) > 0 }
	end := func() error {
		all.Identify(set.Identity)
		return m.showSystems(ctx, all, eng.Settings(), out, e.verbose, nil)
	}
	if d.Per == "cell" {
		w, err := m.matrixWriter(out)
		if err != nil {
			return err
		}
		each = func(body io.Reader) error {
			return w.Copy(ctx, body, "its matrix", func(metric string, native bool, signature string) (string, error) {
				i := slices.IndexFunc(d.Metrics, func(d metricDetail) bool { return d.Name == metric })
				if i < 0 {
					return "", shard.ErrDamaged
				}
				return d.Metrics[i].sign(set.Identity, native, signature)
			})
		}
		some, end = func() bool { return w.Rows() > 0 }, w.Close
	}
	if err := set.Each(ctx, each); err != nil {
		return err
	}
	if !some() {
		return dataset.ErrNoSystems
	}
	if err := end(); err != nil {
		return err
	}
	var explain []metrics.Metric
	for i, detail := range d.Metrics {
		if detail.Explains {
			explain = append(explain, ms[i])
		}
	}
	gather := audit.MergedReports(explain)
	err = set.EachTotals(ctx, func(r io.Reader) error { return json.NewDecoder(r).Decode(gather) })
	if err == nil {
		err = m.explain(e, gather, out)
	}
	if err == nil {
		err = e.commit()
	}
	if err != nil {
		return err
	}
	var policy judge.Policy
	if given := set.Manifest.Settings["--unparseable"]; given != nil {
		if policy, err = judge.ParsePolicy(given[0]); err != nil {
			return err
		}
	}
	return covered(gather, policy)
}
