package command

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/metrics"
)

// languageFlag names the languages of a dataset.
type languageFlag struct{ language string } // TARGET or SOURCE-TARGET

// languageSplits says what metrics do with the language.
const languageSplits = ", by which metrics split texts into words, as sacreBLEU does"

// register adds the flag to a section: what it does, what holds if neither flag nor dataset name a
// language, and words that are values but no languages.
func (f *languageFlag) register(cmd *cobra.Command, in section, does, otherwise string, words ...string) {
	codes := append(words, language.Codes()...)
	def := "the dataset's"
	if otherwise != "" {
		def += ", else " + otherwise
	}
	facts := []fact{offers(codes...)}
	if in == taskFlags {
		facts = append(facts, shown)
	}
	in.of(cmd)("language,l", f.value(words...), "language of the references, such as de, or en-de with that of the sources"+does+" (default "+def+")", facts...)
}

// value reads the languages, or a word that names none.
func (f *languageFlag) value(words ...string) pflag.Value {
	return valueOf(&f.language, "", func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		if s == "c" {
			return "", errors.New("sacreBLEU's -lc is -m bleu:lowercase here; -l names a language, as in -l de")
		}
		_, _, err := dataset.Languages(s)
		return s, err
	})
}

// localize makes the metrics of the plan split texts as the language of the references
// needs. Unless the flag names it, all segments that state a language must go with it.
func (p *scorePlan) localize(ctx context.Context, ds refract.Dataset) refract.Dataset {
	var ms []metrics.Metric
	for _, set := range p.settings {
		ms = append(ms, set.Metric)
	}
	if !slices.ContainsFunc(ms, func(m metrics.Metric) bool { _, ok := m.(metrics.Localized); return ok }) {
		return ds
	}
	if p.scoring.language != "" || p.shard.shard == "" || !dataset.InRanges(ds) { // a shard reads no other for what it may state
		_, p.target = p.scoring.languages(p.args)
	}
	var first []*refract.Segment
	if p.target == "" {
		first, ds = dataset.Peek(ctx, ds)
	}
	l := dataset.Localize(ms, p.target, first, func(m string) { p.e.warn("%s", m) })
	p.target = l.Language
	for i := range p.settings {
		p.settings[i].Metric = l.Metrics[slices.Index(ms, p.settings[i].Metric)]
	}
	if p.scoring.language != "" {
		return ds
	}
	return l.All(ds)
}

// languages are the languages of sources and references, by the flag or else the
// dataset.
func (f *languageFlag) languages(args []string) (source, target string) {
	if len(args) > 0 {
		source, target = dataset.LanguagePair(args[0])
	}
	if f.language == "" || f.language == listNone {
		return source, target
	}
	from, to, _ := dataset.Languages(f.language) // which was read before
	return cmp.Or(from, source), to
}
