package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// TableWidth is how many columns of a terminal a table takes at most,
	// where it can be made to fit.
	TableWidth = 100

	leastText = 30 // columns that a text keeps when it is wrapped
	besideOne = 2  // the space around a cell
)

// Wrap breaks a text into lines of a width, between words. A word that is
// longer has a line of its own. Widths are those of a terminal.
func Wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(s) {
		n := text.StringWidthWithoutEscSequences(word)
		switch {
		case line == "":
			line, used = word, n
		case used+1+n > width:
			lines = append(lines, line)
			line, used = word, n
		default:
			line, used = line+" "+word, used+1+n
		}
	}
	return append(lines, line)
}

// wrapNote breaks a note that is longer than a table may be wide. One with a
// long word, such as a signature, stays whole, to be copied.
func wrapNote(note string) string {
	if text.StringWidthWithoutEscSequences(note) <= TableWidth {
		return note
	}
	for word := range strings.FieldsSeq(note) {
		if len(word) > TableWidth/2 {
			return note
		}
	}
	return strings.Join(Wrap(note, TableWidth-2), "\n  ")
}

// fit narrows a table to a width: what is the same in every row goes to a note,
// long texts are wrapped, and minor columns are left out. A table that still
// does not fit stays as wide as it is.
func (s *sheet) fit(width int) {
	total := func() int {
		sum := 0
		for i := range s.headers {
			sum += s.width(i) + besideOne
		}
		return sum
	}
	var same, left []string
	for _, may := range []func(i int) bool{
		func(i int) bool { return s.minor[i] },
		func(i int) bool { return i > 0 && !s.numeric[i] },
		func(i int) bool { return i == 0 && !s.numeric[0] },
	} {
		for i := len(s.headers) - 1; i >= 0 && len(s.rows) > 1 && len(s.headers) > 1 && total() > width; i-- {
			if !may(i) || !s.constant(i) {
				continue
			}
			if cell := s.rows[0][i]; cell != missingCell {
				same = append(same, s.headers[i]+" "+cell)
			}
			s.drop(i)
		}
	}
	for total() > width {
		widest := -1
		for i := range s.headers {
			if !s.numeric[i] && !s.minor[i] && s.width(i) > leastText && (widest < 0 || s.width(i) > s.width(widest)) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		before := s.width(widest)
		s.wrap(widest, max(leastText, before-(total()-width)))
		if s.width(widest) == before {
			break // it cannot be wrapped
		}
	}
	for i := len(s.headers) - 1; i > 0 && total() > width; i-- {
		if s.minor[i] {
			left = append(left, s.headers[i])
			s.drop(i)
		}
	}
	var notes []string
	if len(same) > 0 {
		slices.Reverse(same)
		notes = append(notes, "in every row: "+strings.Join(same, ", "))
	}
	if len(left) > 0 {
		slices.Reverse(left)
		notes = append(notes, "left out, to fit: "+strings.Join(left, ", ")+" (--wide shows all)")
	}
	s.notes = append(notes, s.notes...)
}

// width is how many columns of a terminal a column takes.
func (s *sheet) width(i int) int {
	n := text.LongestLineLen(s.headers[i])
	for _, row := range s.rows {
		n = max(n, text.LongestLineLen(row[i]))
	}
	return n
}

func (s *sheet) constant(i int) bool {
	for _, row := range s.rows {
		if row[i] != s.rows[0][i] {
			return false
		}
	}
	return true
}

func (s *sheet) wrap(i, width int) {
	for _, cells := range append(s.rows, s.headers) {
		if text.LongestLineLen(cells[i]) > width {
			cells[i] = text.WrapText(strings.Join(Wrap(cells[i], width), "\n"), width)
		}
	}
}

func (s *sheet) drop(i int) {
	s.headers = slices.Delete(s.headers, i, i+1)
	s.numeric = slices.Delete(s.numeric, i, i+1)
	s.minor = slices.Delete(s.minor, i, i+1)
	for k := range s.rows {
		s.rows[k] = slices.Delete(s.rows[k], i, i+1)
	}
}
