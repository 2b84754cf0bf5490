package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/selection"
)

// chooser is one run of refract select.
type chooser struct {
	input
	output
	embeddingFlags
	k    int
	by   selection.Method
	over string
	seed uint64
}

func (e *env) selectCommand() *cobra.Command {
	c := &chooser{}
	cmd := &cobra.Command{
		Use:   "select [DATASET]",
		Short: "Keep the variants that cover most",
		Long: `Keep -k variants of every segment, and write the dataset as JSON Lines. The
others are moved to "rejected", with the verdict "not selected". Variants
without text are never kept.`,
		Example: `  refract select jsonl:expanded.jsonl -k 4 -o four.jsonl
  refract select jsonl:expanded.jsonl -k 4 --over embeddings --embeddings text-embedding-3-small -o four.jsonl
  refract select mtme:data/wmt22/zh-en --references div-ref:zh-en.diversified -k 3 --by random --seed 7 -o three.jsonl`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), e, args) },
	}
	c.input.register(cmd)
	c.embeddingFlags.register(cmd)
	c.registerPath(cmd)
	f := cmd.Flags()
	f.IntVarP(&c.k, "count", "k", 0, "variants of a segment to keep (required)")
	parsedFlag(cmd, &c.by, "by", selection.ByFacility.String(), selection.ParseMethod, "order, random, farthest or facility", selection.MethodNames()...)
	f.StringVar(&c.over, "over", overNGrams, "what farthest and facility compare: ngrams or embeddings")
	f.Uint64Var(&c.seed, "seed", defaultSeed, "seed of random")
	oneOf(cmd, "over", overNGrams, overEmbeddings)
	return cmd
}

func (c *chooser) run(ctx context.Context, e *env, args []string) error {
	if c.k < 1 {
		return usagef("-k %d: say how many variants of a segment to keep, 1 or more", c.k)
	}
	s := &selection.Selector{Method: c.by, Seed: c.seed}
	if err := c.needs(c.over); err != nil {
		return err
	}
	ds, err := c.dataset(e, args, true)
	if err != nil {
		return err
	}
	out, err := e.create(c.path)
	if err != nil {
		return err
	}
	if c.by.Compares() {
		defer c.embeddingFlags.close()
		if s.Similarity, err = c.similarity(ctx, e, c.over); err != nil {
			return err
		}
	}
	sum, err := s.Stream(ctx, ds, c.k, dataset.NewEncoder(out).Encode)
	if err != nil {
		return err
	}
	e.note("%d segments: kept %d of %d variants by %s", sum.Segments, sum.Kept, sum.Variants, s)
	if sum.Short > 0 {
		e.warn("segments with fewer than %d variants to keep: %d", c.k, sum.Short)
	}
	return nil
}
