package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// tableRow is a row of a table, with the values of the requested columns.
type tableRow struct {
	pos     refract.Position
	values  []tableValue
	header  []string       // all columns of the table; nil for JSON, where rows may have different ones
	object  map[string]any // all values
	absent  []int          // which of the columns it lacks
	lacking int            // how many of the columns no row has had so far
	segment *refract.Segment
	// decimalComma says that a comma in a number can only be a decimal one.
	decimalComma bool
}

// tableValue is a text or a list of texts.
type tableValue struct {
	texts []refract.Text
	list  bool
}

func textValue(s string) tableValue {
	return tableValue{texts: []refract.Text{refract.NewText(s)}}
}

// one returns the text of a value that is not a list. A value without text is missing.
func (v tableValue) one() refract.Text {
	if len(v.texts) == 0 {
		return refract.Text{}
	}
	return v.texts[0]
}

// noNumber lists how pandas, R and Python write a missing number.
var noNumber = []string{"", "NA", "N/A", "NaN", "nan", "<NA>", "null", "None"}

// spreadsheetError matches a cell with an error, as spreadsheets export it in several
// languages, or with the escape of a carriage return.
var spreadsheetError = regexp.MustCompile(`^(?:#(?:NULL!|DIV/0!|(?:VALUE|WERT|VALEUR|VALOR)!|(?:REF|BEZUG)!|(?:NAME|NOM|NOMBRE)\?|(?:NUM|ZAHL|NOMBRE)!|N/A|NV|N/D|SPILL!|CALC!|FIELD!|BLOCKED!|UNKNOWN!|CONNECT!|BUSY!|ERROR!|GETTING_DATA)|Err:5\d\d)$|_x000D_`)

// What a table's option errors makes of such cells.
const (
	errorsMissing = "missing"
	errorsText    = "text"
)

// cell returns the text in a column of a row.
func (t *tableSpec) cell(r *tableRow, column int) (refract.Text, error) {
	value := r.values[column].one()
	switch {
	case r.values[column].list && len(r.values[column].texts) != 1: // one answer may stand in a list
		return refract.Text{}, fmt.Errorf("column %s holds a list; only references=COLUMN takes lists", text.Quote(t.columns[column]))
	case t.errors == errorsText || !strings.ContainsAny(value.Value, "#:_"):
		return value, nil
	}
	switch found := spreadsheetError.FindString(strings.TrimSpace(value.Value)); {
	case found == "":
		return value, nil
	case t.errors == errorsMissing:
		return refract.Text{}, nil
	default:
		return refract.Text{}, fmt.Errorf("column %s has %s, which a spreadsheet leaves for an error or a line break: mend the cell, or add errors=%s to a table: to have such texts missing, or errors=%s to take them as they stand",
			text.Quote(t.columns[column]), found, errorsMissing, errorsText)
	}
}

// ofComma matches a number with a decimal comma, and thousands one that may have a
// separator of thousands instead.
var (
	ofComma   = regexp.MustCompile(`^[+-]?\d+,\d+(?:[eE][+-]?\d+)?$`)
	thousands = regexp.MustCompile(`^[+-]?[1-9]\d{0,2},\d{3}$`)
)

// number reads a score. An empty field, or a value in noNumber, is no score.
func number(t refract.Text, column string, decimalComma bool) (value float64, valid bool, err error) {
	field := strings.TrimSpace(t.Value)
	if !t.Valid || slices.Contains(noNumber, field) {
		return 0, false, nil
	}
	if ofComma.MatchString(field) {
		if !decimalComma && thousands.MatchString(field) {
			return 0, false, fmt.Errorf("column %s is %s, which may be a number with a decimal comma or thousands; write it with a point", text.Quote(column), text.Quote(field))
		}
		field = strings.Replace(field, ",", ".", 1)
	}
	value, valid, ok := parseScore([]byte(field))
	if !ok {
		return 0, false, fmt.Errorf("column %s is %s; want a number, or nothing if there is no score", text.Quote(column), text.Quote(field))
	}
	return value, valid, nil
}

// wantRecords says how pandas writes a table that can be read.
const wantRecords = `pandas's to_json() writes rows with orient="records"`

