package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/selection"
)

// chooser is one run of refract select.
type chooser struct {
	input
	output
	embeddingFlags
	k    int
	by   string
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
	f.StringVar(&c.by, "by", "facility", "order, random, farthest or facility")
	f.StringVar(&c.over, "over", "ngrams", "what farthest and facility compare: ngrams or embeddings")
	f.Uint64Var(&c.seed, "seed", defaultSeed, "seed of random")
	complete(cmd, "by", selection.MethodNames()...)
	complete(cmd, "over", "ngrams", "embeddings")
	return cmd
}

// selectBatch is how many segments are compared at a time: enough texts for
// full calls to a model.
const selectBatch = 64

func (c *chooser) run(ctx context.Context, e *env, args []string) error {
	if c.k < 1 {
		return usagef("-k %d: say how many variants of a segment to keep, 1 or more", c.k)
	}
	method, err := selection.ParseMethod(c.by)
	if err != nil {
		return usagef("--by: %w", err)
	}
	s := &selection.Selector{Method: method, Seed: c.seed}
	if err := c.checkOver(c.over); err != nil {
		return err
	}
	ds, err := c.dataset(e, args, true)
	if err != nil {
		return err
	}
	out, err := c.output.open(e)
	if err != nil {
		return err
	}
	defer out.Abort()
	if method.Compares() {
		var done func()
		if s.Similarity, done, err = c.similarity(ctx, e, c.over); err != nil {
			return err
		}
		defer done()
	}
	sum, err := choose(ctx, ds, s, c.k, dataset.NewEncoder(out).Encode)
	if err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	e.note("%d segments: kept %d of %d variants by %s", sum.segments, sum.kept, sum.variants, s)
	if sum.short > 0 {
		e.warn("segments with fewer than %d variants to keep: %d", c.k, sum.short)
	}
	return nil
}

// checkOver checks what texts are to be compared by.
func (x *embeddingFlags) checkOver(over string) error {
	switch {
	case over != "ngrams" && over != "embeddings":
		return usagef("--over %q: want ngrams or embeddings", over)
	case over == "embeddings" && x.model == "":
		return usagef("--over embeddings needs a model: name it with --embeddings")
	}
	return nil
}

// similarity makes what --over names. done ends its use.
func (x *embeddingFlags) similarity(ctx context.Context, e *env, over string) (s selection.Similarity, done func(), err error) {
	if over == "ngrams" {
		return selection.NGrams(), func() {}, nil
	}
	m, err := x.openEmbedder(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	return selection.Vectors(m), m.close, nil
}

// chosen counts what a selection did.
type chosen struct {
	segments, variants, kept int
	short                    int // segments with fewer variants than were to be kept
}

// choose applies a selection to every segment and gives them on in order.
func choose(ctx context.Context, ds refract.Dataset, s *selection.Selector, k int, yield func(*refract.Segment) error) (chosen, error) {
	var sum chosen
	batch := make([]*refract.Segment, 0, selectBatch)
	flush := func() error {
		for _, seg := range batch {
			sum.segments++
			sum.variants += len(seg.Variants)
		}
		if err := s.Select(ctx, batch, k); err != nil {
			return fmt.Errorf("segments %q to %q: %w", batch[0].ID, batch[len(batch)-1].ID, err)
		}
		for _, seg := range batch {
			sum.kept += len(seg.Variants)
			if len(seg.Variants) < k {
				sum.short++
			}
			if err := yield(seg); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	for seg, err := range ds.Segments(ctx) {
		if err != nil {
			return sum, err
		}
		if batch = append(batch, seg); len(batch) == selectBatch {
			if err := flush(); err != nil {
				return sum, err
			}
		}
	}
	// A dataset may end without an error because the context did.
	if err := ctx.Err(); err != nil {
		return sum, err
	}
	if len(batch) > 0 {
		return sum, flush()
	}
	return sum, nil
}
