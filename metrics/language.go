package metrics

import (
	"slices"
	"strings"
)

// Localized is a Metric that splits texts of some languages into words in another way.
type Localized interface {
	Metric
	// InLanguage returns the metric for texts in a language, by a code such as "zh". What
	// the metric's options say goes first. The name stays, and the signature tells.
	InLanguage(code string) Metric
}

// InLanguage returns a metric for texts in a language, by a code such as "zh" or "zh_TW".
// "" stands for one that is not known: the metric stays as it is.
func InLanguage(m Metric, code string) Metric {
	l, ok := m.(Localized)
	if !ok || code == "" {
		return m
	}
	base, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(code), "_", "-"), "-")
	if slices.Contains([]string{"yue", "wuu", "nan", "hak", "lzh"}, base) { // are written as Chinese is
		base = "zh"
	}
	return l.InLanguage(base)
}

// Remarker is a Metric that may overlook much of a text.
type Remarker interface {
	Metric
	// Remark says what the metric overlooks in these texts, and what to do about it,
	// without its name; "" where that is little.
	Remark(texts []string) string
}

// Remarks are those of metrics and of their members, each once with the names of all
// that it is about.
func Remarks(ms []Metric, texts []string) []string {
	var said []string
	names := map[string][]string{}
	var ask func(m Metric)
	ask = func(m Metric) {
		if c, ok := m.(Composite); ok {
			for _, member := range c.Members() {
				ask(member)
			}
		}
		r, ok := m.(Remarker)
		if !ok {
			return
		}
		name, remark := m.Info().Name, r.Remark(texts)
		switch {
		case remark == "" || slices.Contains(names[remark], name):
			return
		case names[remark] == nil:
			said = append(said, remark)
		}
		names[remark] = append(names[remark], name)
	}
	for _, m := range ms {
		ask(m)
	}
	for i, remark := range said {
		said[i] = strings.Join(names[remark], ", ") + ": " + remark
	}
	return said
}