// noColumn is the error for a column that a table lacks.
func (t *tableSpec) noColumn(file, name string, known []string) error {
	hint := didYouMean(name, known)
	if slices.Contains(known, "columns") && slices.Contains(known, "data") || slices.ContainsFunc(known, func(c string) bool { return strings.HasPrefix(c, "0.") }) {
		hint += "; " + wantRecords
	}
	return failFile(file, "there is no column %s%s; there are %s%s", text.Quote(name), hint, quotedNames(known), t.wanted)
}

// may reports whether the table may lack a column.
func (t *tableSpec) may(name string) bool { return slices.Contains(t.optional, name) }

// eachSeparated reads values separated by commas, semicolons or tabs, whichever is most
// frequent in the first row; a file .tsv has tabs. An empty value is missing, because such
// tables cannot distinguish it from an empty text. Carriage returns and a byte order mark
// are usual here and no reason for a warning.
func (t *tableSpec) eachSeparated(_ func(Warning), prepare, read func(*tableRow) error) error {
	in, err := newRegular(t.path)
	if err != nil {
		return err
	}
	file, err := in.open(context.Background())
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := newSeparated(t, file)
	if err != nil {
		return &Error{Pos: refract.Position{File: t.path, Line: 1}, Err: err}
	}
	header, _, err := rows.next()
	if err == io.EOF {
		return failFile(t.path, "is empty; the first row must name the columns")
	}
	if err != nil {
		return err
	}
	for i, name := range header {
		if t.published && name != "" {
			header[i] = fromCSVCell(name)
		}
	}
	for _, name := range t.columns {
		i := slices.Index(header, name)
		if i < 0 && !t.may(name) {
			return t.noColumn(t.path, name, header)
		}
		if slices.Contains(header[i+1:], name) {
			return failAt(refract.Position{File: t.path, Line: 1}, 0, "two columns are named %s", text.Quote(name))
		}
	}
	decode := func(c *chunk[[]string], i int) (*tableRow, error) {
		fields := c.items[i]
		r := &tableRow{pos: refract.Position{File: t.path, Line: c.numbers[i]}, header: header, decimalComma: rows.comma == ';'}
		if len(fields) != len(header) {
			return nil, failAt(r.pos, 0, "the row has %s, but the first row names %d", english.Count(len(fields), "column"), len(header))
		}
		object := make(map[string]any, len(header))
		for i, name := range header {
			switch value := fields[i]; {
			case value == "":
				object[name] = nil
			case t.published:
				object[name] = fromCSVCell(value)
			default:
				object[name] = value
			}
		}
		return r, t.take(r, object, prepare)
	}
	return inOrder(context.Background(), rows.add, decode, nil, read)
}

// add adds the next row to a chunk.
func (s *separated) add(_ context.Context, c *chunk[[]string]) error {
	fields, line, err := s.next()
	if err != nil {
		return err
	}
	bytes := 16 * len(fields)
	for _, f := range fields {
		bytes += len(f)
	}
	c.add(fields, line, bytes)
	return nil
}

// extra returns the kept columns of a row as a JSON object, in the order of their names; ""
// for none.
func (t *tableSpec) extra(r *tableRow) string {
	kept := map[string]any{}
	if len(t.keep) == 0 {
		return ""
	}
	for name, value := range r.object {
		used := slices.ContainsFunc(t.columns, func(c string) bool { return c == name || strings.HasPrefix(c, name+".") })
		if slices.Contains(t.keep, name) || !used && slices.Contains(t.keep, keepAll) {
			kept[name] = value
		}
	}
	if len(kept) == 0 {
		return ""
	}
	b, err := json.Marshal(kept, json.Deterministic(true), asRead)
	if err != nil {
		panic(err) // impossible: a row is what JSON or Parquet can hold
	}
	return string(b)
}

// asRead writes numbers as they were written, and what Parquet has and JSON has not.
var asRead = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(e *jsontext.Encoder, n literal) error { return e.WriteValue(jsontext.Value(n)) }),
	json.MarshalToFunc(func(e *jsontext.Encoder, b []byte) error {
		return e.WriteToken(jsontext.String(strings.ToValidUTF8(string(b), "\ufffd")))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, f float64) error {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return e.WriteToken(jsontext.Null)
		}
		return e.WriteToken(jsontext.Float(f))
	}),
))

