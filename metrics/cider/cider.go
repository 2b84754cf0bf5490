// Package cider computes CIDEr and CIDEr-D (Vedantam et al., 2015), from 0 to 10: the
// cosine of texts as vectors of n-grams, where an n-gram weighs more the fewer segments
// contain it. CIDEr-D has the numbers of pycocoevalcap 1.2, which calls it Cider.
//
// The score is 10 times the mean cosine over n-grams of 1 to 4 words. CIDEr-D counts an
// n-gram at most as often as the reference does, and multiplies by a Gaussian of the
// difference in length. With several references, the mean over them counts. The score of a
// system is the mean of its segments.
package cider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// penn is the name of the Penn Treebank's tokenizer.
const penn = "ptb"

// options of the metric. The zero options are those of CIDEr-D.
type options struct {
	Plain bool   // CIDEr as first published: no clipping, no penalty for length
	Split string // tokenizer: penn (default) or one of BLEU's, which gets the text in lower case
	// Frequencies weigh the n-grams; nil if the metric is still to be fitted.
	Frequencies *frequencies
	// Save, if not nil, is called with the frequencies of a fit.
	Save func(*frequencies) error
}

// metric is CIDEr with its options fixed. It is safe for concurrent use. It can score once
// it has frequencies, from its options or from Fit.
type metric struct {
	opt    options
	chosen bool   // whether an option set the tokenizer; otherwise a language may
	from   string // file of the frequencies, as a spec names it
}

var (
	_ metrics.Preparer        = (*metric)(nil)
	_ metrics.Fitter          = (*metric)(nil)
	_ metrics.Localized       = (*metric)(nil)
	_ metrics.Remarker        = (*metric)(nil)
	_ metrics.NativeWorkspace = (*workspace)(nil)
)

// newMetric returns the metric, or an error that names the option at fault.
func newMetric(o options) (*metric, error) {
	chosen := o.Split != ""
	o.Split = cmp.Or(o.Split, penn)
	if f := o.Frequencies; f != nil && f.split != o.Split {
		return nil, fmt.Errorf("cider: the frequencies were counted with tokenizer %s, not %s", f.split, o.Split)
	}
	return &metric{opt: o, chosen: chosen}, nil
}

func tokenizers() []string { return append([]string{penn}, token.Names()...) }

// Factories make CIDEr-D and CIDEr from specs.
func Factories() []metrics.Factory {
	var out []metrics.Factory
	for _, plain := range []bool{false, true} {
		f := metrics.Factory{
			Name:    "cider-d",
			Summary: "CIDEr-D, the Cider of pycocoevalcap 1.2",
			Source:  "Vedantam et al. (2015), CIDEr: Consensus-based Image Description Evaluation",
			Licence: "MIT",
			Options: []metrics.Option{
				{Key: "tokenize", Default: "by language, else ptb", Values: "ptb|none|13a|intl|zh|char", Signed: []string{"tok"}, Doc: "how texts are split into words; pycocoevalcap has only the first"},
				{Key: "df", Default: "the references scored", Values: "FILE", Doc: "in how many segments n-grams are", File: true},
				{Key: "save", Default: "none", Values: "FILE", Doc: "new file for them, which df takes", Saves: true},
			},
			New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
				o := options{Plain: plain, Split: v.Enum("tokenize", "", tokenizers()...)}
				from := v.String("df", "")
				if path := v.String("save", ""); path != "" {
					o.Save = func(f *frequencies) error { return saveFile(path, f) }
				}
				switch {
				case from != "" && o.Save != nil:
					return nil, errors.New("df reads the file that save writes: give only one of them")
				case from != "":
					var err error
					if o.Frequencies, err = readFile(from); err != nil {
						return nil, err
					}
				}
				m, err := newMetric(o)
				if err != nil {
					return nil, err
				}
				m.from = from
				return m, nil
			},
		}
		if plain {
			f.Name, f.Summary = "cider", "CIDEr as first published: no clipping, no penalty for length"
		}
		out = append(out, f)
	}
	return out
}

// Info describes the metric: needs references, higher is better, 0 to 10.
func (m *metric) Info() metrics.Info {
	name, kv := "cider-d", []string(nil)
	if m.opt.Plain {
		name = "cider"
	}
	if m.chosen && m.opt.Split != penn {
		kv = append(kv, "tokenize", m.opt.Split)
	}
	if m.from != "" {
		kv = append(kv, "df", m.from)
	}
	return metrics.Info{Name: metrics.Canonical(name, kv...), NeedsReferences: true, Direction: metrics.HigherIsBetter, Lower: 0, Upper: 10, Rule: "the mean over references"}
}

// Signature has the tokenizer, and the number of segments and the hash of the texts that
// gave the weights. It is the same at both levels.
func (m *metric) Signature(metrics.Level) metrics.Signature {
	kind, documents, df := "cider-d", "0", "none"
	if m.opt.Plain {
		kind = "cider"
	}
	if f := m.opt.Frequencies; f != nil {
		documents, df = strconv.Itoa(f.documents), f.name
	}
	return metrics.Signature{
		{Key: "kind", Value: kind},
		{Key: "case", Value: "lc"},
		{Key: "tok", Value: m.opt.Split},
		{Key: "docs", Value: documents},
		{Key: "df", Value: df},
	}
}

// Fitted reports whether the metric has frequencies.
func (m *metric) Fitted() bool { return m.opt.Frequencies != nil }

// Fit counts the segments that contain each n-gram. Segments without references do not
// count.
func (m *metric) Fit(ctx context.Context, references iter.Seq2[[]string, error]) (metrics.Metric, error) {
	f, err := count(ctx, m.opt.Split, references)
	if err != nil {
		return nil, err
	}
	if m.opt.Save != nil {
		if err := m.opt.Save(f); err != nil {
			return nil, err
		}
	}
	fitted := *m
	fitted.opt.Frequencies = f
	return &fitted, nil
}

// Score returns CIDEr of every pair of every block, or an error if the metric is not
// fitted.
func (m *metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	if !m.Fitted() {
		return nil, fmt.Errorf("%s is not fitted to the references of a dataset: fit it, or give it df=FILE", m.Info().Name)
	}
	return metrics.ScoreBlocks(ctx, m, blocks)
}

// newSplitter returns the tokenizer with a name. BLEU's get lower-cased text.
func newSplitter(name string) token.Splitter {
	if name == penn {
		return newPenn()
	}
	return token.New(name, true)
}

// InLanguage implements metrics.Localized. Frequencies counted before keep their tokenizer.
func (m *metric) InLanguage(code string) metrics.Metric {
	if m.chosen || m.Fitted() {
		return m
	}
	out := *m
	out.opt.Split = token.For(code, penn)
	return &out
}

// Remark implements metrics.Remarker.
func (m *metric) Remark(texts []string) string {
	return token.Remark(texts, newSplitter(m.opt.Split).Split, func(string) bool { return m.chosen })
}
