package ter

import (
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// eastAsian are the languages whose characters Tercom's rules separate.
var eastAsian = map[string]bool{"zh": true, "ja": true}

// InLanguage implements metrics.Localized: Asian takes effect with Normalized.
func (m *Metric) InLanguage(code string) metrics.Metric {
	if m.chosen || !eastAsian[code] {
		return m
	}
	out := *m
	out.options.Normalized, out.options.Asian = true, true
	return &out
}

// Remark implements metrics.Remarker.
func (m *Metric) Remark(texts []string) string {
	t := &tokenizer{Options: m.options}
	code, said := token.Unsplit(texts, func(s string, yield func([]byte)) { t.words(s, false, yield) })
	switch {
	case said == "":
		return ""
	case eastAsian[code]:
		return said + token.Advice(code, "normalized=yes,asian=yes", m.chosen)
	}
	return said + "chrf compares their characters"
}
