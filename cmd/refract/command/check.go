package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify"
)

// checking is one run of refract check.
type checking struct {
	input
	checkFlags
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

An mtme: dataset names its languages. For others, --language and
--source-language turn on the language check. -o writes the dataset as JSON
Lines: accepted variants, cleaned, under "variants", the others under
"rejected", each with its verdict and its raw text.

--human checks the references that people wrote, each against the first one:
what a check then catches, copies aside, is a false alarm.`,
		Example: `  refract check mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified --examples 3
  refract check jsonl:expanded.jsonl --language de --source-language en -o checked.jsonl
  refract check mtme:data/wmt22/zh-en --human
  refract check jsonl:expanded.jsonl --checks duplicate --clean none --exact`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return k.run(cmd.Context(), e, args) },
	}
	k.input.register(cmd)
	k.checkFlags.register(cmd)
	k.result.registerPath(cmd)
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
	c, err := k.checker(args)
	if err != nil {
		return err
	}
	if c == nil {
		return usagef("--checks none leaves nothing to do; name a check or a cleaning step")
	}
	ds, err := k.dataset(e, args, k.result.path != "")
	if err != nil {
		return err
	}
	out, err := e.create(k.result.path)
	if err != nil {
		return err
	}
	counts := diversify.NewCounts(c, k.examples)
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
			counts.AddReferences(s)
			continue
		}
		judged := counts.AddVariants(s)
		if enc != nil {
			if err := enc.Encode(judged); err != nil {
				return err
			}
		}
	}
	switch {
	case counts.Answers == 0 && k.human:
		return errors.New("no segment has a second reference; --human compares the references that people wrote: " +
			"name them with --reference, or give several --ref files")
	case counts.Answers == 0:
		return errors.New("the dataset has no variant to check; name expanded references with --references")
	case k.result.path == "-":
		return k.table.whole(e.stderr, counts.Table(k.human))
	}
	return k.table.show(e, counts.Table(k.human))
}
