package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

func (e *env) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Inspect, copy and prune a cache of model answers",
		Long: `Inspect, copy and prune a cache of model answers. CACHE is a file, or the
address of a Postgres database such as postgres://user@host/database. Keep a
password in PGPASSWORD or ~/.pgpass: other users of the machine may see the
address.`,
		Example: `  refract cache stats refract-cache.sqlite
  refract cache stats postgres://refract@db.example.org/answers
  refract cache verify refract-cache.sqlite
  refract cache export refract-cache.sqlite -o answers.jsonl`,
	}
	group(cmd)
	cmd.AddCommand(e.cacheStatsCommand(), e.cacheVerifyCommand(), e.cacheExportCommand(), e.cacheImportCommand(), e.cachePruneCommand())
	return cmd
}

// onCache runs a command on the cache that its first argument names.
func (e *env) onCache(do func(ctx context.Context, c *cache.Database, args []string) error, opts ...cache.Option) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := cache.Open(cmd.Context(), args[0], append(opts, e.tells())...)
		if err != nil {
			return err
		}
		return errors.Join(do(cmd.Context(), c, args), c.Close())
	}
}

func (e *env) cacheStatsCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:     "stats CACHE",
		Short:   "Count what a cache holds",
		Example: `  refract cache stats refract-cache.sqlite -f json`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: e.onCache(func(ctx context.Context, c *cache.Database, _ []string) error {
			st, err := c.Stats(ctx)
			if err != nil {
				return err
			}
			return out.show(e, statsTable(c.String(), st))
		}, cache.ReadOnly()),
	}
	out.register(cmd)
	return cmd
}

func statsTable(name string, st cache.Stats) *report.NamedTable {
	stamp := func(t time.Time) report.Value {
		if t.IsZero() {
			return report.Null()
		}
		return report.String(t.UTC().Format(time.RFC3339))
	}
	t := &report.NamedTable{Columns: []report.Column{{Name: "what"}, {Name: "name"}, {Name: "value"}}}
	t.Add("file", nil, name)
	t.Add("bytes", nil, fmt.Sprint(st.Bytes))
	t.Add("entries", nil, fmt.Sprint(st.Entries))
	t.Add("entries without an answer", nil, fmt.Sprint(st.Missing))
	t.Add("prompt tokens", nil, fmt.Sprint(st.PromptTokens))
	t.Add("completion tokens", nil, fmt.Sprint(st.CompletionTokens))
	t.Add("oldest", nil, stamp(st.Oldest))
	t.Add("newest", nil, stamp(st.Newest))
	t.Add("stored scores", nil, fmt.Sprint(st.Scores))
	for _, model := range slices.Sorted(maps.Keys(st.Models)) {
		t.Add("entries of model", model, fmt.Sprint(st.Models[model]))
	}
	return t
}

func (e *env) cacheVerifyCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "verify CACHE",
		Short: "Check a cache, row by row",
		Long: `Check the structure of a file, and that every row has the key of its request
and the checksum of its answer. Nothing is repaired. Each problem is a row of
the output, and the exit code is 1 if there is one.`,
		Example: `  refract cache verify refract-cache.sqlite`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: e.onCache(func(ctx context.Context, c *cache.Database, _ []string) error {
			records, problems, err := c.Verify(ctx)
			if err != nil {
				return err
			}
			if len(problems) == 0 {
				e.note("%s: %d entries, no problem", c, records)
			}
			t := &report.NamedTable{Columns: []report.Column{{Name: "key"}, {Name: "problem"}}}
			for _, p := range problems {
				t.Add(report.StringOrNull(p.Key), p.What)
			}
			err = out.show(e, t)
			if err == nil && len(problems) > 0 {
				err = fmt.Errorf("problems found in %s: %d, among entries: %d; 'refract cache export' saves what is sound", c, len(problems), records)
			}
			return err
		}, cache.ReadOnly()),
	}
	out.register(cmd)
	return cmd
}

