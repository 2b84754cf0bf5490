package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/meaning"
	"github.com/refract-eval/refract/internal/report"
)

// checking is one run of refract check.
type checking struct {
	input
	checkFlags
	decisionFlag
	shardFlag
	result   output // where the dataset goes
	table    output // how the counts are shown
	human    bool
	examples int
}

func (e *env) checkCommand() *cobra.Command {
	k := &checking{}
	cmd := &cobra.Command{
		Use:   "check [DATASET]",
		Short: "Clean and check the expanded references of a dataset",
		Long: `Clean and check the variants of a dataset, and count what each check catches.
An answer counts for the first check that catches it, in the order of the table.

blocked is a text that the server withheld, cut one without its end or a thought
without an answer, empty no text, garbled markup or loops, refusal a refusal and
talk about the task; copy and duplicate are of a reference and of an answer,
unclear is what is likely a reply. The checks do not know what a text means.

The language check goes by each reference, so that a dataset may mix languages:
an mtme: dataset names its languages, as --language and --source-language do. -o writes the dataset as JSON
Lines: accepted variants, cleaned, under "variants", the others under
"rejected", each with its verdict and its raw text. Each accepted variant has a
doubt, how likely it has lost the meaning, judged by its words. From 0.5 on it is
doubtful.

--human checks the references that people wrote, each against the first one:
what a check then catches, copies aside, is a false alarm.`,
		Example: `  refract check mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified --examples 3
  refract check jsonl:expanded.jsonl --language de --source-language en -o checked.jsonl
  refract check mtme:data/wmt22/zh-en --human
  refract check jsonl:expanded.jsonl --decisions decisions.jsonl -o reviewed.jsonl
  refract check jsonl:expanded.jsonl --checks duplicate --clean none --exact`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return k.run(cmd.Context(), e, args) },
	}
	k.input.register(cmd)
	k.checkFlags.register(cmd)
	k.decisionFlag.register(cmd)
	k.shardFlag.register(cmd)
	k.result.registerLines(cmd)
	k.table.registerFormat(cmd, "how counts are shown: ", "")
	f := cmd.Flags()
	f.BoolVar(&k.human, "human", false, "check the references after the first one in place of variants")
	f.IntVar(&k.examples, "examples", 0, "show this many examples of each check")
	within(cmd, 0, mostExamples, "examples")
	return cmd
}

// mostExamples bounds what is kept of a check.
const mostExamples = 1000

func (k *checking) run(ctx context.Context, e *env, args []string) error {
	switch {
	case k.human && k.result.path != "":
		return usagef("--human judges references, and -o writes variants: leave one out")
	case k.human && len(k.references) > 0:
		return usagef("--human judges references, and not the variants of --references: leave one out")
	}
	if k.human && len(args) > 0 && strings.HasPrefix(args[0], "mtme:") && len(k.reference) == 0 {
		k.reference = []string{"all"}
	}
	c, err := k.checker(e, args)
	if err != nil {
		return err
	}
	if c == nil {
		return usagef("--checks none leaves nothing to do; name a check or a cleaning step")
	}
	ds, err := k.dataset(e, args, k.result.path != "")
	if err == nil {
		k.learn(ctx, ds)
		ds, err = k.decided(ds)
	}
	if err == nil && k.shard != "" {
		if err = k.wholly("decisions"); err == nil {
			ds, err = k.cut(ctx, e, args, k.result.path, ds)
		}
	}
	if err != nil {
		return err
	}
	var out io.Writer
	if k.shard == "" {
		if out, err = e.create(k.result.path); err != nil {
			return err
		}
	} else if done, err := k.begin(ctx, e); done || err != nil {
		return err
	} else {
		out = k.writer
	}
	counts, kept := diversify.NewCounts(c, k.examples), &meaning.Tally{}
	var enc *dataset.Encoder
	if k.result.path != "" {
		enc = dataset.NewEncoder(out)
	}
	for s, err := range ds.Segments(ctx) {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if k.human {
			if err := counts.AddReferences(s); err != nil {
				return err
			}
			continue
		}
		judged, err := counts.AddVariants(s)
		if err != nil {
			return err
		}
		if k.read != nil {
			kept.Add(judged)
		}
		if enc != nil {
			if err := k.index(s.ID, nil); err != nil {
				return err
			}
			if err := enc.Encode(judged); err != nil {
				return err
			}
		}
	}
	found := checked{counts}
	switch {
	case k.shard != "":
		err := k.writer.Totals(found)
		if err == nil {
			err = k.end(e, nil)
		}
		if err != nil {
			return err
		}
	case counts.Answers == 0 && k.human:
		return errors.New("no segment has a second reference; --human compares the references that people wrote: " +
			"name them with --reference, or give several --ref files")
	case counts.Answers == 0:
		return errNoVariant
	}
	if k.read != nil {
		k.tellDecided(e)
		e.tellMeaning(kept.Findings(), leastKept, e.note)
	}
	if k.result.path == "-" {
		return k.table.whole(e.stderr, found.table(k.human))
	}
	return k.table.show(e, found.table(k.human))
}

var errNoVariant = errors.New("the dataset has no variant to check; name expanded references with --references")

// checked is what a run of check, or its shards, have counted.
type checked struct {
	Counts *diversify.Counts
}

func (c *checked) merge(o *checked) {
	if c.Counts == nil {
		*c = *o
		return
	}
	c.Counts.Merge(o.Counts)
}

func (c *checked) table(people bool) *report.NamedTable {
	return c.Counts.Table(people)
}
