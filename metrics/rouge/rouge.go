// Package rouge computes ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum (Lin, 2004)
// with the numbers of rouge-score 0.1.2: precision, recall or F1, from 0 to 1.
//
// A word is a run of the letters a to z and digits, in lower case. ROUGE-L
// takes a text as one sequence; ROUGE-Lsum takes each of its lines as one, and
// unites what the lines of the hypothesis have in common with a line of the
// reference. Against several references the one with the best F1 counts, the
// first of equally good ones. The score of a system is the mean of its
// sentence scores.
package rouge

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// Kind says what texts are to have in common.
type Kind string

// The kinds.
const (
	Words    Kind = "rouge1"
	Pairs    Kind = "rouge2"    // of neighbouring words
	Sequence Kind = "rougeL"    // of words, with gaps
	Lines    Kind = "rougeLsum" // sequences of their lines
)

// Part says which number is the score.
type Part string

// The parts.
const (
	F         Part = "f"
	Precision Part = "p"
	Recall    Part = "r"
)

// Own is the name of rouge-score's tokenizer.
const Own = "rouge"

// Options of the metric. The zero value of a field stands for its default.
type Options struct {
	Kind    Kind   // default Words
	Stemmer bool   // compare Porter's stems of words longer than three letters
	Part    Part   // default F
	Split   string // tokenizer: Own (default) or one of BLEU's, which gets the text in lower case
}

// Metric is ROUGE with its options fixed. It is safe for concurrent use.
type Metric struct {
	opt      Options
	wordless func() // tells of texts without a word
}

var (
	_ metrics.Preparer        = (*Metric)(nil)
	_ metrics.NativeWorkspace = (*workspace)(nil)
)

// New returns the metric, or an error that names the option at fault. warn, if
// not nil, is told once where a text has letters, but no word.
func New(o Options, warn func(message string)) (*Metric, error) {
	var err error
	choose(&o.Kind, &err, "kind", Words, Pairs, Sequence, Lines)
	choose(&o.Part, &err, "part", F, Precision, Recall)
	choose(&o.Split, &err, "tokenizer", tokenizers()...)
	if err != nil {
		return nil, err
	}
	m := &Metric{opt: o, wordless: func() {}}
	if warn != nil {
		m.wordless = sync.OnceFunc(func() {
			warn(fmt.Sprintf("%s: a text has letters, but no word of a to z and 0 to 9, and rouge-score knows no others: it scores 0; tokenize=zh, char or intl knows them", m.name()))
		})
	}
	return m, nil
}

// choose sets an option to the first of its values where it is not set, and
// complains of a value that is none of them.
func choose[T ~string](option *T, err *error, what string, values ...T) {
	if *option == "" {
		*option = values[0]
	}
	if !slices.Contains(values, *option) {
		*err = fmt.Errorf("rouge: unknown %s %q", what, *option)
	}
}

func tokenizers() []string { return append([]string{Own}, token.Names()...) }

// Factories make the metrics from specs, one of each kind. See New for warn.
func Factories(warn func(message string)) []metrics.Factory {
	var out []metrics.Factory
	for _, k := range []struct {
		kind    Kind
		summary string
	}{
		{Words, "ROUGE-1: common words, as rouge-score 0.1.2"},
		{Pairs, "ROUGE-2: common pairs of words"},
		{Sequence, "ROUGE-L: the longest common subsequence of words"},
		{Lines, "ROUGE-Lsum: common subsequences of lines, for summaries"},
	} {
		out = append(out, metrics.Factory{
			Name:    string(k.kind),
			Summary: k.summary,
			Source:  "Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",
			Licence: "MIT",
			Options: []metrics.Option{
				{Key: "stemmer", Default: "no", Values: "yes|no", Doc: "compare Porter's stems, as NLTK finds them"},
				{Key: "part", Default: "f", Values: "f|p|r", Doc: "F1, precision or recall"},
				{Key: "tokenize", Default: Own, Values: "rouge|none|13a|intl|zh|char", Doc: "how texts are split into words; rouge-score has the first alone"},
			},
			New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
				return New(Options{
					Kind:    k.kind,
					Stemmer: v.Bool("stemmer", false),
					Part:    Part(v.Enum("part", string(F), string(F), string(Precision), string(Recall))),
					Split:   v.Enum("tokenize", Own, tokenizers()...),
				}, warn)
			},
		})
	}
	return out
}

func (m *Metric) name() string {
	var kv []string
	if m.opt.Stemmer {
		kv = append(kv, "stemmer", "yes")
	}
	if m.opt.Part != F {
		kv = append(kv, "part", string(m.opt.Part))
	}
	if m.opt.Split != Own {
		kv = append(kv, "tokenize", m.opt.Split)
	}
	return metrics.Canonical(string(m.opt.Kind), kv...)
}

// Info describes the metric: needs references, higher is better, 0 to 1.
func (m *Metric) Info() metrics.Info {
	return metrics.Info{Name: m.name(), NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: 0, Upper: 1}
}

// Signature has all options; it is the same at both levels.
func (m *Metric) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{
		{Key: "kind", Value: string(m.opt.Kind)},
		{Key: "case", Value: "lc"},
		{Key: "tok", Value: m.opt.Split},
		{Key: "stem", Value: metrics.YesNo(m.opt.Stemmer)},
		{Key: "part", Value: string(m.opt.Part)},
	}
}

// Score returns ROUGE of every pair of every block.
func (m *Metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return metrics.ScoreBlocks(ctx, m, blocks)
}
