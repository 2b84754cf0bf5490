// Package chrf computes chrF (Popović, 2015) and chrF++ (Popović, 2017) of sentences and
// corpora, with the numbers of sacreBLEU 2.6.0.
//
// Precision and recall are averaged over the orders that both texts have, then combined
// into F-beta. With several references, the one with the best F counts, and a corpus pools
// its statistics.
package chrf

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
)

// Options of the metric.
type Options struct {
	CharOrder  int     // longest character n-gram, at most 64
	WordOrder  int     // longest word n-gram, at most 64; 2 makes chrF++
	Beta       float64 // weight of recall over precision
	Whitespace bool    // keep white space in character n-grams
	Lowercase  bool    // ignore case
	// Epsilon averages F over all orders, with a tiny value instead of 0, as chrF++.py, NLTK
	// and Moses do. Otherwise the effective order is used.
	Epsilon bool
}

// Defaults are the options of chrF.
func Defaults() Options { return Options{CharOrder: 6, Beta: 2} }

// Metric is chrF with its options fixed. It is safe for concurrent use.
type Metric struct {
	opt  Options
	info metrics.Info
}

var (
	_ metrics.CorpusMetric        = (*Metric)(nil)
	_ metrics.StatisticsWorkspace = (*workspace)(nil)
	_ metrics.NativeWorkspace     = (*workspace)(nil)
)

// Default returns chrF with its published settings, as sacreBLEU has them.
func Default() *Metric {
	m, _ := New(Defaults()) // which are valid
	return m
}

// New returns the metric, or an error that names the option at fault.
func New(o Options) (*Metric, error) {
	for _, n := range []int{o.CharOrder, o.WordOrder} {
		if n < 0 || n > ngram.MaxOrder {
			return nil, fmt.Errorf("chrf: order %d is not between 0 and %d", n, ngram.MaxOrder)
		}
	}
	if o.CharOrder+o.WordOrder == 0 {
		return nil, fmt.Errorf("chrf: character and word order are both 0, so there is nothing to count")
	}
	if !(o.Beta > 0) || math.IsInf(o.Beta*o.Beta, 0) {
		return nil, fmt.Errorf("chrf: beta %v is not a positive number with a finite square", o.Beta)
	}
	m := &Metric{opt: o}
	m.info = metrics.Info{
		Name:            m.name(),
		NeedsReferences: true,
		Direction:       metrics.HigherIsBetter,
		Lower:           0,
		Upper:           100,
		Rule:            "the best reference of each segment",
	}
	return m, nil
}

// Factory makes chrF from a spec.
func Factory() metrics.Factory {
	return factory("chrf", "chrF of sentences and corpora, as sacreBLEU 2.6.0", "Popović (2015), chrF: character n-gram F-score for automatic MT evaluation", 0)
}

// PlusPlusFactory makes chrF++, which is chrF with words up to bigrams.
func PlusPlusFactory() metrics.Factory {
	return factory("chrf++", "chrF++: chrF with word n-grams up to 2", "Popović (2017), chrF++: words helping character n-grams", 2)
}

func factory(name, summary, source string, wordOrder int) metrics.Factory {
	return metrics.Factory{
		Name:    name,
		Summary: summary,
		Source:  source,
		Licence: "MIT",
		Options: []metrics.Option{
			{Key: "char-order", Default: "6", Values: "0-64", Signed: []string{"nc"}, Doc: "longest character n-gram"},
			{Key: "word-order", Default: strconv.Itoa(wordOrder), Values: "0-64", Signed: []string{"nw"}, Doc: "longest word n-gram"},
			{Key: "beta", Default: "2", Values: "number", Doc: "weight of recall over precision"},
			{Key: "whitespace", Default: "no", Values: "yes|no", Signed: []string{"space", "s"}, Doc: "keep white space in character n-grams"},
			{Key: "lowercase", Default: "no", Values: "yes|no", Signed: []string{"case", "c"}, Words: map[string]string{"lc": "yes", "mixed": "no"}, Doc: "ignore case"},
			{Key: "eps", Default: "no", Values: "yes|no", Signed: []string{"eff", "e"}, Words: map[string]string{"yes": "no", "no": "yes"}, Doc: "epsilon smoothing instead of the effective order"},
		},
		New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
			return New(Options{
				CharOrder:  v.Int("char-order", 6, 0, ngram.MaxOrder),
				WordOrder:  v.Int("word-order", wordOrder, 0, ngram.MaxOrder),
				Beta:       v.Float("beta", 2, math.SmallestNonzeroFloat64, math.MaxFloat64),
				Whitespace: v.Bool("whitespace", false),
				Lowercase:  v.Bool("lowercase", false),
				Epsilon:    v.Bool("eps", false),
			})
		},
	}
}

func (m *Metric) name() string {
	o, name, words := m.opt, "chrf", 0
	if o.WordOrder == 2 {
		name, words = "chrf++", 2
	}
	return metrics.Canonical(name, slices.Concat(
		metrics.Given("char-order", o.CharOrder, 6),
		metrics.Given("word-order", o.WordOrder, words),
		metrics.Given("beta", o.Beta, 2),
		metrics.Given("whitespace", o.Whitespace, false),
		metrics.Given("lowercase", o.Lowercase, false),
		metrics.Given("eps", o.Epsilon, false),
	)...)
}

// Info describes the metric: needs references, higher is better, 0 to 100.
func (m *Metric) Info() metrics.Info { return m.info }

// Signature has sacreBLEU's settings, and beta if it is not 2: sacreBLEU writes it in the
// name of the metric.
func (m *Metric) Signature(metrics.Level) metrics.Signature {
	o := m.opt
	return metrics.Signature{
		metrics.Case(o.Lowercase),
		{Key: "eff", Value: metrics.YesNo(!o.Epsilon)},
		{Key: "nc", Value: strconv.Itoa(o.CharOrder)},
		{Key: "nw", Value: strconv.Itoa(o.WordOrder)},
		{Key: "space", Value: metrics.YesNo(o.Whitespace)},
	}.With(metrics.Given("beta", o.Beta, 2)...)
}

// Score returns sentence chrF of every pair of every block.
func (m *Metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return metrics.ScoreBlocks(ctx, m, blocks)
}

// CorpusScore returns chrF of statistics, summed over segments for a corpus: for each order
// the n-grams of the hypothesis, of the reference, and those matched.
func (m *Metric) CorpusScore(stats []float64) float64 {
	const eps = 1e-16
	factor := m.opt.Beta * m.opt.Beta
	if m.opt.Epsilon {
		score := 0.0
		for i := 0; i+2 < len(stats); i += 3 {
			prec, rec := eps, eps
			if stats[i] > 0 {
				prec = stats[i+2] / stats[i]
			}
			if stats[i+1] > 0 {
				rec = stats[i+2] / stats[i+1]
			}
			if denom := factor*prec + rec; denom > 0 {
				score += (1 + factor) * prec * rec / denom
			} else {
				score += eps
			}
		}
		return 100 * score / float64(len(stats)/3)
	}
	prec, rec, orders := 0.0, 0.0, 0.0
	for i := 0; i+2 < len(stats); i += 3 {
		if stats[i] > 0 && stats[i+1] > 0 {
			prec += stats[i+2] / stats[i]
			rec += stats[i+2] / stats[i+1]
			orders++
		}
	}
	if orders == 0 {
		return 0
	}
	prec /= orders
	rec /= orders
	if prec+rec == 0 {
		return 0
	}
	return 100 * ((1 + factor) * prec * rec / (factor*prec + rec))
}
