// Package lazy makes what is dear when it is first used: a command that reads no answer of a
// model does not wait for the patterns that answers are read by.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp compiles a pattern at its first use.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
