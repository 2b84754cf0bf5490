// Package english words parts of messages: counts with their nouns, and complaints about
// unknown names.
package english

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Count returns "1 line", "2000 lines". Pass the plural of a noun that does not
// just take an s: Count(2, "matrix", "matrices").
func Count(n int, noun string, plural ...string) string {
	return strconv.Itoa(n) + " " + Noun(n, noun, plural...)
}

// Thousands is Count with commas between thousands: "2,000 lines".
func Thousands(n int, noun string, plural ...string) string {
	return humanize.Comma(int64(n)) + " " + Noun(n, noun, plural...)
}

// Noun returns the singular or the plural of a noun, as n demands, without n.
func Noun(n int, noun string, plural ...string) string {
	switch {
	case n == 1:
		return noun
	case len(plural) > 0:
		return plural[0]
	}
	return noun + "s"
}

// List joins items as a sentence does: "a, b and c" with the word "and".
func List(items []string, word string) string {
	last := len(items) - 1
	if last < 1 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:last], ", ") + " " + word + " " + items[last]
}
