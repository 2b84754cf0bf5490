package english

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

const longest = 256 // bytes of a name

// Nearest returns the candidate nearest to word, case aside, or "" where none is near:
// two letters at most may differ, or be swapped, and no more than a third of the word.
// The first of equally near ones wins. None is near a word that is longer than names
// are, which would take long to compare.
func Nearest(word string, candidates []string) string {
	if len(word) > longest {
		return ""
	}
	word = strings.ToLower(word)
	best, bestDist := "", min(2, max(1, utf8.RuneCountInString(word)/3))+1
	for _, c := range candidates {
		if d := distance(word, strings.ToLower(c)); d < bestDist && d < max(utf8.RuneCountInString(word), utf8.RuneCountInString(c)) {
			best, bestDist = c, d
		}
	}
	return best
}

// distance is the edit distance in which two letters that changed places count once.
func distance(a, b string) int {
	letters := func(s string) []rune { return slices.Sorted(slices.Values([]rune(s))) }
	d := levenshtein.ComputeDistance(a, b)
	if d == 2 && slices.Equal(letters(a), letters(b)) {
		return 1
	}
	return d
}

// Unknown words the complaint about an unknown name: what kind of thing it
// is, the nearest candidate if there is one, and the whole list.
func Unknown(kind, word string, candidates []string) string {
	msg := fmt.Sprintf("unknown %s %q", kind, word)
	if n := Nearest(word, candidates); n != "" {
		msg += fmt.Sprintf("; did you mean %q?", n)
	}
	return msg + fmt.Sprintf(" (known: %s)", strings.Join(candidates, ", "))
}

// Index finds a name in a list. The error words what Unknown does.
func Index(kind, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, errors.New(Unknown(kind, name, names))
}
