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
const secretName = `(?:[a-z0-9]+[-_])*(?:api-?key|key|token|secret|pass(?:word|wd|phrase)?|pwd?|credentials?|o?auth|authorization|bearer|cookie)`

var anySecretName = text.Regexp(`(?i)^` + secretName + `$`)

// IsSecretName reports whether a value with this name, such as api_key, is a secret.
func IsSecretName(name string) bool { return anySecretName().MatchString(name) }

// Patterns of words that contain a secret, matched by the last group, or announce that
// the next word is one.
var (
	secretFlag   = text.Regexp(`(?is)^['"]?--?` + secretName + `(?:[=:](.*))?$`)
	secretField  = text.Regexp(`(?is)(?:^|[^a-z0-9_-])` + secretName + `=([^,;&]+)`)
	secretHeader = text.Regexp(`(?is)(?:^|^-[a-z]*h|[^a-z0-9-])(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:key|token)|api-key):\s*(.*)$`)
	scheme       = text.Regexp(`(?i)^(?:bearer|basic|token)$`)
)

// ordinaryKey matches flags whose key is the name of a column.
var ordinaryKey = text.Regexp(`(?i)^--?(?:sort|group|order|join|index|partition|primary|foreign)[-_]?key(?:=|$)`)

// switches are flags of curl without a value, which others may follow in one word.
const switches = `[#0-46afgGiIjJklLnNOqRsSvZ]*`

// logins are flags of common programs, with a blank if the value is the next word, and what
// matches the password in the value.
var logins = []struct{ flag, password func() *regexp.Regexp }{
	{text.Regexp(`^\S* (?:-` + switches + `[uUE]|--(?:proxy-)?(?:user|cert)=?) ?$`), text.Regexp(`(?s)^[^:]*:([^/\\].*|/[^/].*)$`)},
	{text.Regexp(`^\S* (?:-` + switches + `x|--(?:pre)?proxy=?) ?$`), text.Regexp(`(?s)^[^:/@]*:([^/].*)@`)},
	{text.Regexp(`^curl -` + switches + `b ?$`), text.Regexp(`(?s)^(.*=.*)$`)},
	{text.Regexp(`^(?:mysql|mariadb)\S* -p$|^sshpass -p ?$`), whole},
}

var (
	program   = text.Regexp(`^(?:.*[/:])?(curl|(?:mysql|mariadb)[a-z-]*|ssh|sshpass)$`) // of logins
	flagValue = text.Regexp(`(?s)^(--[a-z-]+=|-` + switches + `[a-zA-Z])(.+)$`)
	whole     = text.Regexp(`(?s)^(.+)$`)
)

// Secrets returns the words of a command with secrets replaced: the values of flags such as
// --api-key, of fields such as key=… and of headers such as Authorization, passwords after users, as
// in curl -u USER:PASSWORD, and what Address hides, also in words that are themselves commands. found
// lists the replaced values.
func Secrets(words []string) (shown, found []string) {
	var next *regexp.Regexp // matches the secret in the next word
	name := ""              // of the program
	for _, word := range words {
		if next != nil && scheme().MatchString(word) {
			shown = append(shown, word)
			continue
		}
		var secrets []string
		hide := func(form *regexp.Regexp, from int) bool {
			all := form.FindAllStringSubmatchIndex(word[from:], -1)
			for _, at := range slices.Backward(all) {
				if start, end := from+at[len(at)-2], from+at[len(at)-1]; start < from || start == end {
					next = whole()
				} else {
					secrets, word = append(secrets, word[start:end]), word[:start]+hiddenSecret+word[end:]
				}
			}
			return all != nil
		}
		form := next
		next = nil
		if form == nil || !hide(form, 0) {
			hide(quotedField(), 0)
			hide(keyShape(), 0)
			command := strings.ContainsAny(word, " \t\n")
			if command {
				words := split(word)
				inner, more := Secrets(words)
				if found = append(found, more...); !slices.Equal(inner, words) && !startsSecret().MatchString(word) {
					word = joined(inner)
				}
			}
			if !command || startsSecret().MatchString(word) {
				_ = !ordinaryKey().MatchString(word) && hide(secretFlag(), 0) || hide(secretHeader(), 0) || hide(secretField(), 0)
			}
			if m := program().FindStringSubmatch(word); m != nil {
				name = m[1]
			}
			for _, l := range logins {
				if at := flagValue().FindStringSubmatchIndex(word); at != nil && l.flag().MatchString(name+" "+word[:at[3]]) {
					hide(l.password(), at[3])
				} else if l.flag().MatchString(name + " " + word + " ") {
					next = l.password()
				}
			}
		}
		word, more := address(word)
		shown, found = append(shown, word), append(append(found, secrets...), more...)
	}
	return shown, found
}

// startsSecret matches a word with blanks that is a secret, and no command.
var startsSecret = text.Regexp(`(?i)^['"]?-{0,2}` + secretName + `[=:]|^['"]?(?:set-)?cookie:|^['"]?x-[a-z-]*:`)

// CommandLine quotes the words of a command for a POSIX shell and hides what Secrets finds.
func CommandLine(words []string) string {
	shown, _ := Secrets(words)
	return joined(shown)
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
func Hides(words []string) bool {
	shown, _ := Secrets(words)
	return !slices.Equal(shown, words)
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
