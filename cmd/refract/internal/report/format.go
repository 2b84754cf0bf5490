package report

import "github.com/refract-eval/refract/internal/english"

// Format is the name of a way to show a table, such as "jsonl".
type Format string

// The formats.
const (
	Table     Format = "table"    // for a terminal
	JSON      Format = "json"     // one array of objects, an object a line
	JSONLines Format = "jsonl"    // one object a line
	CSV       Format = "csv"      // with a header line
	TSV       Format = "tsv"      // with a header line
	Markdown  Format = "markdown" // a GitHub Flavored Markdown table
	LaTeX     Format = "latex"    // a tabular; needs the package booktabs
)

// Formats lists all formats, the default first.
func Formats() []Format {
	return []Format{Table, JSON, JSONLines, CSV, TSV, Markdown, LaTeX}
}

// ParseFormat returns the format of that name. The error for an unknown name
// lists the formats and suggests the nearest.
func ParseFormat(s string) (Format, error) {
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	i, err := english.Index("format", s, names)
	if err != nil {
		return "", err
	}
	return Formats()[i], nil
}

// Extension returns the extension of the format's files, such as ".md".
func (f Format) Extension() string {
	switch f {
	case Table:
		return ".txt"
	case JSONLines:
		return ".jsonl"
	case Markdown:
		return ".md"
	case LaTeX:
		return ".tex"
	}
	return "." + string(f)
}

// ForPeople reports whether the format rounds numbers and omits hidden columns.
func (f Format) ForPeople() bool { return f == Table || f == Markdown || f == LaTeX }
