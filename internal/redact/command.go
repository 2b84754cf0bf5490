package redact

import (
	"regexp"
	"slices"
	"strings"
)

// hiddenSecret stands for a secret.
const hiddenSecret = "SECRET"

// secretName is what the names of secrets end in.
const secretName = `(?:[a-z0-9]+[-_])*(?:api-?key|key|token|secret|password|passwd|credentials?|o?auth|authorization)`

var anySecretName = regexp.MustCompile(`(?i)^` + secretName + `$`)

// IsSecretName reports whether a value of that name is a secret, such as one of api_key.
func IsSecretName(name string) bool { return anySecretName.MatchString(name) }

// The ways in which a word has a secret, which is the last group, or says that the
// next word is one.
var (
	secretFlag   = regexp.MustCompile(`(?is)^['"]?--?` + secretName + `(?:=(.*))?$`)
	secretField  = regexp.MustCompile(`(?is)(?:^|[^a-z0-9_-])` + secretName + `=([^,;&]+)`)
	secretHeader = regexp.MustCompile(`(?is)(?:^|[^a-z0-9-])(?:(?:proxy-)?authorization|cookie|x-[a-z-]*(?:key|token)):\s*(.*)$`)
	scheme       = regexp.MustCompile(`(?i)^(?:bearer|basic|token)$`)
)

// Secrets shows the words of a command without secrets: the values of flags such as
// --api-key, of fields such as key=… and of headers such as Authorization. found are
// these values.
func Secrets(words []string) (shown, found []string) {
	next := false // whether the word is a secret
	for _, word := range words {
		if next && !scheme.MatchString(word) {
			found, word, next = append(found, word), hiddenSecret, false
		} else if !next {
			for _, form := range []*regexp.Regexp{secretFlag, secretHeader, secretField} {
				all := form.FindAllStringSubmatchIndex(word, -1)
				for _, at := range slices.Backward(all) {
					if at[2] < 0 || at[2] == at[3] {
						next = true
					} else {
						found, word = append(found, word[at[2]:at[3]]), word[:at[2]]+hiddenSecret+word[at[3]:]
					}
				}
				if all != nil {
					break
				}
			}
		}
		shown = append(shown, word)
	}
	return shown, found
}

// CommandLine writes the words of a command for a POSIX shell, without the
// secrets of addresses and of Secrets.
func CommandLine(words []string) string {
	shown := withoutSecrets(words)
	for i, word := range shown {
		shown[i] = shellWord(word)
	}
	return strings.Join(shown, " ")
}

// Hides reports whether CommandLine leaves something out.
func Hides(words []string) bool { return !slices.Equal(withoutSecrets(words), words) }

func withoutSecrets(words []string) []string {
	shown, _ := Secrets(words)
	for i, word := range shown {
		if strings.ContainsAny(word, " \t\n") { // it may be a command, as that of a metric
			shown[i] = Text(word)
		} else {
			shown[i] = Address(word)
		}
	}
	return shown
}

// parts cuts a text where blanks are that stand in no quotes.
func parts(text string) []string {
	var quote rune
	return strings.FieldsFunc(text, func(r rune) bool {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		}
		return quote == 0 && (r == ' ' || r == '\t' || r == '\n')
	})
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
