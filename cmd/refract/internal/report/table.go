package report

import (
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// neutralWidths makes character widths the same in every locale. Otherwise the library
// asks the environment, and the same input would give different bytes.
var neutralWidths = sync.OnceFunc(func() { text.OverrideRuneWidthEastAsianWidth(false) })

// tableRenderer draws a line only below the headers, so that columns can be copied out of
// a terminal.
type tableRenderer struct{}

const missingCell = "–"

func (tableRenderer) escape(s string) string { return Visible(s) }
func (tableRenderer) number(s string) string { return s }
func (tableRenderer) missing() string        { return missingCell }

func (tableRenderer) render(s *sheet) []byte {
	neutralWidths()
	var b []byte
	if s.title != "" {
		b = append(append(b, s.title...), "\n\n"...)
	}
	b = append(append(b, s.drawn()...), '\n')
	for part := s.below; part != nil; part = part.below {
		b = append(append(append(b, '\n'), part.drawn()...), '\n')
	}
	if len(s.notes) > 0 {
		b = append(b, '\n')
	}
	for _, note := range s.notes {
		b = append(append(b, wrapNote(note)...), '\n')
	}
	return b
}

// drawn returns the headers and the rows.
func (s *sheet) drawn() string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault // as given, not upper-cased
	style.Options.DrawBorder = false
	style.Options.SeparateColumns = false
	if s.terminal {
		style.Color.Header = text.Colors{text.Bold}
	}
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	configs := make([]table.ColumnConfig, len(s.headers))
	for i, kind := range s.kinds {
		align := text.AlignLeft
		if kind.numeric {
			align = text.AlignRight
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(tableRow(s.headers))
	for _, cells := range s.rows {
		t.AppendRow(tableRow(cells))
	}
	return t.Render()
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	return row
}
