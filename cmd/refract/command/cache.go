package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/report"
)

func (e *env) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Look into a cache of model answers",
		Long: `Look into a cache of model answers. CACHE is a file, or the address of a
Postgres database such as postgres://user@host/database. A password is better
kept in PGPASSWORD or ~/.pgpass than in the address, which other users of the
machine may see.`,
		Example: `  refract cache stats refract-cache.sqlite
  refract cache stats postgres://refract@db.example.org/answers
  refract cache verify refract-cache.sqlite
  refract cache export refract-cache.sqlite -o answers.jsonl`,
	}
	group(cmd)
	cmd.AddCommand(e.cacheStatsCommand(), e.cacheVerifyCommand(), e.cacheExportCommand(), e.cacheImportCommand(), e.cachePruneCommand())
	return cmd
}

// withCache opens a cache for reading, if not asked otherwise.
func withCache(ctx context.Context, where string, do func(*cache.Database) error, opts ...cache.Option) error {
	c, err := cache.Open(ctx, where, opts...)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

func (e *env) cacheStatsCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:     "stats CACHE",
		Short:   "Count what a cache holds",
		Example: `  refract cache stats refract-cache.sqlite -f json`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return withCache(ctx, args[0], func(c *cache.Database) error {
				st, err := c.Stats(ctx)
				if err != nil {
					return err
				}
				return e.list(&out, []report.Column{{Name: "what"}, {Name: "name"}, {Name: "value"}}, func(row func(...report.Value) error) error {
					return statsRows(st, row)
				})
			}, cache.ReadOnly())
		},
	}
	out.register(cmd)
	return cmd
}

func statsRows(st cache.Stats, row func(...report.Value) error) error {
	number := func(n int64) report.Value { return report.String(fmt.Sprint(n)) }
	stamp := func(t time.Time) report.Value {
		if t.IsZero() {
			return report.Null()
		}
		return report.String(t.UTC().Format(time.RFC3339))
	}
	type line struct {
		what  string
		name  report.Value
		value report.Value
	}
	lines := []line{
		{"file", report.Null(), report.String(st.File)},
		{"schema version", report.Null(), number(int64(st.SchemaVersion))},
		{"bytes", report.Null(), number(st.Bytes)},
		{"entries", report.Null(), number(st.Entries)},
		{"entries without an answer", report.Null(), number(st.Missing)},
		{"prompt tokens", report.Null(), number(st.PromptTokens)},
		{"completion tokens", report.Null(), number(st.CompletionTokens)},
		{"oldest", report.Null(), stamp(st.Oldest)},
		{"newest", report.Null(), stamp(st.Newest)},
	}
	var other []cache.Count
	for _, c := range st.Records {
		if c.Name != cache.AnswerRecord {
			other = append(other, c)
		}
	}
	for _, group := range []struct {
		what   string
		counts []cache.Count
	}{{"entries of model", st.Models}, {"entries of endpoint", st.Kinds}, {"other records", other}} {
		for _, c := range group.counts {
			lines = append(lines, line{group.what, report.String(c.Name), number(c.Entries)})
		}
	}
	for _, l := range lines {
		if err := row(report.String(l.what), l.name, l.value); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) cacheVerifyCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "verify CACHE",
		Short: "Check a cache, row by row",
		Long: `Check the structure of a file, and that every row has the key of its request
and the checksum of its answer. Nothing is repaired. The exit code is 1 if there
is a problem; each is a row of the output.`,
		Example: `  refract cache verify refract-cache.sqlite`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return withCache(ctx, args[0], func(c *cache.Database) error {
				r, err := c.Verify(ctx)
				if err != nil {
					return err
				}
				if len(r.Problems) == 0 {
					e.note("%s: %d entries, no problem", r.File, r.Entries)
				}
				err = e.list(&out, []report.Column{{Name: "key"}, {Name: "problem"}}, func(row func(...report.Value) error) error {
					for _, p := range r.Problems {
						key := report.Null()
						if p.Key != "" {
							key = report.String(p.Key)
						}
						if err := row(key, report.String(p.What)); err != nil {
							return err
						}
					}
					return nil
				})
				if err == nil && len(r.Problems) > 0 {
					err = fmt.Errorf("problems found in %s: %d, among entries: %d; 'refract cache export' saves what is sound", r.File, len(r.Problems), r.Entries)
				}
				return err
			}, cache.ReadOnly())
		},
	}
	out.register(cmd)
	return cmd
}

