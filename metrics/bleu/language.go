package bleu

import (
	"fmt"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// default13a is the tokenizer where neither an option nor a language says another one.
const default13a = "13a"

// ofLanguage are the tokenizers that sacreBLEU takes by the language of the references.
// Those by MeCab are not part of this program, and single characters stand for them.
var ofLanguage = map[string]struct{ sacreBLEU, here string }{
	"zh": {"zh", "zh"},
	"ja": {byMeCab[0], "char"},
	"ko": {byMeCab[1], "char"},
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
	if own := ofLanguage[m.language]; own.sacreBLEU != own.here {
		return fmt.Sprintf("sacreBLEU splits texts in %s by %s, which needs a dictionary that Refract does not have: here each character is a word (tok:%s); for sacreBLEU's own scores take 'exec:python3 sacrebleu_metric.py %s' (docs/reference/lexical.md)",
			m.language, own.sacreBLEU, own.here, own.sacreBLEU)
	}
	return token.Remark(texts, m.tokenizer().Split, func(code string) bool {
		_, byLanguage := ofLanguage[code]
		return m.chosen || !byLanguage
	})
}
