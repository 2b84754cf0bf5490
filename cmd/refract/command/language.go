package command

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/diversify/language"
	"github.com/refract-eval/refract/metrics"
)

// languageFlag says in which languages a dataset is.
type languageFlag struct{ language string } // TARGET or SOURCE-TARGET

// languageSplits is what metrics do with the flag.
const languageSplits = ", by which metrics split texts into words, as sacreBLEU does"

// register adds the flag, with what it does, and what holds without it where the dataset
// does not tell either; words are values that name no language.
func (f *languageFlag) register(cmd *cobra.Command, does, otherwise string, words ...string) {
	codes := append(words, language.Codes()...)
	def := "the dataset's"
	if otherwise != "" {
		def += ", else " + otherwise
	}
	parsedFlag(cmd, &f.language, "language,l", "", func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		if s == "c" {
			return "", errors.New("sacreBLEU's -lc is -m bleu:lowercase here; -l names a language, as in -l de")
		}
		if _, _, err := dataset.Languages(s); err != nil {
			return "", err
		}
		return s, nil
	}, "language of the references, such as de, or en-de with that of the sources"+does+" (default "+def+")", codes...)
}

// languages are those of sources and references, as the flag or the dataset says.
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

// inLanguage makes metrics those of the language of the references.
func (s *scorer) inLanguage(ms []metrics.Metric) {
	for i := range ms {
		ms[i] = metrics.InLanguage(ms[i], s.target)
	}
}
