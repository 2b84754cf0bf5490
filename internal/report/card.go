package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract/internal/text"
)

// FillCard fills in a template of a dataset card. Its functions make texts harmless:
// quoted in YAML; inline, orFillIn and fenced in Markdown. table shows a
// [NamedTable]; comma and sizeCategory write counts.
func FillCard(content string, data any) ([]byte, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"fenced": fenced, "comma": Comma, "inline": Inline, "orFillIn": orFillIn, "quoted": quoted, "sizeCategory": sizeCategory, "table": MarkdownTable,
	}).Parse(content)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
}

// quoted writes a text for YAML in double quotes, with JSON's escapes, which YAML shares,
// so that no text becomes a key.
func quoted(s string) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(Visible(s))
	return strings.TrimSuffix(b.String(), "\n"), err
}

// sizeCategory returns Hugging Face's name for a number of rows.
func sizeCategory(n int) string {
	switch {
	case n < 1_000:
		return "n<1K"
	case n < 10_000:
		return "1K<n<10K"
	case n < 100_000:
		return "10K<n<100K"
	case n < 1_000_000:
		return "100K<n<1M"
	}
	return "1M<n<10M"
}

// MarkdownTable returns a table in Markdown, with its cells escaped.
func MarkdownTable(t *NamedTable) (string, error) {
	var b strings.Builder
	err := t.Write(&b, Markdown, true)
	return b.String(), err
}

var backticks = regexp.MustCompile("`+")

// fenced puts a text into a fence that is longer than any in the text.
func fenced(kind, s string) string {
	fence := "```"
	for _, run := range backticks.FindAllString(s, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	return fmt.Sprintf("%s%s\n%s\n%s", fence, kind, text.VisibleLines(s), fence)
}

// Inline escapes a text for use within a line of Markdown.
func Inline(s string) string {
	var b strings.Builder
	for _, c := range Visible(strings.ReplaceAll(s, "\n", " ")) {
		if strings.ContainsRune("\\`*_{}[]<>()#+-.!|~&:@", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func orFillIn(s string) string {
	if s == "" {
		return "*to fill in*"
	}
	return Inline(s)
}

// Comma writes a number with commas between thousands.
func Comma(n int) string { return humanize.Comma(int64(n)) }
