package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/refract-eval/refract/internal/text"
)

// hiddenSecret replaces a secret in what people see.
const hiddenSecret = "SECRET"

// secretName matches the endings of names of secrets.
const secretName = `(?:[a-z0-9]+[-_])*(?:api-?key|key|token|secret|pass(?:word|wd|phrase)?|pwd?|credentials?|o?auth|authorization)`

var anySecretName = text.Regexp(`(?i)^` + secretName + `$`)

// IsSecretName reports whether a value with this name, such as api_key, is a secret.
func IsSecretName(name string) bool { return anySecretName().MatchString(name) }

// Patterns of words that contain a secret, matched by the last group, or announce that
// the next word is one.
var (
	secretFlag   = text.Regexp(`(?is)^['"]?--?` + secretName + `(?:[=:](.*))?$`)
	secretField  = text.Regexp(`(?is)(?:^|[^a-z0-9_-])` + secretName + `=([^,;&]+)`)
	secretHeader = text.Regexp(`(?is)(?:^|[^a-z0-9-])(?:(?:proxy-)?authorization|cookie|x-[a-z-]*(?:key|token)):\s*(.*)$`)
	scheme       = text.Regexp(`(?i)^(?:bearer|basic|token)$`)
)

// Secrets returns the words of a command with secrets replaced: the values of flags such as
// --api-key, of fields such as key=… and of headers such as Authorization. found lists the
// replaced values.
func Secrets(words []string) (shown, found []string) {
	next := false // whether the next word is a secret
	for _, word := range words {
		if next && !scheme().MatchString(word) {
			found, word, next = append(found, word), hiddenSecret, false
		} else if !next {
			for _, form := range []*regexp.Regexp{secretFlag(), secretHeader(), secretField()} {
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

// CommandLine quotes the words of a command for a POSIX shell and hides the secrets
// that Secrets and Address find.
func CommandLine(words []string) string {
	return joined(withoutSecrets(words))
}

// joined joins words for a POSIX shell.
func joined(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}

// Hides reports whether CommandLine hides something.
func Hides(words []string) bool { return !slices.Equal(withoutSecrets(words), words) }

func withoutSecrets(words []string) []string {
	shown, _ := Secrets(words)
	for i, word := range shown {
		if strings.ContainsAny(word, " \t\n") { // it may itself be a command, as in exec:PROGRAM ARG
			shown[i] = Text(word)
		} else {
			shown[i] = Address(word)
		}
	}
	return shown
}

// split splits a text as a shell does; a quote without an end reaches to the end of the text.
func split(text string) (words []string) {
	for _, end := range []string{"", "'", `"`, `\`, `\"`} {
		var err error
		if words, err = shellquote.Split(text + end); err == nil {
			break
		}
	}
	return words
}

// shellWord quotes a word for a POSIX shell if it needs quotes.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%…") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
