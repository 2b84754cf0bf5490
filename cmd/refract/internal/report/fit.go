package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// TableWidth is the largest width of a table in terminal columns, if it can be
	// made to fit.
	TableWidth = 100

	leastText  = 30 // columns that a wrapped text keeps at least
	leastWords = 12 // the same in a second try, which breaks only between words
	mostWord   = 64 // a word up to this length, such as a hash, is never split
	padding    = 2  // the space around a cell
)

// Wrap breaks a text between words into lines of a width in terminal columns. A longer
// word gets a line to itself.
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

// wrapNote breaks a note that is wider than a table may be. A note with a long word, such
// as a signature, stays on one line, so that it can be copied.
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

// fit narrows a table to a width: it moves columns with the same value in every row to a
// note, wraps headers and long texts, and leaves minor columns out. If that is not enough,
// it stacks the table.
func (s *sheet) fit(width int) {
	var same, left []string
	noteConstant := func(may func(i int) bool) {
		for i := len(s.headers) - 1; i >= 0 && len(s.rows) > 1 && len(s.headers) > 1 && s.total() > width; i-- {
			if !may(i) || !s.constant(i) {
				continue
			}
			same = append(same, strings.ReplaceAll(s.headers[i], "\n", " ")+" "+s.rows[0][i])
			s.drop(i)
		}
	}
	noteConstant(func(i int) bool { return s.kinds[i].minor })
	noteConstant(func(i int) bool { return i > 0 && !s.kinds[i].numeric })
	noteConstant(func(i int) bool { return i == 0 && !s.kinds[0].numeric })
	s.narrow(width, leastText, true)
	noteConstant(func(i int) bool { return i > 0 })
	for i := range s.headers {
		if !s.kinds[i].minor && s.total() > width {
			s.headers[i] = strings.Join(Wrap(s.headers[i], s.cellWidth(i)), "\n")
		}
	}
	for i := len(s.headers) - 1; i > 0 && s.total() > width; i-- {
		if s.kinds[i].minor {
			left = append(left, strings.ReplaceAll(s.headers[i], "\n", " "))
			s.drop(i)
		}
	}
	s.narrow(width, leastWords, false)
	s.stack(s.keys(width), width)
	var notes []string
	if len(same) > 0 {
		slices.Reverse(same)
		notes = append(notes, "in every row: "+strings.Join(same, ", "))
	}
	if len(left) > 0 {
		slices.Reverse(left)
		notes = append(notes, "left out, to fit: "+strings.Join(left, ", ")+" (-v shows all)")
	}
	s.notes = append(notes, s.notes...)
}

// narrow wraps the widest text column, again and again, until the table fits or every one
// is down to the least width. Only with split are very long words, such as paths, broken.
func (s *sheet) narrow(width, least int, split bool) {
	whole := make([]bool, len(s.headers)) // columns that cannot get narrower
	for s.total() > width {
		widest := -1
		for i := range s.headers {
			if !whole[i] && !s.kinds[i].numeric && !s.kinds[i].minor && s.width(i) > least && (widest < 0 || s.width(i) > s.width(widest)) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		before, to := s.width(widest), s.width(widest)-1
		if split {
			to = max(least, before-(s.total()-width))
		}
		s.wrap(widest, to, split)
		whole[widest] = s.width(widest) == before
	}
}

// keys returns how many columns are repeated in every part of a stacked table: the
// leading text columns, as long as they leave room for others.
func (s *sheet) keys(width int) int {
	keys, used, widest := 0, 0, 0
	for i := range s.headers {
		widest = max(widest, s.width(i)+padding)
	}
	for keys < len(s.headers)-1 && !s.kinds[keys].numeric {
		if used += s.width(keys) + padding; used+widest > width {
			break
		}
		keys++
	}
	return keys
}

// stack moves the columns that do not fit to parts below, each of which begins with the
// keys.
func (s *sheet) stack(keys, width int) {
	used := 0
	for i := range s.headers {
		used += s.width(i) + padding
		if used <= width || i <= keys {
			continue
		}
		for s.kinds[i].paired && i-1 > keys {
			i--
		}
		rest := *s
		rest.headers = slices.Concat(s.headers[:keys], s.headers[i:])
		rest.kinds = slices.Concat(s.kinds[:keys], s.kinds[i:])
		rest.rows = make([][]string, len(s.rows))
		for k, row := range s.rows {
			rest.rows[k] = slices.Concat(row[:keys], row[i:])
			s.rows[k] = row[:i]
		}
		s.headers, s.kinds = s.headers[:i], s.kinds[:i]
		rest.stack(keys, width)
		s.below = &rest
		return
	}
}

// total returns the width of the table in terminal columns.
func (s *sheet) total() int {
	sum := 0
	for i := range s.headers {
		sum += s.width(i) + padding
	}
	return sum
}

// width returns the width of a column.
func (s *sheet) width(i int) int { return max(text.LongestLineLen(s.headers[i]), s.cellWidth(i)) }

func (s *sheet) cellWidth(i int) int {
	n := 0
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

func (s *sheet) wrap(i, width int, split bool) {
	for _, cells := range append(s.rows, s.headers) {
		if text.LongestLineLen(cells[i]) > width {
			cells[i] = strings.Join(Wrap(cells[i], width), "\n")
			if split {
				cells[i] = text.WrapText(cells[i], max(width, mostWord))
			}
		}
	}
}

func (s *sheet) drop(i int) {
	s.headers = slices.Delete(s.headers, i, i+1)
	s.kinds = slices.Delete(s.kinds, i, i+1)
	for k := range s.rows {
		s.rows[k] = slices.Delete(s.rows[k], i, i+1)
	}
}
