package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/diversity"
	"github.com/refract-eval/refract/internal/report"
)

// diverser is one run of refract diversity.
type diverser struct {
	input
	output
	embeddingFlags
	bootstrapFlags
	measures  []string
	originals bool
}

func (e *env) diversityCommand() *cobra.Command {
	d := &diverser{}
	cmd := &cobra.Command{
		Use:   "diversity SET [SET…]",
		Short: "Measure how different the variants of references are",
		Long: `Measure how different the variants of each segment are from each other, and
average over segments. Several sets are shown side by side, with the difference
to the first one over the segments that both have: several DATASETs, or one
DATASET with several --references, each of which is a set.

semantic, the paper's measure, is the mean cosine distance between the vectors
of all pairs; it needs --embeddings. self-METRIC is the mean score of each text
against all others, by the metric's own rule for several references, such as
self-bleu or self-bleu:tokenize=zh; lower is more diverse. distinct-N is the
share of word n-grams that are distinct. Segments with fewer than two texts have
no diversity, and are counted.`,
		Example: `  refract diversity jsonl:expanded.jsonl
  refract diversity mtme:data/wmt22/zh-en --references div-ref:zh-en.ten --references jsonl:plain.jsonl
  refract diversity jsonl:a.jsonl jsonl:b.jsonl --embeddings text-embedding-3-small`,
		Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), e, args) },
	}
	d.input.register(cmd)
	d.embeddingFlags.register(cmd)
	d.output.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&d.measures, "measure", nil, "semantic, self-METRIC[:OPTION=VALUE,…] or distinct-N (repeatable; default all that need no server, and semantic with --embeddings)")
	f.BoolVar(&d.originals, "originals", false, "measure the original references too")
	d.bootstrapFlags.register(cmd, "seed of the resampling")
	complete(cmd, "measure", "semantic", "self-bleu", "self-chrf", "distinct-1", "distinct-2")
	return cmd
}

// namedSet is a dataset and what a row calls it.
type namedSet struct {
	name string
	refract.Dataset
}

func (d *diverser) run(ctx context.Context, e *env, args []string) error {
	defer d.embeddingFlags.close()
	embedder, err := d.embedder(ctx, e)
	if err != nil {
		return err
	}
	measures, err := d.parseMeasures(ctx, e, embedder)
	if err != nil {
		return err
	}
	sets, err := d.sets(e, args)
	if err != nil {
		return err
	}
	out, err := e.create(d.path)
	if err != nil {
		return err
	}
	ends := func(means []float64) (low, high float64) {
		interval := correlate.Percentiles(means, d.confidence)
		return interval.Low, interval.High
	}
	o := diversity.Options{Originals: d.originals, Bootstrap: diversity.Bootstrap{Resamples: d.bootstrap, Seed: d.seed, Ends: ends}}
	results := make([]*diversity.Set, len(sets))
	for i, s := range sets {
		if results[i], err = diversity.Of(ctx, s, measures, o); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		results[i].Name = s.name
	}
	t, err := diversity.Table(ctx, results, o.Bootstrap)
	if err != nil {
		return err
	}
	texts := "variants alone"
	if d.originals {
		texts = "originals and variants"
	}
	t.Note("texts: %s; segments: those with two texts or more; few: those with fewer", texts)
	if d.model != "" {
		t.Note("semantic: mean cosine distance between vectors of %s", d.model)
	}
	if len(sets) > 1 {
		t.Note("difference: to the first set, over the segments that both have")
	}
	d.explain(t, "segment", "")
	return d.whole(out, t)
}

// parseMeasures makes the measures. embedder is nil where no model is named.
func (d *diverser) parseMeasures(ctx context.Context, e *env, embedder embeddings.Embedder) ([]diversity.Measure, error) {
	specs := d.measures
	if len(specs) == 0 {
		specs = []string{"self-bleu", "self-chrf", "distinct-1", "distinct-2"}
		if embedder != nil {
			specs = append([]string{"semantic"}, specs...)
		}
	}
	var measures []diversity.Measure
	seen := map[string]string{}
	for _, spec := range specs {
		if spec == "semantic" && embedder == nil {
			return nil, usagef("--measure semantic needs a model: name it with --embeddings")
		}
		m, err := diversity.ParseMeasure(ctx, spec, e.registry(), embedder)
		if err != nil {
			return nil, usagef("--measure: %w", err)
		}
		if other, twice := seen[m.Name()]; twice {
			return nil, usagef("--measure %q and %q are the same measure", other, spec)
		}
		seen[m.Name()] = spec
		measures = append(measures, m)
	}
	return measures, nil
}

// sets are the datasets to compare.
func (d *diverser) sets(e *env, args []string) (out []namedSet, err error) {
	if len(args) > 1 && len(d.references) > 0 {
		return nil, usagef("give several DATASETs, or one DATASET with several --references, not both")
	}
	stdin := 0
	add := func(name string, in input, args ...string) {
		for _, spec := range append(args, in.references...) {
			if spec == "jsonl:-" {
				stdin++
			}
		}
		if stdin > 1 {
			err = usagef("standard input can be read once; save it to a file to use it for several sets")
		}
		if err == nil {
			var ds refract.Dataset
			ds, err = in.dataset(e, args, false)
			out = append(out, namedSet{name, ds})
		}
	}
	for _, spec := range d.references {
		in := d.input
		in.references = []string{spec}
		add(spec, in, args...)
	}
	switch {
	case len(d.references) > 0:
	case len(args) == 0:
		add(strings.Join(d.refs, " "), d.input)
	default:
		for _, spec := range args {
			add(spec, d.input, spec)
		}
	}
	return out, err
}

// bootstrapFlags say how intervals come about.
type bootstrapFlags struct {
	bootstrap  int
	confidence float64
	seed       uint64
}

func (b *bootstrapFlags) register(cmd *cobra.Command, seed string) {
	f := cmd.Flags()
	f.IntVar(&b.bootstrap, "bootstrap", 1000, "resamples for confidence intervals; 0 for none")
	f.Float64Var(&b.confidence, "confidence", 0.95, "coverage of the intervals")
	f.Uint64Var(&b.seed, "seed", defaultSeed, seed)
	within(cmd, 0, correlate.MaxResamples, "bootstrap")
	isShare(cmd, "confidence")
}

// explain says below a table how its intervals came about.
func (b *bootstrapFlags) explain(t *report.NamedTable, by, more string) {
	if b.bootstrap > 0 {
		t.Note("ci: %g%% bootstrap over %ss, %d resamples, seed %d%s", 100*b.confidence, by, b.bootstrap, b.seed, more)
	}
}
