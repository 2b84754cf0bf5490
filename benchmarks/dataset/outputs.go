package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// textsSpec names a file of texts.
type textsSpec struct {
	path  string
	plain bool // each line is a text, whatever it looks like
	// column has the texts of a table; "" for a file of lines.
	column string
	id     string // column of the ids; "" for "id" if there is one, idNone for none
}

const (
	plainPrefix = "text:"
	idNone      = "none"
)

// parseTexts reads "FILE", "text:FILE" or "FILE:COLUMN[,id=COLUMN]". A file with the whole
// name takes precedence.
func parseTexts(spec string) textsSpec {
	if _, err := os.Stat(spec); err == nil {
		return textsSpec{path: spec}
	}
	if path, ok := strings.CutPrefix(spec, plainPrefix); ok {
		return textsSpec{path: path, plain: true}
	}
	for i, r := range spec {
		if path := spec[:i]; r == ':' && slices.Contains(tableEndings, ending(path)) {
			column, id, _ := strings.Cut(spec[i+1:], ",id=")
			return textsSpec{path: path, column: column, id: id}
		}
	}
	return textsSpec{path: spec}
}

// TextsFile returns the file that a spec of texts names, as [NamedFile] has it.
func TextsFile(spec string) string { return parseTexts(spec).path }

// tableEndings are how the names of tables end.
var tableEndings = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet"}

// ending returns how a file's name ends, unpacked and in lower case.
func ending(path string) string { return strings.ToLower(filepath.Ext(files.Unpacked(path))) }

// withColumn returns base with the outputs of a system from a column of a table. The rows
// are joined by their ids, or row k belongs to segment k.
func withColumn(base *set, system string, spec textsSpec, o Options) (*set, error) {
	t := &tableSpec{path: spec.path, quotes: true, columns: []string{spec.column}}
	known, err := t.known()
	if err != nil {
		return nil, err
	}
	if spec.id == "" && slices.Contains(known, "id") {
		spec.id = "id"
	}
	byID := spec.id != "" && spec.id != idNone
	if byID && spec.id != spec.column {
		t.columns = append(t.columns, spec.id)
	}
	ids, outputs, lines := []string(nil), []output(nil), map[string]int{}
	err = t.each(o.Warn, asRow, func(r *tableRow) error {
		out, err := output{pos: r.pos}, error(nil)
		if out.text, err = t.cell(r, 0); err == nil && byID {
			id, wrong := t.cell(r, len(t.columns)-1)
			switch first := lines[id.Value]; {
			case wrong != nil:
				err = wrong
			case id.Value == "":
				err = fmt.Errorf("column %s is empty; it says which segment the output is of", text.Quote(spec.id))
			case first > 0:
				err = fmt.Errorf("id %s is already used by row %d; a column has one output of a segment", text.Quote(id.Value), first)
			}
			out.id, lines[id.Value] = id.Value, r.pos.Line
			ids = append(ids, out.id)
		}
		outputs = append(outputs, out)
		return placed(err, r.pos)
	})
	unequal := func(n int) error {
		return failFile(spec.path, "has %s, but the dataset has %s; without ids, row k must belong to segment k", english.Count(len(outputs), "row"), english.Count(n, "segment"))
	}
	if err == nil && !byID && base.n > 0 && base.n != len(outputs) {
		err = unequal(base.n)
	}
	if err != nil {
		return nil, err
	}
	return joinRows(base, ids, outputs, func() (func(*refract.Segment, *output) error, func(int, []output) error) {
		var c coverage
		add := func(s *refract.Segment, row *output) error {
			h, pos := refract.Hypothesis{System: system}, refract.Position{}
			if row != nil {
				h.Text, pos = row.text, row.pos
			}
			return c.addOutput(s, h, pos)
		}
		return add, func(n int, left []output) error {
			switch {
			case !byID && n != len(outputs):
				return unequal(n)
			case len(left) > 0:
				return failAt(left[0].pos, 0, "the dataset has no segment %s; where the ids are others than the dataset's, id=COLUMN names their column, and id=%s joins row k with segment k", text.Quote(left[0].id), idNone)
			}
			c.report(spec.path, "", o.Warn)
			return nil
		}
	}), nil
}

// output is a row of a column of outputs.
type output struct {
	id   string
	text refract.Text
	pos  refract.Position
}

// addOutput adds a system's output to a segment that has none of it, and counts it.
func (c *coverage) addOutput(s *refract.Segment, h refract.Hypothesis, pos refract.Position) error {
	if slices.ContainsFunc(s.Hypotheses, func(g refract.Hypothesis) bool { return g.System == h.System }) {
		return failAt(pos, 0, "segment %s (%s) has a text of the system %s already; give the file another name", text.Quote(s.ID), s.Pos, text.Quote(h.System))
	}
	s.Hypotheses = append(s.Hypotheses, h)
	c.add(&refract.Segment{ID: s.ID, Hypotheses: []refract.Hypothesis{h}})
	return nil
}
