// Package english writes counts in messages.
package english

import "strconv"

// Count returns "1 line", "2 lines". A noun whose plural is not made by an s
// comes with it: Count(2, "matrix", "matrices").
func Count(n int, noun string, plural ...string) string {
	switch {
	case n == 1:
	case len(plural) > 0:
		noun = plural[0]
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
