// Package rouge computes ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum (Lin, 2004) with the
// numbers of rouge-score 0.1.2: precision, recall or F1, from 0 to 1.
//
// A word is a run of the letters a to z and digits, in lower case. ROUGE-L treats a text as
// one sequence. ROUGE-Lsum treats each line as one, and unites what the lines of the
// hypothesis have in common with a line of the reference. With several references, the one
// with the best F1 counts, the first of equally good ones. The score of a system is the
// mean of its sentence scores.
package rouge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// kind says which units are compared.
type kind string

// The kinds.
const (
	rouge1    kind = "rouge1"
	rouge2    kind = "rouge2"    // pairs of adjacent words
	rougeL    kind = "rougeL"    // longest common subsequence of words
	rougeLsum kind = "rougeLsum" // subsequences line by line
)

// part says which number is the score.
type part string

// The parts.
const (
	fMeasure  part = "f"
	precision part = "p"
	recall    part = "r"
)

// options of the metric. The zero value of a field stands for its default.
type options struct {
	Kind    kind   // default Words
	Stemmer bool   // compare Porter's stems of words longer than three letters
	Part    part   // default F
	Split   string // tokenizer: token.Rouge (default) or one of BLEU's, which gets the text in lower case
}

// metric is ROUGE with its options fixed. It is safe for concurrent use.
type metric struct {
	opt    options
	chosen bool // whether an option set the tokenizer; otherwise a language may
}

var (
	_ metrics.Preparer        = (*metric)(nil)
	_ metrics.Localized       = (*metric)(nil)
	_ metrics.Remarker        = (*metric)(nil)
	_ metrics.NativeWorkspace = (*workspace)(nil)
)

func newMetric(o options) *metric {
	m := &metric{opt: o, chosen: o.Split != ""}
	m.opt.Kind, m.opt.Part, m.opt.Split = cmp.Or(o.Kind, rouge1), cmp.Or(o.Part, fMeasure), cmp.Or(o.Split, token.Rouge)
	return m
}

func tokenizers() []string { return append([]string{token.Rouge}, token.Names()...) }

// Factories make the metrics from specs, one for each kind.
func Factories() []metrics.Factory {
	var out []metrics.Factory
	for _, k := range []struct {
		kind    kind
		summary string
	}{
		{rouge1, "ROUGE-1: common words, as rouge-score 0.1.2"},
		{rouge2, "ROUGE-2: common pairs of words"},
		{rougeL, "ROUGE-L: the longest common subsequence of words"},
		{rougeLsum, "ROUGE-Lsum: common subsequences of lines, for summaries"},
	} {
		out = append(out, metrics.Factory{
			Name:    string(k.kind),
			Summary: k.summary,
			Source:  "Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries",
			Licence: "MIT",
			Options: []metrics.Option{
				{Key: "stemmer", Default: "no", Values: "yes|no", Signed: []string{"stem"}, Doc: "compare Porter's stems, as NLTK finds them"},
				{Key: "part", Default: "f", Values: "f|p|r", Doc: "F1, precision or recall"},
				{Key: "tokenize", Default: "by language, else rouge", Values: "rouge|none|13a|intl|zh|char", Signed: []string{"tok"}, Doc: "how texts are split into words; rouge-score has only the first"},
			},
			New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
				return newMetric(options{
					Kind:    k.kind,
					Stemmer: v.Bool("stemmer", false),
					Part:    part(v.Enum("part", string(fMeasure), string(fMeasure), string(precision), string(recall))),
					Split:   v.Enum("tokenize", "", tokenizers()...),
				}), nil
			},
		})
	}
	return out
}

// Info describes the metric: needs references, higher is better, 0 to 1.
func (m *metric) Info() metrics.Info {
	split := token.Rouge
	if m.chosen {
		split = m.opt.Split
	}
	name := metrics.Canonical(string(m.opt.Kind), slices.Concat(
		metrics.Given("stemmer", m.opt.Stemmer, false),
		metrics.Given("part", m.opt.Part, fMeasure),
		metrics.Given("tokenize", split, token.Rouge),
	)...)
	return metrics.Info{Name: name, NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: 0, Upper: 1, Rule: "the best F1"}
}

// Signature has all options; it is the same at both levels.
func (m *metric) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{
		{Key: "kind", Value: string(m.opt.Kind)},
		{Key: "case", Value: "lc"},
		{Key: "tok", Value: m.opt.Split},
		{Key: "stem", Value: metrics.YesNo(m.opt.Stemmer)},
		{Key: "part", Value: string(m.opt.Part)},
	}
}

// Score returns ROUGE of every pair of every block.
func (m *metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return metrics.ScoreBlocks(ctx, m, blocks)
}

// overlooked is the share of letters other than a to z from which a remark is made. German
// and French have fewer.
const overlooked = 0.05

// InLanguage implements metrics.Localized: rouge-score finds no words in scripts without
// spaces.
func (m *metric) InLanguage(code string) metrics.Metric {
	if m.chosen {
		return m
	}
	out := *m
	out.opt.Split = token.For(code, token.Rouge)
	return &out
}

// Remark implements metrics.Remarker.
func (m *metric) Remark(texts []string) string {
	if m.opt.Split != token.Rouge {
		return token.Remark(texts, token.New(m.opt.Split, true).Split, func(string) bool { return m.chosen })
	}
	letters, read, unread := 0, 0, 0 // letters of all texts; unread counts texts without any word
	advice := "take tokenize=intl"
	for _, s := range texts {
		all, seen := 0, 0
		for _, r := range text.Lower(s) {
			switch {
			case 'a' <= r && r <= 'z':
				seen++
				all++
			case unicode.IsLetter(r):
				all++
			}
		}
		letters, read = letters+all, read+seen
		if all > 0 && seen == 0 {
			unread++
		}
		if code, _ := text.Unspaced(s); code != "" {
			advice = token.Advice(code, "tokenize="+token.For(code, ""), m.chosen)
		}
	}
	share := float64(letters-read) / float64(letters)
	if letters == 0 || share < overlooked && unread == 0 {
		return ""
	}
	return fmt.Sprintf("ROUGE reads only a–z and 0–9: it ignores %.3g %% of the letters of these texts; to have all read, %s", 100*share, advice)
}
