package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
)

func (e *env) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Inspect and copy a cache of model answers",
		Long: `Inspect and copy a cache of model answers: a file, or a Postgres database such as
postgres://user@host/database.

Keep a password in PGPASSWORD or ~/.pgpass: other users of the machine may see
the address.`,
		Example: `  refract cache stats refract-cache.sqlite
  refract cache export refract-cache.sqlite -o answers.jsonl`,
	}
	group(cmd)
	cmd.AddCommand(e.cacheStatsCommand(), e.cacheVerifyCommand(), e.cacheExportCommand(), e.cacheImportCommand())
	return cmd
}

// onCache runs a command on the cache that its first argument names.
func onCache(do func(ctx context.Context, e *env, c *cache.Database) error, opts ...cache.Option) func(context.Context, *env, []string) error {
	return func(ctx context.Context, e *env, args []string) error {
		c, err := cache.Open(ctx, args[0], append(opts, e.cacheWarnings())...)
		if err != nil {
			return err
		}
		return errors.Join(do(ctx, e, c), c.Close())
	}
}

func (e *env) cacheStatsCommand() *cobra.Command {
	var out output
	cmd := e.newCommand(&cobra.Command{
		Use:     "stats CACHE",
		Short:   "Count what a cache holds",
		Example: `  refract cache stats refract-cache.sqlite -f json`,
	}, cobra.ExactArgs(1), onCache(func(ctx context.Context, e *env, c *cache.Database) error {
		st, err := c.Stats(ctx)
		if err != nil {
			return err
		}
		t := &report.NamedTable{Columns: []report.Column{{Name: "what"}, {Name: "name"}, {Name: "value"}}}
		t.Add("file", nil, c.String())
		t.Add("entries", nil, fmt.Sprint(st.Entries))
		t.Add("entries without an answer", nil, fmt.Sprint(st.Missing))
		t.Add("prompt tokens", nil, fmt.Sprint(st.PromptTokens))
		t.Add("completion tokens", nil, fmt.Sprint(st.CompletionTokens))
		t.Add("stored scores", nil, fmt.Sprint(st.Scores))
		for _, model := range slices.Sorted(maps.Keys(st.Models)) {
			t.Add("entries of model", model, fmt.Sprint(st.Models[model]))
		}
		return out.show(e, t)
	}, cache.ReadOnly()))
	out.register(cmd)
	return cmd
}

func (e *env) cacheVerifyCommand() *cobra.Command {
	var out output
	cmd := e.newCommand(&cobra.Command{
		Use:   "verify CACHE",
		Short: "Check a cache, row by row",
		Long: `Check that every row has the key of its request and the checksum of its answer.

Nothing is repaired. Each problem is a row of the output, and the exit code is 1
if there is one.`,
		Example: `  refract cache verify refract-cache.sqlite`,
	}, cobra.ExactArgs(1), onCache(func(ctx context.Context, e *env, c *cache.Database) error {
		records, problems, err := c.Verify(ctx)
		if err != nil {
			return err
		}
		if len(problems) == 0 {
			e.note("%s: %s, no problem", c, english.Count(int(records), "entry", "entries"))
		}
		t := &report.NamedTable{Columns: []report.Column{{Name: "key"}, {Name: "problem"}}}
		for _, p := range problems {
			t.Add(report.StringOrNull(p.Key), p.What)
		}
		err = out.show(e, t)
		if err == nil && len(problems) > 0 {
			err = fmt.Errorf("%s: problems: %d among %s; 'refract cache export' saves what is sound", c, len(problems), english.Count(int(records), "entry", "entries"))
		}
		return err
	}, cache.ReadOnly()))
	out.register(cmd)
	return cmd
}

func (e *env) cacheExportCommand() *cobra.Command {
	var out output
	cmd := e.newCommand(&cobra.Command{
		Use:   "export CACHE",
		Short: "Write all entries of a cache as JSON Lines",
		Long: `Write all entries of a cache as JSON Lines. Stored scores are left out.

Of a damaged cache, what is sound is written, and the exit code is 1. 'refract
cache import' makes a new cache of it, which lacks only the damaged entries.`,
		Example: `  refract cache export refract-cache.sqlite -o answers.jsonl`,
	}, cobra.ExactArgs(1), onCache(func(ctx context.Context, e *env, c *cache.Database) error {
		s, err := e.create(out.path)
		if err != nil {
			return err
		}
		n, lost, err := cache.Export(ctx, s, c)
		if err != nil {
			return err
		}
		for _, p := range lost[:min(len(lost), 10)] { // 'refract cache verify' names all
			e.warn("not exported: %s", strings.TrimPrefix(p.Key+": "+p.What, ": "))
		}
		e.note("%s", english.Count(n, "entry", "entries"))
		if st, err := c.Stats(ctx); err == nil && st.Scores > 0 {
			e.note("not exported: %s, which are computed again when needed", english.Thousands(int(st.Scores), "stored score"))
		}
		if len(lost) > 0 {
			err = fmt.Errorf("cache %s is damaged: %s not exported; the output has the rest, and 'refract cache import NEW OUTPUT' makes a new cache of it", c, english.Thousands(len(lost), "record"))
			err = cmp.Or(e.commit(), err)
		}
		return err
	}, cache.ReadOnly()))
	out.registerLines(cmd)
	return cmd
}

func (e *env) cacheImportCommand() *cobra.Command {
	return e.newCommand(&cobra.Command{
		Use:   "import CACHE ANSWERS",
		Short: "Add entries written by 'refract cache export'",
		Long: `Add the entries of a JSON Lines file ("-" is standard input) to a cache, which
is made if there is none. An entry that is already there stays as it is.`,
		Example: `  refract cache import refract-cache.sqlite answers.jsonl`,
	}, cobra.ExactArgs(2), func(ctx context.Context, e *env, args []string) error {
		in, name, err := e.datasetOptions().OpenText(ctx, args[1])
		if err != nil {
			return err
		}
		defer in.Close()
		to := &lateCache{open: func() (*cache.Database, error) { return cache.Open(ctx, args[0], e.cacheWarnings()) }}
		n, err := cache.Import(ctx, in, to)
		if err != nil {
			err = fmt.Errorf("%s: %w; added before: %s", name, err, english.Count(n.Added, "entry", "entries"))
		} else if _, err = to.Get(ctx, nil); err == nil { // a file without entries makes a cache, too
			e.note("%s read: %d added, %d present already, %d present with another answer, which stays", english.Count(n.Entries, "entry", "entries"), n.Added, n.Entries-n.Added-n.Different, n.Different)
		}
		if to.Database != nil {
			err = errors.Join(err, to.Close())
		}
		return err
	})
}

// lateCache is a cache that is opened when it is first asked, so that a file of something else makes none.
type lateCache struct {
	*cache.Database
	open func() (*cache.Database, error)
}

// Get implements cache.Store.
func (c *lateCache) Get(ctx context.Context, keys []cache.Key) (values [][]byte, err error) {
	if c.Database == nil {
		if c.Database, err = c.open(); err != nil {
			return nil, err
		}
	}
	return c.Database.Get(ctx, keys)
}
