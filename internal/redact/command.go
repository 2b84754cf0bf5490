package redact

import "strings"

// CommandLine writes the words of a command for a POSIX shell, without the
// secrets of addresses.
func CommandLine(words []string) string {
	shown := make([]string, len(words))
	for i, word := range words {
		shown[i] = shellWord(Address(word))
	}
	return strings.Join(shown, " ")
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
