// Package english words parts of messages: counts with their nouns, and complaints about
// unknown names.
package english

import (
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Count returns "1 line", "2000 lines". Pass the plural of a noun that is not
// regular: Count(2, "reference that is missing", "references that are missing").
func Count(n int, noun string, plural ...string) string {
	return strconv.Itoa(n) + " " + Noun(n, noun, plural...)
}

// Thousands is Count with commas between thousands: "2,000 lines".
func Thousands(n int, noun string, plural ...string) string {
	return humanize.Comma(int64(n)) + " " + Noun(n, noun, plural...)
}

// Noun returns the singular or the plural of a noun, as n demands, without n.
func Noun(n int, noun string, plural ...string) string {
	return english.PluralWord(n, noun, strings.Join(plural, ""))
}

// List joins items as a sentence does: "a, b and c" with the word "and".
func List(items []string, word string) string { return english.WordSeries(items, word) }
