package report

import (
	"fmt"
	"io"
)

// sheet is a table for people, all its texts escaped.
type sheet struct {
	title   string
	headers []string
	kinds   []columnKind // of each header
	rows    [][]string
	notes   []string
	below   *sheet // the columns that do not fit beside these
}

// columnKind is what a sheet knows of a column but its texts.
type columnKind struct {
	numeric bool // it is aligned to the right
	minor   bool // it may be left out
	beside  bool // intervals, which stay beside the number that is before them
}

// renderer is one format for people.
type renderer interface {
	// escape makes a text of any origin safe in the format.
	escape(s string) string
	// number dresses a number, such as "-0.50", or an interval.
	number(s string) string
	// missing is what stands for a missing value.
	missing() string
	render(s *sheet) []byte
}

// held keeps the rows, as their widths are known at the end only.
type held struct {
	columns  []Column
	w        io.Writer
	renderer renderer
	shown    []int // indices of the columns that people see
	sheet    sheet
	width    int // 0 for any
}

func newHeld(w io.Writer, columns []Column, opts Options, r renderer) *held {
	h := &held{columns: columns, w: w, renderer: r}
	if _, terminal := r.(tableRenderer); terminal && !opts.Wide {
		h.width = TableWidth
	}
	for i, c := range columns {
		if c.Hide {
			continue
		}
		h.shown = append(h.shown, i)
		h.sheet.headers = append(h.sheet.headers, r.escape(c.Heading()))
		h.sheet.kinds = append(h.sheet.kinds, columnKind{numeric: c.Numeric(), minor: c.Minor, beside: c.Kind == KindInterval})
	}
	h.sheet.title = r.escape(opts.Title)
	for _, note := range opts.Notes {
		h.sheet.notes = append(h.sheet.notes, r.escape(note))
	}
	return h
}

func (h *held) Row(values ...Value) error {
	fits(h.columns, values)
	cells := make([]string, len(h.shown))
	for k, i := range h.shown {
		cells[k] = h.cell(&h.columns[i], &values[i])
	}
	h.sheet.rows = append(h.sheet.rows, cells)
	return nil
}

func (h *held) cell(c *Column, v *Value) string {
	if !v.present {
		return h.renderer.missing()
	}
	if v.kind == KindString {
		return h.renderer.escape(v.text)
	}
	return h.renderer.number(string(v.appendNumber(nil, c.Digits)))
}

func (h *held) Close() error {
	if h.width > 0 {
		neutralWidths()
		h.sheet.fit(h.width)
	}
	if _, err := h.w.Write(h.renderer.render(&h.sheet)); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
