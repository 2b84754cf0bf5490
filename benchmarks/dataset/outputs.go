package dataset

import (
	"context"
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
	d := *base
	d.lines = nil
	d.firsts = base.first()
	d.read = func(ctx context.Context, each func(*refract.Segment) error) error {
		c := &outputColumn{system: system, byID: byID, index: map[string]int{}}
		if err := t.each(o.Warn, func(r *tableRow) error { return placed(c.add(t, r), r.pos) }); err != nil {
			return err
		}
		if !byID && base.n > 0 && base.n != len(c.outputs) {
			return c.unequal(spec.path, base.n)
		}
		if err := base.read(ctx, func(s *refract.Segment) error { return c.join(s, each) }); err != nil {
			return err
		}
		return c.end(spec.path, o.Warn)
	}
	return &d, nil
}

// outputColumn has the outputs of a system, while they are joined with the segments of a
// dataset.
type outputColumn struct {
	system  string
	byID    bool
	index   map[string]int // of outputs, by id
	outputs []output
	n       int // segments so far
	missing examples
	blank   int
}

type output struct {
	text refract.Text
	id   string
	pos  refract.Position
	used bool
}

func (c *outputColumn) add(t *tableSpec, r *tableRow) error {
	out := output{pos: r.pos}
	var err error
	if out.text, err = t.cell(r, 0); err != nil {
		return err
	}
	if c.byID {
		id, err := t.cell(r, len(t.columns)-1)
		if err != nil {
			return err
		}
		if first, again := c.index[id.Value]; again || id.Value == "" {
			if id.Value == "" {
				return fmt.Errorf("column %s is empty; it says which segment the output is of", text.Quote(t.columns[len(t.columns)-1]))
			}
			return fmt.Errorf("id %s is already used by row %d; a column has one output of a segment", text.Quote(id.Value), c.outputs[first].pos.Line)
		}
		out.id = id.Value
		c.index[out.id] = len(c.outputs)
	}
	c.outputs = append(c.outputs, out)
	return nil
}

// join adds its output to a segment.
func (c *outputColumn) join(s *refract.Segment, each func(*refract.Segment) error) error {
	i, ok := c.n, c.n < len(c.outputs)
	if c.byID {
		i, ok = c.index[s.ID]
	}
	if c.n++; !ok && !c.byID {
		return nil // only to count the segments
	}
	h := refract.Hypothesis{System: c.system}
	pos := refract.Position{}
	if ok {
		c.outputs[i].used = true
		h.Text, pos = c.outputs[i].text, c.outputs[i].pos
	}
	switch {
	case !h.Text.Valid:
		c.missing.add(text.Quote(s.ID))
	case strings.TrimSpace(h.Text.Value) == "":
		c.blank++
	}
	if err := addOutput(s, h, pos); err != nil {
		return err
	}
	return each(s)
}

// end checks that every row had a segment.
func (c *outputColumn) end(path string, warn func(Warning)) error {
	if !c.byID && c.n != len(c.outputs) {
		return c.unequal(path, c.n)
	}
	if i := slices.IndexFunc(c.outputs, func(o output) bool { return !o.used }); i >= 0 {
		return failAt(c.outputs[i].pos, 0, "the dataset has no segment %s; where the ids are others than the dataset's, id=COLUMN names their column, and id=%s joins row k with segment k", text.Quote(c.outputs[i].id), idNone)
	}
	tellBlank(path, c.system, c.blank, c.n-c.missing.n, warn)
	tellMissing(path, c.system, &c.missing, c.n, warn)
	return nil
}

func (c *outputColumn) unequal(path string, n int) error {
	return failFile(path, "has %s, but the dataset has %s; without ids, row k must belong to segment k", english.Count(len(c.outputs), "row"), english.Count(n, "segment"))
}

// addOutput adds a system's output to a segment that has none of it.
func addOutput(s *refract.Segment, h refract.Hypothesis, pos refract.Position) error {
	if slices.ContainsFunc(s.Hypotheses, func(g refract.Hypothesis) bool { return g.System == h.System }) {
		return failAt(pos, 0, "segment %s (%s) has a text of the system %s already; give the file another name", text.Quote(s.ID), s.Pos, text.Quote(h.System))
	}
	s.Hypotheses = append(s.Hypotheses, h)
	return nil
}