func (e *env) cacheExportCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "export CACHE",
		Short: "Write all entries of a cache as JSON Lines",
		Long: `Write all entries of a cache as JSON Lines. Stored scores are left out.

Of a damaged cache, what is sound is written, and the exit code is 1. 'refract
cache import' makes a new cache of it, which lacks the damaged entries alone.`,
		Example: `  refract cache export refract-cache.sqlite -o answers.jsonl`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: e.onCache(func(ctx context.Context, c *cache.Database, _ []string) error {
			s, err := e.create(out.path)
			if err != nil {
				return err
			}
			n, lost, err := cache.Export(ctx, s, c)
			if err != nil {
				return err
			}
			for i, p := range lost {
				if i == 10 {
					e.warn("left out: %d more; 'refract cache verify' names them", len(lost)-i)
					break
				}
				e.warn("left out: %s", strings.TrimPrefix(p.Key+": "+p.What, ": "))
			}
			e.note("%d entries", n)
			scores, err := c.Scores(ctx)
			if scores > 0 {
				e.note("left out: %d stored scores, which are computed again where they are missing", scores)
			}
			if len(lost) > 0 { // of which the count may fail too
				err = fmt.Errorf("cache %s: export: damaged: %s left out; the output has the rest, of which 'refract cache import NEW OUTPUT' makes a new cache", c, english.Thousands(len(lost), "record"))
				err = cmp.Or(e.commit(), err)
			}
			return err
		}, cache.ReadOnly()),
	}
	out.registerLines(cmd)
	return cmd
}

func (e *env) cacheImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import CACHE ANSWERS",
		Short: "Add entries written by 'refract cache export'",
		Long: `Add the entries of a JSON Lines file ("-" is standard input) to a cache, which
is made if there is none. An entry that is already there stays as it is.`,
		Example: `  refract cache import refract-cache.sqlite answers.jsonl`,
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, in, err := e.openAnswers(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			defer in.Close()
			return e.onCache(func(ctx context.Context, c *cache.Database, _ []string) error {
				n, err := cache.Import(ctx, in, c)
				if err != nil {
					return fmt.Errorf("%s: %w; %d entries were added before", name, err, n.Added)
				}
				e.note("%d entries read: %d added, %d there before, %d there with another answer, which stays", n.Entries, n.Added, n.Entries-n.Added-n.Different, n.Different)
				return nil
			})(cmd, args)
		},
	}
}

func (e *env) cachePruneCommand() *cobra.Command {
	var out output
	var rule cache.Prune
	var days uint16
	cmd := &cobra.Command{
		Use:   "prune CACHE",
		Short: "Delete entries of a cache",
		Long: `Delete the entries that meet all conditions that are given: older than
--older-than, asked of --model, --missing. --stored-scores deletes
all stored scores, and no entry. An entry without a time is not old. The next run
that needs a deleted entry asks for it again.

A file is made smaller afterwards, which takes as much space again for a while.
A database uses the space for new entries.`,
		Example: `  refract cache prune refract-cache.sqlite --missing --dry-run
  refract cache prune refract-cache.sqlite --older-than 90 --model llama-3`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if some := days > 0 || rule.Model != "" || rule.Missing; some == rule.Scores {
				return usagef("say which entries: --older-than, --model or --missing, or --stored-scores by itself")
			}
			if days > 0 {
				rule.Before = time.Now().AddDate(0, 0, -int(days))
			}
			var opts []cache.Option
			if rule.DryRun {
				opts = append(opts, cache.ReadOnly())
			} else {
				opts = append(opts, cache.Existing())
			}
			return e.onCache(func(ctx context.Context, c *cache.Database, _ []string) error {
				done, err := c.Prune(ctx, rule)
				if err != nil {
					return err
				}
				if rule.DryRun {
					e.note("nothing is deleted (--dry-run)")
				}
				return out.show(e, prunedTable(done, rule.DryRun))
			}, opts...)(cmd, args)
		},
	}
	out.register(cmd)
	f := cmd.Flags()
	f.Uint16Var(&days, "older-than", 0, "entries older than this number of `DAYS`")
	f.StringVar(&rule.Model, "model", "", "entries that this `MODEL` was asked for")
	f.BoolVar(&rule.Scores, "stored-scores", false, "all stored scores")
	f.BoolVar(&rule.Missing, "missing", false, "entries without an answer, or with one that was cut at the greatest length")
	f.BoolVar(&rule.DryRun, "dry-run", false, "only count")
	return cmd
}

// prunedTable of a dry run states what would be left, but no size, which is not
// known before.
func prunedTable(p cache.Pruned, dry bool) *report.NamedTable {
	t := &report.NamedTable{Columns: []report.Column{{Name: "what"}, {Name: "before"}, {Name: "after"}, {Name: "pruned"}}}
	t.Add("entries", fmt.Sprint(p.Entries), fmt.Sprint(p.Entries-p.Pruned), fmt.Sprint(p.Pruned))
	if dry {
		t.Add("bytes", fmt.Sprint(p.BytesBefore), nil, nil)
	} else {
		t.Add("bytes", fmt.Sprint(p.BytesBefore), fmt.Sprint(p.BytesAfter), fmt.Sprint(p.BytesBefore-p.BytesAfter))
	}
	return t
}
