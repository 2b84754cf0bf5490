// Package sari computes SARI (Xu et al., 2016), which scores simplified text from 0 to 100 by
// the source and all references together.
//
// An n-gram of one to four words is added if the output has it and the source does not, kept
// if both have it, and deleted if only the source has it. Each operation has a precision, the
// share of what the output did that references did too, and a recall, the share of what the
// references did that the output did too. With r references, counts of the source and the
// output are multiplied by r, and those of the references summed, so each reference has one
// vote; additions count each n-gram once. SARI is the mean of the three operations.
//
// Published programs differ in how they average, so a metric has rules:
//
//	easse     EASSE's default: F1 of each n from pooled counts, then the mean over n
//	paper     EASSE's paper version: the mean of precisions and of recalls over n, then F1
//	hf        Hugging Face's evaluate: precision of keeping and deleting is the mean over
//	          distinct n-grams, and 0/0 is 1
//	original  SARI.py of the paper's authors: as hf, but recall of keeping is such a mean too,
//	          and 0/0 is 0
//
// easse and paper pool counts of a corpus; hf and original average its sentences. The last
// two score deletion by precision only, and take an empty text for one empty word.
package sari

import (
	"context"
	"fmt"
	"slices"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// The rules.
const (
	easse    = "easse"
	paper    = "paper"
	hf       = "hf"
	original = "original"
)

// metric is SARI with its options fixed. The score of a system is the mean of its sentences.
// It is safe for concurrent use.
type metric struct {
	rules    string
	deletion string // "f" for F1, or "p" for precision
	split    string // tokenizer
	chosen   bool   // whether an option set the tokenizer; otherwise a language may
	mixed    bool   // keep the case
}

// pooled is a metric whose score of a system comes from the counts of all its sentences.
type pooled struct{ metric }

var (
	_ metrics.CorpusDetail        = (*pooled)(nil)
	_ metrics.Localized           = (*metric)(nil)
	_ metrics.Remarker            = (*metric)(nil)
	_ metrics.NativeWorkspace     = (*workspace)(nil)
	_ metrics.StatisticsWorkspace = (*workspace)(nil)
)

// Factory makes the metric from a spec.
func Factory() metrics.Factory {
	return metrics.Factory{
		Name:    "sari",
		Summary: "SARI of simplified text, from its source and all references, as EASSE",
		Source:  "Xu et al. (2016), Optimizing Statistical Machine Translation for Text Simplification",
		Licence: "MIT",
		Options: []metrics.Option{
			{Key: "rules", Default: easse, Values: "easse|paper|hf|original", Doc: "how to average: EASSE's default, its paper version, Hugging Face's evaluate, or SARI.py"},
			{Key: "deletion", Default: "f, or p for hf and original", Values: "f|p", Signed: []string{"del"}, Doc: "score deletion by F1 or precision"},
			{Key: "tokenize", Default: "by language, else 13a, or none for original", Values: "none|13a|intl|zh|char", Signed: []string{"tok"}, Doc: "how texts are split into words"},
			{Key: "lowercase", Default: "yes", Values: "yes|no", Signed: []string{"case"}, Words: map[string]string{"lc": "yes", "mixed": "no"}, Doc: "ignore case"},
		},
		New: func(_ context.Context, v *metrics.Values) (metrics.Metric, error) {
			m := &metric{rules: v.Enum("rules", easse, easse, paper, hf, original), chosen: v.Has("tokenize"), mixed: !v.Bool("lowercase", true)}
			m.split = v.Enum("tokenize", m.defaultSplit(), token.Names()...)
			m.deletion = v.Enum("deletion", m.defaultDeletion(), "f", "p")
			if m.byTypes() && m.deletion == "f" {
				return nil, fmt.Errorf("rules=%s scores deletion by precision only: leave deletion=f out, or take rules=easse", m.rules)
			}
			return m.typed(), nil
		},
	}
}

// typed returns the metric as the type that its rules need.
func (m *metric) typed() metrics.Metric {
	if m.byTypes() {
		return m
	}
	return &pooled{*m}
}

// byTypes reports whether precision of keeping and deleting is a mean over distinct n-grams.
func (m *metric) byTypes() bool { return m.rules == hf || m.rules == original }

func (m *metric) defaultSplit() string {
	if m.rules == original {
		return "none"
	}
	return "13a"
}

func (m *metric) defaultDeletion() string {
	if m.byTypes() {
		return "p"
	}
	return "f"
}

// Info describes the metric: needs the source and references, higher is better, 0 to 100.
func (m *metric) Info() metrics.Info {
	split := m.defaultSplit()
	if m.chosen {
		split = m.split
	}
	name := metrics.Canonical("sari", slices.Concat(
		metrics.Given("rules", m.rules, easse),
		metrics.Given("deletion", m.deletion, m.defaultDeletion()),
		metrics.Given("tokenize", split, m.defaultSplit()),
		metrics.Given("lowercase", !m.mixed, true),
	)...)
	return metrics.Info{
		Name: name, NeedsSource: true, NeedsReferences: true, Direction: metrics.HigherIsBetter,
		Lower: 0, Upper: 100, Rule: "n-grams added, kept and deleted, against all references together",
	}
}

// Signature has all options; it is the same at both levels.
func (m *metric) Signature(metrics.Level) metrics.Signature {
	return metrics.Signature{metrics.Case(!m.mixed), {Key: "tok", Value: m.split}, {Key: "rules", Value: m.rules}, {Key: "del", Value: m.deletion}}
}

// InLanguage implements metrics.Localized.
func (m *metric) InLanguage(code string) metrics.Metric {
	out := *m
	if !m.chosen {
		out.split = token.For(code, m.defaultSplit())
	}
	return out.typed()
}

// Remark implements metrics.Remarker.
func (m *metric) Remark(texts []string) string {
	return token.Remark(texts, token.New(m.split, !m.mixed).Split, func(string) bool { return m.chosen })
}

// Score returns SARI of every pair of every block.
func (m *metric) Score(ctx context.Context, blocks []metrics.Block) ([]metrics.Scores, error) {
	return metrics.ScoreBlocks(ctx, m, blocks)
}

// The operations.
const (
	added = iota
	kept
	deleted
	operations
)

// longest is the number of words of the longest n-gram.
const longest = 4

// Statistics are the numerator and denominator of precision and of recall, for each n-gram
// order and operation.
const (
	perOperation = 4
	size         = longest * operations * perOperation
)

// place returns the position of an operation's statistics for n-grams of n+1 words.
func place(n, operation int) int { return (n*operations + operation) * perOperation }

// parts returns the scores of the operations, from 0 to 1.
func (m *metric) parts(statistics []float64) (parts [operations]float64) {
	for op := range parts {
		mean, precisions, recalls := 0.0, 0.0, 0.0
		for n := range longest {
			f := statistics[place(n, op):]
			precision, recall := m.ratio(f[0], f[1]), m.ratio(f[2], f[3])
			mean += m.part(op, precision, recall) / longest
			precisions, recalls = precisions+precision/longest, recalls+recall/longest
		}
		if parts[op] = mean; m.rules == paper {
			parts[op] = m.part(op, precisions, recalls)
		}
	}
	return parts
}

func (m *metric) ratio(good, all float64) float64 {
	switch {
	case all > 0:
		return good / all
	case m.rules == hf:
		return 1
	}
	return 0
}

// part returns the score of an operation.
func (m *metric) part(op int, precision, recall float64) float64 {
	switch {
	case op == deleted && m.deletion == "p":
		return precision
	case precision == 0 || recall == 0:
		return 0
	}
	return 2 * precision * recall / (precision + recall)
}

// score returns SARI from 0 to 100.
func (m *metric) score(statistics []float64) float64 {
	p := m.parts(statistics)
	return 100 * (p[added] + p[kept] + p[deleted]) / operations
}

// CorpusScore returns SARI of summed statistics.
func (m *pooled) CorpusScore(sum []float64) float64 { return m.score(sum) }

// CorpusDetail returns the scores of the operations.
func (m *pooled) CorpusDetail(sum []float64) string {
	p := m.parts(sum)
	return fmt.Sprintf("add = %.1f keep = %.1f delete = %.1f", 100*p[added], 100*p[kept], 100*p[deleted])
}
