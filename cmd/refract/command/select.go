package command

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/selection"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/english"
)

// allOfThem stands for the largest number of variants that every segment has.
const allOfThem = -1

// parseCount reads a number of variants, or the word all.
func parseCount(s string) (int, error) {
	if s == listAll {
		return allOfThem, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, &unwantedError{strconv.Quote(s), "a number from 1, or all"}
	}
	return n, nil
}

// selectRun is one run of refract select.
type selectRun struct {
	data     input
	out      output
	vectors  embeddingFlags
	k        int
	selector selection.Selector
}

func (e *env) selectCommand() *cobra.Command {
	c := &selectRun{}
	cmd := e.newCommand(&cobra.Command{
		Use:   "select [DATASET]",
		Short: "Keep the variants that cover most",
		Long: `Keep -k variants of every segment.

The output is the dataset as JSON Lines; the other variants are moved to
"rejected" with the verdict "not selected". Variants without text are never kept.`,
		Example: `  refract select jsonl:expanded.jsonl -k 4 -o four.jsonl
  refract select jsonl:expanded.jsonl -k all --by random -o equal.jsonl`,
	}, cobra.MaximumNArgs(1), c.run)
	c.data.register(cmd)
	c.out.registerLines(cmd)
	flag := taskFlags.of(cmd)
	flag("count,k", valueOf(&c.k, "", parseCount), "variants of a segment to keep, or all: as many as every segment has", required("say how many variants of a segment to keep, or all"), shown, offers(listAll))
	flag("by", valueOf(&c.selector.Method, selection.ByFacility.String(), selection.ParseMethod), "order, random, farthest or facility", shown, offers(selection.MethodNames()...))
	flag("seed", plain(&c.selector.Seed, defaultSeed), "seed of random")
	flag("without-alarms", plain(&c.selector.WithoutAlarms, false), "keep no variant that may have changed the meaning, by the rules of 'refract check'", shown)
	c.vectors.register(cmd, "farthest and facility compare instead of n-grams")
	return cmd
}

func (r *selectRun) run(ctx context.Context, e *env, args []string) error {
	s := &r.selector
	if s.WithoutAlarms {
		_, s.Language = (&languageFlag{}).languages(args)
	}
	ds, err := r.data.dataset(e, args, true)
	if err != nil {
		return err
	}
	if r.k == allOfThem {
		if err := r.countAll(ctx, e, ds); err != nil {
			return err
		}
	}
	out, err := e.create(r.out.path)
	if err != nil {
		return err
	}
	var run *judging // nil unless vectors are compared
	if s.Method.Compares() {
		s.Similarity = selection.NGrams()
		var model *embeddings.Model
		if run, model, err = r.vectors.open(ctx, e); err != nil {
			return err
		}
		defer run.close()
		if model != nil {
			s.Similarity = selection.Vectors(model)
		}
	}
	sum, err := s.Stream(ctx, ds, r.k, dataset.NewEncoder(out).Encode)
	run.answered()
	run.done(ctx, err)
	if err != nil {
		return err
	}
	if sum.Variants == 0 && s.Method != selection.ByOrder { // --by order may be used just to convert a dataset to JSON Lines
		return e.noVariant("select", args)
	}
	e.note("%s: kept %d of %s by %s", english.Count(sum.Segments, "segment"), sum.Kept, english.Count(sum.Variants, "variant"), s)
	e.suggestNext(r.out.path, "publish", "jsonl:"+r.out.path, "--to", "parquet", "-o", "references")
	e.warnOf(sum.Short, "segments with fewer than %s to keep", english.Count(r.k, "variant"))
	return nil
}

// countAll reads the dataset once to find the number that -k all stands for.
func (r *selectRun) countAll(ctx context.Context, e *env, ds refract.Dataset) error {
	if !dataset.Rereadable(ds) {
		return usagef("-k all reads the dataset twice, and a pipe can be read once: write it to a file, or give a number")
	}
	yields, err := r.selector.Count(ctx, ds)
	if err != nil {
		return err
	}
	numbers := yields.Numbers()
	least := append(numbers, 0)[0]
	if n, named := yields.Below(max(1, least+1)); least == 0 {
		return fmt.Errorf("-k all: %s without any variant: %s; 'refract expand --complete N' expands until all have N",
			english.Count(n, "segment"), named)
	} else if len(numbers) > 1 {
		e.note("-k is %d, because of %s with no more: %s; without them it would be %d", least, english.Count(n, "segment"), named, numbers[1])
	} else {
		e.note("-k is %d, which every segment has", least)
	}
	r.k = least
	return nil
}
