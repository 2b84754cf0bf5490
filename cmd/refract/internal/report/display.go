package report

import (
	"maps"
	"slices"
	"strings"
)

// displayed are the names of metrics and statistics as papers print them.
var displayed = map[string]string{
	"bleu": "BLEU", "chrf": "chrF", "chrf++": "chrF++", "ter": "TER", "rouge": "ROUGE", "cider": "CIDEr", "meteor": "METEOR", "sari": "SARI",
	"spice": "SPICE", "comet": "COMET", "bleurt": "BLEURT", "bertscore": "BERTScore", "metricx": "MetricX", "xcomet": "xCOMET",
	"kendall": "Kendall’s τ", "spearman": "Spearman’s ρ", "pearson": "Pearson’s r", "kendall-c": "Kendall’s τ-c",
	"accuracy": "pairwise accuracy", "soft-accuracy": "soft pairwise accuracy", "labels-saved": "labels saved",
}

// explained says in a sentence what each term means.
var explained = map[string]string{
	"Kendall’s τ":       "How often a metric and people put two outputs in the same order: 1 always, 0 as often as not, −1 never. It is τ-b, which allows for ties.",
	"Kendall’s τ-c":     "How often a metric and people put two outputs in the same order: 1 always, 0 as often as not, −1 never.",
	"Spearman’s ρ":      "How closely the ranks by a metric follow those by people: 1 the same order, 0 none in common, −1 the reverse.",
	"Pearson’s r":       "How closely the scores of a metric follow those of people along a line: 1 exactly, 0 not at all, −1 in reverse.",
	"pairwise accuracy": "The share of the pairs of systems that a metric puts in the order of people. With three systems there are three pairs, which tell nothing.",
	"labels saved":      "The share of human labels that a metric saves when a system’s mean judgement is estimated from few judged segments and the metric’s scores of all: 0 none, 0.5 half of them.",
	"flattened":         "All outputs of all segments are compared with each other, so that a hard segment counts against an easy one.",
	"by segment":        "Outputs are compared within their segment only; the value is the mean over segments.",
	"randomization":     "A permutation test: the scores of two settings change places at random, a whole document or segment at a time, and the p-value is how often chance gives as large a difference, either way.",
	"perm-both":         "A permutation test: the scores of two settings change places at random, and the p-value is how often chance gives as large a difference.",
	"bootstrap":         "Documents or segments are drawn again and again, with their judgements and scores, and the p-value is twice how often the difference has the other sign.",
	"Holm":              "The correction of p-values for the number of differences that are looked at together.",
}

// Display returns the name of a metric or statistic as papers print it, such as
// "chrF" for "chrf". Unknown names, and all after the first word, stay as they are.
func Display(name string) string {
	word := name
	if i := strings.IndexAny(name, " :,"); i >= 0 {
		word = name[:i]
	}
	if d, ok := displayed[word]; ok {
		return d + name[len(word):]
	}
	if kind, rest, ok := strings.Cut(word, "-"); ok && displayed[kind] != "" { // rouge-l, cider-d
		return displayed[kind] + "-" + strings.ToUpper(rest) + name[len(word):]
	}
	return name
}

// Explanations returns terms used in reports, each with a sentence that explains it, the
// longest term first.
func Explanations() []Fact {
	var out []Fact
	for _, name := range slices.Sorted(maps.Keys(explained)) {
		out = append(out, Fact{name, explained[name]})
	}
	slices.SortStableFunc(out, func(a, b Fact) int { return len(b.Name) - len(a.Name) })
	return out
}

// TrueMinus replaces the hyphen before a number by a minus sign. Hyphens within words
// stay.
func TrueMinus(s string) string {
	var b strings.Builder
	before := ' '
	for i, r := range s {
		if r == '-' && strings.ContainsRune(" [(>", before) && i+1 < len(s) && '0' <= s[i+1] && s[i+1] <= '9' {
			r = '−'
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