func (e *env) cacheExportCommand() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:     "export CACHE",
		Short:   "Write all entries of a cache as JSON Lines",
		Example: `  refract cache export refract-cache.sqlite -o answers.jsonl`,
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return withCache(ctx, args[0], func(c *cache.Database) error {
				s, err := e.create(out.path)
				if err != nil {
					return err
				}
				n, err := cache.Export(ctx, s, c)
				if err != nil {
					return err
				}
				e.note("%d entries", n)
				return e.commit()
			}, cache.ReadOnly())
		},
	}
	out.registerPath(cmd)
	return cmd
}

func (e *env) cacheImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import CACHE ANSWERS",
		Short: "Add entries written by 'refract cache export'",
		Long: `Add the entries of a JSON Lines file ("-" is standard input) to a cache, which
is created if it does not exist. An entry that is there already stays as it is.`,
		Example: `  refract cache import refract-cache.sqlite answers.jsonl`,
		Args:    usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			var in io.Reader
			if args[1] == "-" {
				in = interruptible(ctx, e.stdin)
			} else {
				f, err := os.Open(args[1])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			return withCache(ctx, args[0], func(c *cache.Database) error {
				n, err := cache.Import(ctx, bufio.NewReader(in), c)
				if err != nil {
					return fmt.Errorf("%s: %w", args[1], err)
				}
				e.note("%d entries read: %d added, %d there before, %d there with another answer, which stays", n.Entries, n.Added, n.Present, n.Different)
				return nil
			})
		},
	}
}

func (e *env) cachePruneCommand() *cobra.Command {
	var out output
	var rule cache.Prune
	var age string
	cmd := &cobra.Command{
		Use:   "prune CACHE",
		Short: "Delete entries of a cache",
		Long: `Delete the entries for which all holds that is asked for: they arrived longer
ago than --older-than, were asked of --model or at the endpoint --kind, or are
--missing. --kind score deletes all stored scores, and no entry. An entry whose
time is unknown is not old. What is deleted is asked for again by the next run
that needs it.

A file is made smaller afterwards, for which it needs as much space again for a
while. A database uses the space for new entries.`,
		Example: `  refract cache prune refract-cache.sqlite --missing --dry-run
  refract cache prune refract-cache.sqlite --older-than 90d --model llama-3`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if age != "" {
				d, err := cache.ParseAge(age)
				if err != nil {
					return usagef("--older-than: %w", err)
				}
				rule.Before = time.Now().Add(-d)
			}
			if rule.Before.IsZero() && rule.Model == "" && !rule.Missing && rule.Kind == "" {
				return usagef("say which entries: --older-than, --model, --kind or --missing")
			}
			var opts []cache.Option
			if rule.DryRun {
				opts = append(opts, cache.ReadOnly())
			} else if _, err := os.Stat(args[0]); err != nil && !cache.IsPostgres(args[0]) {
				return err // and no empty cache is made
			}
			return withCache(ctx, args[0], func(c *cache.Database) error {
				done, err := c.Prune(ctx, rule)
				if err != nil {
					return err
				}
				if rule.DryRun {
					e.note("nothing is deleted (--dry-run)")
				}
				return e.list(&out, []report.Column{{Name: "what"}, {Name: "before"}, {Name: "after"}, {Name: "pruned"}},
					func(row func(...report.Value) error) error { return prunedRows(done, rule.DryRun, row) })
			}, opts...)
		},
	}
	out.register(cmd)
	f := cmd.Flags()
	f.StringVar(&age, "older-than", "", "entries that arrived before this long ago, such as 90d, 12h or 2w")
	f.StringVar(&rule.Model, "model", "", "entries that this model was asked for")
	f.StringVar(&rule.Kind, "kind", "", "entries of this endpoint, as 'refract cache stats' names it; score: all stored scores instead")
	f.BoolVar(&rule.Missing, "missing", false, "entries without an answer, or whose answer was cut at the greatest length")
	f.BoolVar(&rule.DryRun, "dry-run", false, "only count")
	return cmd
}

// prunedRows of a dry run state what would be left, but no size, which is not
// known before.
func prunedRows(p cache.Pruned, dry bool, row func(...report.Value) error) error {
	number := func(n int64) report.Value { return report.String(fmt.Sprint(n)) }
	if err := row(report.String("entries"), number(p.Entries), number(p.Entries-p.Pruned), number(p.Pruned)); err != nil {
		return err
	}
	after, less := number(p.BytesAfter), number(p.BytesBefore-p.BytesAfter)
	if dry {
		after, less = report.Null(), report.Null()
	}
	return row(report.String("bytes"), number(p.BytesBefore), after, less)
}

// interruptible is a reader of standard input that ends with the context,
// though a read may block forever.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}
