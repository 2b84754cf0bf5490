package cider

import (
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

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
