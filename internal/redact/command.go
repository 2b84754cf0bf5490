package redact

import (
	"regexp"
	"strings"
)

// secretFlag is a flag whose value is a secret, by its name.
var secretFlag = regexp.MustCompile(`(?i)^(--?(?:[a-z]+[-_])*(?:api-?key|key|token|secret|password|passwd|credential))(=.*)?$`)

// CommandLine writes the words of a command for a POSIX shell, without the
// secrets of addresses and of flags such as --api-key.
func CommandLine(words []string) string {
	shown := make([]string, len(words))
	for i, word := range words {
		shown[i] = shellWord(Address(word))
		if flag := secretFlag.FindStringSubmatch(word); flag != nil && flag[2] != "" {
			shown[i] = flag[1] + "=SECRET"
		} else if i > 0 && secretFlag.MatchString(words[i-1]) && !strings.Contains(words[i-1], "=") {
			shown[i] = "SECRET"
		}
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
