package command

import (
	"strings"

	"github.com/refract-eval/refract/internal/redact"
)

// commandLine is what the program was called with, for a shell, without the
// passwords of addresses.
func (e *env) commandLine() string {
	words := []string{"refract"}
	for _, arg := range e.args {
		words = append(words, shellWord(redact.Address(arg)))
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a POSIX shell where that is needed.
func shellWord(s string) string {
	plain := s != ""
	for _, r := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%", r) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