// separated reads the rows of a table with separators.
type separated struct {
	t     *tableSpec
	comma rune
	in    *bounded
	csv   *csv.Reader
	lines *lineReader // instead, if quotes have no meaning
	head  int         // lines before the header
	last  int         // line of the row before
}

// newSeparated finds the separator in the first line, which may be one such as "sep=;", that
// tells spreadsheets the separator.
func newSeparated(t *tableSpec, file io.Reader) (*separated, error) {
	b := bufio.NewReaderSize(file, lineBuffer)
	begin, err := b.Peek(lineBuffer)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.HasPrefix(begin, []byte("\ufeff")) {
		begin = begin[len("\ufeff"):]
		b.Discard(len("\ufeff"))
	}
	first, _, _ := bytes.Cut(begin, []byte("\n"))
	s := &separated{t: t, comma: '\t'}
	if ending(t.path) != ".tsv" {
		s.comma = ','
		for _, c := range ";\t" {
			if bytes.Count(first, []byte(string(c))) > bytes.Count(first, []byte(string(s.comma))) {
				s.comma = c
			}
		}
	}
	named, ok := strings.CutPrefix(strings.Trim(string(first), "\"\r"), "sep=")
	if comma, size := utf8.DecodeRuneInString(named); ok && size > 0 && size == len(named) && comma != '"' {
		s.comma, s.head = comma, 1
		b.Discard(min(len(first)+1, len(begin)))
	}
	s.in = &bounded{b, maxLine}
	s.lines = newLineReader(&input{name: t.path}, b, func(Warning) {})
	s.csv = csv.NewReader(s.in)
	s.csv.Comma, s.csv.FieldsPerRecord = s.comma, -1
	return s, nil
}

// next returns a row and its line.
func (s *separated) next() ([]string, int, error) {
	if !s.t.quotes {
		line, err := s.lines.next()
		return strings.Split(string(line), string(s.comma)), s.lines.line + s.head, err
	}
	s.in.left = maxLine
	fields, err := s.csv.Read()
	fail := func(line, column int, format string, args ...any) ([]string, int, error) {
		return nil, 0, failAt(refract.Position{File: s.t.path, Line: line + s.head}, column, format, args...)
	}
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, errTooLong):
		return fail(s.last+1, 0, "the row that begins here has more than %d MiB, as if a quote were not closed; where quotes are letters like others, add quotes=none", maxLine>>20)
	case errors.As(err, &wrong):
		return fail(wrong.Line, wrong.Column, "bad table: %w; where quotes are letters like others, add quotes=none", wrong.Err)
	case err == io.EOF:
		return nil, 0, err
	case err != nil:
		return fail(s.last+1, 0, "%w", err)
	}
	for i, f := range fields {
		if !utf8.ValidString(f) {
			line, column := s.csv.FieldPos(i)
			return fail(line, 0, "invalid UTF-8 at byte %d of the line; store the file as UTF-8", column+invalidByte([]byte(f)))
		}
	}
	s.last, _ = s.csv.FieldPos(0)
	return fields, s.last + s.head, nil
}

// parseList parses a list in JSON, or as Python (and pandas) writes it.
func parseList(field string, pos refract.Position) ([]refract.Text, error) {
	var list []any
	if json.Unmarshal([]byte(field), &list, literalNumbers) == nil {
		v, err := tableText(list, nil)
		return v.texts, err
	}
	return (&pyList{s: field, pos: pos, gaps: true}).list()
}

// isQuotedList reports whether a text is a list of quoted texts, as pandas writes one in a
// cell.
func isQuotedList(field string, pos refract.Position) bool {
	if !strings.HasPrefix(field, `["`) && !strings.HasPrefix(field, "['") {
		return false
	}
	list, err := parseList(field, pos)
	return err == nil && len(list) > 0
}

