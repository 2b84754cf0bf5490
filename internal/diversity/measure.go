package diversity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/embeddings"
	"github.com/refract-eval/refract/internal/words"
	"github.com/refract-eval/refract/metrics"
)

// Measure gives one number per segment. Implementations are safe for
// concurrent use.
type Measure interface {
	Name() string
	// MoreIsHigher reports whether a higher number says more diversity.
	MoreIsHigher() bool
	// Score returns one number per segment. Each has two texts or more, none
	// of them blank. NaN says that the measure is not defined for a segment.
	Score(ctx context.Context, segments [][]string) ([]float64, error)
}

// ParseMeasure makes the measure of a spec: "semantic", which needs an
// embedder, "self-METRIC[:OPTION=VALUE,…]" with a metric of the registry, or
// "distinct-N".
func ParseMeasure(ctx context.Context, spec string, registry metrics.Registry, e embeddings.Embedder) (Measure, error) {
	if metric, ok := strings.CutPrefix(spec, "self-"); ok {
		m, err := registry.Parse(ctx, metric)
		if err != nil {
			return nil, err
		}
		return Self(m)
	}
	if digits, ok := strings.CutPrefix(spec, "distinct-"); ok {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: want distinct-N with N from 1", spec)
		}
		return Distinct(n), nil
	}
	if spec != "semantic" {
		return nil, fmt.Errorf("%q: want semantic, self-METRIC such as self-bleu, or distinct-N", spec)
	}
	if e == nil {
		return nil, errors.New("semantic needs a model for embeddings")
	}
	return Semantic(e), nil
}

// Semantic is the mean cosine distance over all pairs of texts, in [0, 2].
func Semantic(e embeddings.Embedder) Measure { return semantic{e} }

type semantic struct{ embedder embeddings.Embedder }

func (semantic) Name() string       { return "semantic" }
func (semantic) MoreIsHigher() bool { return true }

func (m semantic) Score(ctx context.Context, segments [][]string) ([]float64, error) {
	var all []string
	for _, texts := range segments {
		all = append(all, texts...)
	}
	vectors, err := m.embedder.Embed(ctx, all)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(segments))
	for i, texts := range segments {
		if out[i], err = embeddings.MeanDistance(vectors[:len(texts)]); err != nil {
			return nil, err
		}
		vectors = vectors[len(texts):]
	}
	return out, nil
}

// Self is the mean score of each text against all the others, by the metric's
// own rule for several references: BLEU counts an n-gram that any of the others
// has, chrF takes the nearest of the others. The numbers are in the metric's
// units, of single texts with the metric's sentence rules. The error is for a
// metric without such a rule.
func Self(m metrics.Metric) (Measure, error) {
	p, ok := m.(metrics.Preparer)
	if !ok || !metrics.HasNative(m) {
		return nil, fmt.Errorf("%s has no rule of its own for several references that needs no server or program, as self-%[1]s does", m.Info().Name)
	}
	if f, ok := m.(metrics.Fitter); ok && !f.Fitted() {
		return nil, fmt.Errorf("self-%s: the metric weighs words by the references of a dataset: fit it first, such as with its option df=FILE", m.Info().Name)
	}
	return self{p}, nil
}

type self struct{ metric metrics.Preparer }

func (m self) Name() string { return "self-" + m.metric.Info().Name }

// MoreIsHigher: where a high score is similarity, diversity is a low one.
func (m self) MoreIsHigher() bool { return m.metric.Info().Direction == metrics.LowerIsBetter }

func (m self) Score(ctx context.Context, segments [][]string) ([]float64, error) {
	w := m.metric.NewWorkspace().(metrics.NativeWorkspace)
	var score []float64
	var others []string
	out := make([]float64, len(segments))
	for i, texts := range segments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var sum float64
		for k, t := range texts {
			others = append(append(others[:0], texts[:k]...), texts[k+1:]...)
			w.Load(metrics.Block{Hypotheses: []string{t}, References: others})
			score = w.Native(score[:0])
			sum += score[0]
		}
		out[i] = sum / float64(len(texts))
	}
	return out, nil
}

// Distinct is the number of distinct word n-grams of a segment's texts over
// that of all of them, in (0, 1]: 1 where none is repeated. Words are in lower
// case and without punctuation, and single characters in scripts without
// spaces. A segment without any n-gram has none. n must be at least 1.
func Distinct(n int) Measure { return distinct(max(1, n)) }

type distinct int

func (n distinct) Name() string     { return fmt.Sprintf("distinct-%d", int(n)) }
func (distinct) MoreIsHigher() bool { return true }

func (n distinct) Score(ctx context.Context, segments [][]string) ([]float64, error) {
	seen := map[string]bool{}
	var in []string
	out := make([]float64, len(segments))
	for i, texts := range segments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(seen)
		total := 0
		for _, t := range texts {
			in = words.Append(in[:0], t)
			for k := 0; k+int(n) <= len(in); k++ {
				// No word has a line feed in it, so that no two n-grams are one.
				seen[strings.Join(in[k:k+int(n)], "\n")] = true
				total++
			}
		}
		out[i] = math.NaN()
		if total > 0 {
			out[i] = float64(len(seen)) / float64(total)
		}
	}
	return out, nil
}
