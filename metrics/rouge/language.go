package rouge

import (
	"fmt"
	"unicode"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/token"
)

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
