// Package english words messages: counts, and names that are unknown.
package english

import (
	"strconv"

	"github.com/dustin/go-humanize"
)

// Count returns "1 line", "2000 lines". A noun whose plural is not made by an
// s comes with it: Count(2, "matrix", "matrices").
func Count(n int, noun string, plural ...string) string {
	return strconv.Itoa(n) + " " + Noun(n, noun, plural...)
}

// Thousands is Count with commas, for large numbers: "2,000 lines".
func Thousands(n int, noun string, plural ...string) string {
	return humanize.Comma(int64(n)) + " " + Noun(n, noun, plural...)
}

// Noun is a noun in the number of n, without it.
func Noun(n int, noun string, plural ...string) string {
	switch {
	case n == 1:
		return noun
	case len(plural) > 0:
		return plural[0]
	}
	return noun + "s"
}
