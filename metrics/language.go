package metrics

import (
	"slices"
	"strings"
)

// Localized is a Metric that tokenizes texts of some languages differently.
type Localized interface {
	Metric
	// InLanguage returns the metric for texts in a language, given by a code such as "zh".
	// Options set by the user take precedence. The name stays the same; the signature shows
	// the tokenizer.
	InLanguage(code string) Metric
}

// InLanguage returns a metric for texts in a language, given by a code such as "zh" or
// "zh_TW". If the language is not known (""), the metric is returned unchanged.
func InLanguage(m Metric, code string) Metric {
	l, ok := m.(Localized)
	if !ok || code == "" {
		return m
	}
	base, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(code), "_", "-"), "-")
	if slices.Contains([]string{"yue", "wuu", "nan", "hak", "lzh"}, base) { // these are written like Chinese
		base = "zh"
	}
	return l.InLanguage(base)
}

// Remarker is a Metric that may ignore much of a text, such as words in another script.
type Remarker interface {
	Metric
	// Remark says what the metric ignores in these texts, and what to do about it, without
	// naming the metric; "" if that is little.
	Remark(texts []string) string
}

// Remarks collects the remarks of metrics, each once with the names of all metrics that it
// concerns.
func Remarks(ms []Metric, texts []string) []string {
	var said []string
	names := map[string][]string{}
	for _, m := range ms {
		r, ok := m.(Remarker)
		if !ok {
			continue
		}
		name, remark := m.Info().Name, r.Remark(texts)
		switch {
		case remark == "" || slices.Contains(names[remark], name):
			continue
		case names[remark] == nil:
			said = append(said, remark)
		}
		names[remark] = append(names[remark], name)
	}
	for i, remark := range said {
		said[i] = strings.Join(names[remark], ", ") + ": " + remark
	}
	return said
}
