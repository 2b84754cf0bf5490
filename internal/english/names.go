package english

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

const longest = 256 // bytes; longer words are not compared, which would take long

// Nearest returns the candidate nearest to word, or "" if none is near: at most two
// letters, and at most a third of the word, may differ or be swapped. Case is ignored.
// The first of equally near candidates wins. Words of over 256 bytes have no near one.
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

// distance returns the edit distance, counting a swap of two letters as one edit.
func distance(a, b string) int {
	letters := func(s string) []rune { return slices.Sorted(slices.Values([]rune(s))) }
	d := levenshtein.ComputeDistance(a, b)
	if d == 2 && slices.Equal(letters(a), letters(b)) {
		return 1
	}
	return d
}

// UnknownError says that nothing of a kind, such as "metric", has a name.
type UnknownError struct{ Kind, message string }

func (e *UnknownError) Error() string { return e.message }

// Unknown returns the error for an unknown name: its kind, the nearest
// candidate if there is one, and the list of all candidates.
func Unknown(kind, word string, candidates []string) error {
	msg := fmt.Sprintf("unknown %s %q", kind, word)
	if n := Nearest(word, candidates); n != "" {
		msg += fmt.Sprintf("; did you mean %q?", n)
	}
	return &UnknownError{kind, msg + fmt.Sprintf(" (known: %s)", strings.Join(candidates, ", "))}
}

// IsUnknown reports whether err is from [Unknown], for a name of the kind.
func IsUnknown(err error, kind string) bool {
	unknown, ok := errors.AsType[*UnknownError](err)
	return ok && unknown.Kind == kind
}

// Name is the i-th of the names of a Go type's values or, if there are fewer, such as "Kind(7)".
func Name(kind string, i int, names []string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", kind, i)
}

// Index finds a name in a list. Its error is from [Unknown].
func Index(kind, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, Unknown(kind, name, names)
}
