package bleu

import (
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// default13a is the tokenizer if neither an option nor a language sets one.
const default13a = "13a"

// ofLanguage maps a language to the tokenizer that sacreBLEU uses for its references, and
// to ours. MeCab is not part of this program, so single characters are used instead; and
// for scripts without spaces, in which sacreBLEU's default finds no words.
var ofLanguage = map[string]struct{ sacreBLEU, here string }{
	"zh": {"zh", "zh"},
	"ja": {byMeCab[0], "char"},
	"ko": {byMeCab[1], "char"},
	"th": {default13a, "char"}, "lo": {default13a, "char"}, "km": {default13a, "char"}, "my": {default13a, "char"},
}

// InLanguage implements metrics.Localized, as sacreBLEU's -l does.
func (m *Metric) InLanguage(code string) metrics.Metric {
	own, ok := ofLanguage[code]
	if m.chosen || !ok {
		return m
	}
	out := *m
	out.opt.Tokenize, out.language = own.here, code
	return &out
}

// Remark implements metrics.Remarker.
func (m *Metric) Remark(texts []string) string {
	switch own := ofLanguage[m.language]; own.sacreBLEU {
	case own.here:
	case default13a:
		return fmt.Sprintf("sacreBLEU finds no words in texts in %s, which have no spaces between words: here each character is a word (tok:%s); for sacreBLEU's own scores use bleu:tokenize=%s", m.language, own.here, default13a)
	default:
		return fmt.Sprintf("sacreBLEU splits texts in %s by %s, which needs a dictionary that Refract does not have: here each character is a word (tok:%s); for sacreBLEU's own scores use 'exec:python3 sacrebleu_metric.py %s' (docs/reference/lexical.md)",
			m.language, own.sacreBLEU, own.here, own.sacreBLEU)
	}
	if m.opt.Tokenize != none && token.LookTokenized(texts) {
		return "most texts look tokenized already (words such as . , n't or @-@ stand apart), which changes the scores: give plain texts, or take tokenize=none"
	}
	return token.Remark(texts, m.splitter().Split, func(code string) bool {
		_, byLanguage := ofLanguage[code]
		return m.chosen || !byLanguage
	})
}
