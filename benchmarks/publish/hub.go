package publish

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/dustin/go-humanize"
	"github.com/goccy/go-yaml"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// FrontMatter is what the Hub reads of a dataset card.
type FrontMatter struct {
	Name       cardText     `yaml:"pretty_name,omitempty"`
	License    cardText     `yaml:"license"`
	Languages  []cardText   `yaml:"language,omitempty"`
	Tasks      []string     `yaml:"task_categories,omitempty"`
	Tags       []string     `yaml:"tags"`
	Categories []string     `yaml:"size_categories"`
	Configs    []cardConfig `yaml:"configs,omitempty"`
}

// cardConfig says which files the splits of a dataset are.
type cardConfig struct {
	Name   string  `yaml:"config_name"`
	Splits []Split `yaml:"data_files"`
}

// Split is a split of a dataset, and the path of its file.
type Split struct {
	Name string `yaml:"split"`
	Path string `yaml:"path"`
}

// NewFrontMatter describes a dataset of n rows. A name or a license may be unknown: "".
func NewFrontMatter(name, license string, n int, splits []Split, tags ...string) *FrontMatter {
	f := &FrontMatter{Name: cardText(name), License: cardText(license), Tags: append(tags, "refract"), Categories: []string{sizeCategory(n)}}
	if license == "" {
		f.License = "unknown"
	}
	if len(splits) > 0 {
		f.Configs = []cardConfig{{"default", splits}}
	}
	return f
}

// cardText is a text by the user, which YAML has in quotes: the library would write "---"
// without, and Python reads "no" as false.
type cardText string

// MarshalYAML writes the text as it can be seen, with JSON's escapes, which YAML shares.
func (t cardText) MarshalYAML() ([]byte, error) { return json.Marshal(text.Visible(string(t))) }

// SetLanguages sets the codes of the languages.
func (f *FrontMatter) SetLanguages(codes ...string) {
	for _, code := range codes {
		f.Languages = append(f.Languages, cardText(code))
	}
}

// String returns YAML.
func (f *FrontMatter) String() string {
	b, err := yaml.MarshalWithOptions(f, yaml.IndentSequence(true))
	if err != nil {
		panic(err) // impossible: texts always marshal
	}
	return string(b)
}

//go:embed licenses.txt
var licenses string

// License returns the identifier of a license if the Hub knows it, and otherwise an error
// with the nearest one.
func License(s string) (string, error) {
	known := strings.Fields(licenses)
	if slices.Contains(known, s) {
		return s, nil
	}
	near := english.Nearest(strings.Join(strings.Fields(s), "-"), known)
	if near != "" {
		near = fmt.Sprintf("; did you mean %q?", near)
	}
	return "", fmt.Errorf("the Hub has no license %q%s; hf.co/docs/hub/repositories-licenses lists them: write other for any other license, and state it in the card", s, near)
}

// FillCard fills in a template of a dataset card. Its functions make texts harmless in
// Markdown: inline, orFillIn and fenced. comma writes counts.
func FillCard(content string, data any) ([]byte, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"fenced": fenced, "comma": comma, "inline": inline, "orFillIn": orFillIn,
	}).Parse(content)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, data)
	return b.Bytes(), err
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

// markdownTable returns a table in Markdown, with its cells escaped.
func markdownTable(rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(&b, "| %s ", text.Markdown(cell))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
		}
	}
	return b.String()
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

// inline escapes a text for use within a line of Markdown.
func inline(s string) string {
	var b strings.Builder
	for _, c := range text.Visible(strings.ReplaceAll(s, "\n", " ")) {
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
	return inline(s)
}

// comma writes a number with commas between thousands.
func comma(n int) string { return humanize.Comma(int64(n)) }
