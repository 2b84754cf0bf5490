package text

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the pattern at its first call. A command that reads no
// answer of a model then doesn't wait for the patterns that read answers.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
