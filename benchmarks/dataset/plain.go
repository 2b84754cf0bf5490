package dataset

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// A role is what the lines of a text file are.
type role int

const (
	formatted role = iota // or the user says that they are texts
	texts                 // sources or references
	outputs
)

var (
	beginsJSON  = regexp.MustCompile(`^\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|[\r\n])|\[\s*(?:\{|[\r\n]))`)
	columnTitle = regexp.MustCompile(`^[\pL_][\pL\pN_.:-]*$`)
	// numbered matches the first value of a row that begins with an id.
	numbered = regexp.MustCompile(`^"?[\pL_.:-]{0,20}\d[\w.:-]*"?(?:\t|[,;][^ ])`)
)

// The kinds of tables.
const (
	isJSON     = "JSON"
	isTable    = "a table"
	isUntitled = "a table without names of its columns"
	isLists    = "lists of texts, as Div-Ref's"
	isParquet  = "Parquet"
)

// table reports what kind of table a file is, by its name or its beginning; "" if each line
// may be a text.
func (in *input) table(begin []byte) string {
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	lines := strings.Split(string(begin), "\n")
	first := strings.TrimRight(lines[0], "\r")
	ext := ending(in.name)
	list, err := parseList(first, refract.Position{})
	switch {
	case beginsJSON.Match(begin), slices.Contains([]string{".jsonl", ".ndjson", ".json"}, ext):
		return isJSON
	case isHeader(first):
		return isTable
	case isRows(lines[:len(lines)-1]):
		return isUntitled
	case slices.Contains(tableEndings, ext):
		return isTable
	case err == nil && len(list) > 1:
		return isLists
	}
	return ""
}

// isHeader reports whether a line names columns, one of them by a usual name.
func isHeader(line string) bool {
	usual := 0
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' || r == ',' || r == ';' })
	for _, f := range fields {
		f = strings.Trim(f, `"`)
		if !columnTitle.MatchString(f) {
			return false
		}
		if o, _ := optionOf(f); o != "" {
			usual++
		}
	}
	return len(fields) > 1 && usual > 0
}

// isRows reports whether lines look like a table without names of columns: all begin with
// another id, or have as many tabs.
func isRows(lines []string) bool {
	lines = lines[:min(len(lines), 50)]
	ids, tabs := map[string]bool{}, true
	for _, line := range lines {
		if id := numbered.FindString(line); id != "" {
			ids[id[:len(id)-1]] = true
		}
		tabs = tabs && strings.Contains(line, "\t") && strings.Count(line, "\t") == strings.Count(lines[0], "\t")
	}
	return len(lines) > 2 && (tabs || len(ids) == len(lines))
}

// notText is the error for a table where a text a line is wanted. It shows how to read it.
func (in *input) notText(kind string, begin []byte) error {
	named, columns := in.name, []string(nil)
	switch {
	case !in.stream && slices.Contains(tableEndings, ending(in.name)):
		columns, _ = (&tableSpec{path: in.name, quotes: true}).known()
	case kind == isJSON:
		line, _, _ := bytes.Cut(begin, []byte("\n"))
		var object map[string]any
		if json.Unmarshal(line, &object) == nil {
			columns = slices.Sorted(maps.Keys(object))
		}
		named = strings.TrimSuffix(in.name, filepath.Ext(in.name)) + ".jsonl"
	default:
		named = strings.TrimSuffix(in.name, filepath.Ext(in.name)) + ".csv"
	}
	name := in.name
	if in.stdin != nil {
		name, named = "-", "FILE"+filepath.Ext(named)
	}
	how := "read it as the dataset " + suggestTable(named, columns)
	if in.role == outputs {
		column := "COLUMN"
		for _, c := range columns {
			if o, _ := optionOf(c); o == "output" || o == "" && column == "COLUMN" {
				column = c
			}
		}
		how = fmt.Sprintf("give the column of the texts, as in %s:%s", text.Path(named), text.Visible(column))
		if columns != nil {
			how += "; there are " + quotedNames(columns)
		}
	}
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	var own record
	switch {
	case kind == isJSON && in.role != outputs && json.Unmarshal(line, &own, jsonline.Strict) == nil && own.References != nil:
		how = "read it as the dataset jsonl:" + text.Path(name)
	case kind == isLists:
		how = "they are read by --references div-ref:" + text.Path(in.name)
	case kind == isUntitled:
		how = "add a first row with names, as in id,text, and then the column, as in " + text.Path(named) + ":text"
	case named != in.name:
		how = "store it as a table, and " + how
	}
	return fmt.Errorf("the file is %s, where a text a line is wanted: %s; if each line is a text as it stands, write %s%s", kind, how, plainPrefix, text.Path(name))
}