// eachJSON reads one object a line, or the objects of an array. A row may lack a column that another has.
func (t *tableSpec) eachJSON(warn func(Warning), prepare, read func(*tableRow) error) error {
	var lacking []int // columns that no row has had so far
	for i, name := range t.columns {
		if !t.may(name) {
			lacking = append(lacking, i)
		}
	}
	in, err := newRegular(t.path)
	if err != nil {
		return err
	}
	in.objects = true
	decode := func(line []byte, pos refract.Position) (*tableRow, error) {
		if blank(line) {
			return nil, nil
		}
		var object map[string]any
		if err := json.Unmarshal(line, &object, literalNumbers); err != nil {
			return nil, placed(jsonline.Explain(err, "a row"), pos)
		}
		r := &tableRow{pos: pos}
		return r, t.take(r, object, prepare)
	}
	err = decodeLines(context.Background(), in, warn, decode, func(r *tableRow) error {
		if r == nil {
			return nil
		}
		lacking = slices.DeleteFunc(lacking, func(i int) bool { return !slices.Contains(r.absent, i) })
		r.lacking = len(lacking)
		return read(r)
	})
	if err == nil && len(lacking) > 0 {
		known, names := []string(nil), map[string]bool{}
		(&tableSpec{path: t.path}).each(warn, asRow, func(r *tableRow) error { known = r.columns(names); return nil })
		return t.noColumn(t.path, t.columns[lacking[0]], known)
	}
	return err
}

// columns returns all columns of the table, which in JSON are those of this row and of the rows
// before, whose names are kept.
func (r *tableRow) columns(before map[string]bool) []string {
	if r.header != nil {
		return r.header
	}
	columnsIn(r.object, "", before)
	return slices.Sorted(maps.Keys(before))
}

// columnsIn adds the names of an object's columns to known; those in structures, also in lists
// of them, have the form STRUCTURE.FIELD.
func columnsIn(object map[string]any, prefix string, known map[string]bool) {
	for name, value := range object {
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		if inner, ok := value.(map[string]any); ok && len(known) < mostNested {
			columnsIn(inner, prefix+name+".", known)
		} else {
			known[prefix+name] = true
		}
	}
}

// mostNested bounds the names of columns in structures, whose keys may differ in every row.
const mostNested = 1000

// literal is a number as written.
type literal string

var literalNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := d.ReadValue()
	*v = literal(number)
	return err
}))

// take takes the columns from an object, and prepares the row. A column is a field, or one inside
// a structure, written STRUCTURE.FIELD.
func (t *tableSpec) take(r *tableRow, object map[string]any, prepare func(*tableRow) error) error {
	r.object = object
	for i, column := range t.columns {
		var path []string
		value, ok := object[column]
		if outer, inner, dotted := strings.Cut(column, "."); !ok && dotted {
			value, ok = object[outer]
			path = strings.Split(inner, ".")
		}
		if !ok {
			r.absent = append(r.absent, i)
		}
		v, err := tableText(value, path)
		if err != nil {
			return failAt(r.pos, 0, "column %s: %w", text.Quote(column), err)
		}
		r.values = append(r.values, v)
	}
	return placed(prepare(r), r.pos)
}

// tableText returns a value, or what is at a path inside it, as texts. NaN is missing,
// because pandas writes missing values so.
func tableText(value any, path []string) (v tableValue, err error) {
	switch value := value.(type) {
	case nil:
		return v, nil
	case []any:
		v.list = true
		for _, item := range value {
			inner, err := tableText(item, path)
			if err != nil {
				return v, err
			}
			if inner.list {
				return v, errors.New("a list of lists is not read")
			}
			v.texts = append(v.texts, inner.one())
		}
		return v, nil
	case map[string]any:
		if _, column := value["0"]; len(path) == 0 && column {
			return v, errors.New("it holds a column where a row is wanted; " + wantRecords)
		}
		if len(path) == 0 {
			return v, fmt.Errorf("it holds a structure; name a part of it, as in COLUMN.%s", slices.Concat(slices.Sorted(maps.Keys(value)), []string{"PART"})[0])
		}
		return tableText(value[path[0]], path[1:])
	}
	if len(path) > 0 {
		return v, errors.New("it is not a structure")
	}
	switch value := value.(type) {
	case string:
		v = textValue(value)
	case []byte:
		v = textValue(string(value))
	default:
		if s := fmt.Sprint(value); s != "NaN" {
			v = textValue(s)
		}
	}
	if !utf8.ValidString(v.one().Value) {
		return v, errors.New("it is not UTF-8")
	}
	return v, nil
}
