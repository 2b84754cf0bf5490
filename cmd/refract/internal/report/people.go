package report

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// IsTerminal reports whether what is written is seen on a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// sheet is a table for people, all its texts escaped.
type sheet struct {
	title   string
	headers []string
	kinds   []columnKind // of each header
	rows    [][]string
	notes   []string
	below   *sheet // the columns that do not fit next to these

	terminal bool // it has colours
}

// columnKind describes a column of a sheet.
type columnKind struct {
	numeric bool // it is aligned to the right
	minor   bool // it may be left out
	paired  bool // it is an interval, which stays next to the number before it
}

// renderer is one format for people.
type renderer interface {
	// escape makes a text of any origin safe in the format.
	escape(s string) string
	// number dresses a number, such as "-0.50", or an interval.
	number(s string) string
	// missing returns the text shown for a missing value.
	missing() string
	render(s *sheet) []byte
}

// held keeps all rows, because column widths are known only at the end.
type held struct {
	columns  []Column
	w        io.Writer
	renderer renderer
	shown    []int // indices of the columns that people see
	sheet    sheet
	width    int // 0 for any
	best     []best
}

// best is the best value of a column so far, and how it is shown.
type best struct {
	value float64
	text  string
}

func newHeld(w io.Writer, columns []Column, opts Options, r renderer) *held {
	h := &held{columns: columns, w: w, renderer: r}
	if _, table := r.(tableRenderer); table {
		if h.sheet.terminal = IsTerminal(w); !opts.Wide {
			h.width = TableWidth
		}
	}
	for i, c := range columns {
		if c.Hide {
			continue
		}
		h.shown = append(h.shown, i)
		h.sheet.headers = append(h.sheet.headers, r.escape(c.Heading()))
		h.sheet.kinds = append(h.sheet.kinds, columnKind{numeric: c.Numeric(), minor: c.Minor, paired: c.Kind == KindInterval})
	}
	h.best = make([]best, len(h.shown))
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
		c, v := &h.columns[i], &values[i]
		cells[k] = h.cell(c, v)
		if b := &h.best[k]; v.present && v.kind == KindFloat && c.Best != 0 && (b.text == "" || float64(c.Best)*(v.low-b.value) > 0) {
			*b = best{v.low, cells[k]}
		}
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

// paint shows the best of several values of a column, and those that look the same.
func (h *held) paint() {
	for _, row := range h.sheet.rows {
		for k, b := range h.best {
			if row[k] == b.text && len(h.sheet.rows) > 1 {
				row[k] = text.Colors{text.Bold, text.FgGreen}.Sprint(row[k])
			}
		}
	}
}

func (h *held) Close() error {
	if h.sheet.terminal {
		h.paint()
	}
	if h.width > 0 {
		neutralWidths()
		h.sheet.fit(h.width)
	}
	if _, err := h.w.Write(h.renderer.render(&h.sheet)); err != nil {
		return err
	}
	return nil
}
