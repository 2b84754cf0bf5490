package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/packed"
	"github.com/refract-eval/refract/internal/text"
)

// table is a file of comma- or tab-separated values whose first row names the
// columns.
type table struct {
	file    string
	tabs    bool // part the values
	columns []string
	rows    [][]string
	lines   []int // where each row begins
}

// readTable reads a file of values parted by tabs where its name ends in
// ".tsv", and by commas otherwise.
func readTable(path string, warn func(Warning)) (*table, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseTable(path, b, warn)
}

func parseTable(path string, b []byte, warn func(Warning)) (*table, error) {
	b, err := checkText(path, b, warn)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(b))
	if strings.EqualFold(filepath.Ext(packed.Name(path)), ".tsv") {
		r.Comma = '\t'
	}
	t := &table{file: path, tabs: r.Comma == '\t'}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			var p *csv.ParseError
			if errors.As(err, &p) {
				if errors.Is(err, csv.ErrFieldCount) {
					return nil, failAt(refract.Position{File: path, Line: p.StartLine}, 0, "the row has %s, but the first row names %d", english.Count(len(row), "column"), len(t.columns))
				}
				return nil, failAt(refract.Position{File: path, Line: p.Line}, p.Column, "bad table: %w", p.Err)
			}
			return nil, fileError(path, err)
		}
		line, _ := r.FieldPos(0)
		if t.columns == nil {
			for i, name := range row {
				if name != "" && slices.Contains(row[:i], name) {
					return nil, failAt(refract.Position{File: path, Line: line}, 0, "two columns are named %s", text.Quote(name))
				}
			}
			t.columns = row
			continue
		}
		t.rows = append(t.rows, row)
		t.lines = append(t.lines, line)
	}
	if t.columns == nil {
		return nil, failFile(path, "is empty; the first row must name the columns")
	}
	return t, nil
}

func (t *table) pos(row int) refract.Position {
	return refract.Position{File: t.file, Line: t.lines[row]}
}

// column returns the index of a column, or -1.
func (t *table) column(name string) int { return slices.Index(t.columns, name) }

// need returns the indices of columns that must be there.
func (t *table) need(names ...string) ([]int, error) {
	var all []int
	for _, name := range names {
		i := t.column(name)
		if i < 0 {
			return nil, failAt(refract.Position{File: t.file, Line: 1}, 0, "there is no column %s; there are %s", text.Quote(name), quotedNames(t.columns))
		}
		all = append(all, i)
	}
	return all, nil
}

// number reads a score. An empty field, and NA as R writes it, is none.
func (t *table) number(row, column int) (value float64, ok bool, err error) {
	field := strings.TrimSpace(t.rows[row][column])
	switch field {
	case "", "NA", "NaN", "nan":
		return 0, false, nil
	}
	value, ok, isScore := parseScore([]byte(field))
	if !isScore {
		return 0, false, failAt(t.pos(row), 0, "column %s is %s; want a number, or nothing where there is no score", text.Quote(t.columns[column]), text.Quote(field))
	}
	return value, ok, nil
}

// checkText is checkEncoding for files whose readers drop the carriage returns
// at line ends: it tells of them.
func checkText(path string, b []byte, warn func(Warning)) ([]byte, error) {
	if i := bytes.Index(b, []byte("\r\n")); i >= 0 {
		line := 1 + bytes.Count(b[:i], []byte{'\n'})
		warn(Warning{refract.Position{File: path, Line: line}, "lines end in carriage return and newline; the carriage returns are removed"})
	}
	return checkEncoding(path, b, warn)
}

// checkEncoding removes a byte order mark, and refuses what is not UTF-8.
func checkEncoding(path string, b []byte, warn func(Warning)) ([]byte, error) {
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		b = b[len("\ufeff"):]
		warn(Warning{refract.Position{File: path, Line: 1}, "the file begins with a byte order mark, which is removed"})
	}
	if !utf8.Valid(b) {
		i := invalidByte(b)
		line := 1 + bytes.Count(b[:i], []byte{'\n'})
		return nil, failAt(refract.Position{File: path, Line: line}, 0, "invalid UTF-8 at byte %d of the line; store the file as UTF-8", i-bytes.LastIndexByte(b[:i], '\n'))
	}
	return b, nil
}

// readLines reads the texts of a file, one a line.
func readLines(path string, warn func(Warning), trim func([]byte) []byte) (all []string, err error) {
	err = eachLine(path, warn, func(line []byte, _ refract.Position) error {
		all = append(all, string(trim(line)))
		return nil
	})
	return all, err
}

// ordinal is the id of the i-th segment.
func ordinal(i int) string { return strconv.Itoa(i + 1) }
