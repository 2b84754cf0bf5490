// Package redact hides secrets in the addresses and commands that people are shown.
package redact

import (
	"net/url"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
)

// Address hides the user, the password, the query and unknown parts of the path of an
// address. The address may be the whole word, the value of a flag, or part of the spec
// of a metric, where the option base-url ends at a comma. Other words are returned unchanged.
func Address(word string) string {
	at := strings.Index(word, "://")
	if at < 0 {
		return word
	}
	start := at
	for start > 0 && isSchemeByte(word[start-1]) {
		start--
	}
	before, address, after := word[:start], word[start:], ""
	if strings.HasSuffix(before, ",base-url=") || strings.HasSuffix(before, ":base-url=") {
		if comma := strings.IndexByte(address, ','); comma >= 0 {
			address, after = address[:comma], address[comma:]
		}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return before + "ADDRESS" + after // it may hold a secret
	case u.User == nil && u.RawQuery == "" && !hidesPath(u):
		return word
	}
	if u.User != nil {
		u.User = url.User("USER")
	}
	if u.RawQuery != "" {
		u.RawQuery = "QUERY"
	}
	if !hidesPath(u) {
		return before + u.String() + after
	}
	shown := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return before + shown.String() + Path(u.Path) + query + after
}

func hidesPath(u *url.URL) bool {
	return (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && Path(u.Path) != u.Path
}

// hidden replaces a part of a path.
const hidden = "…"

// Path replaces the parts of a server's path that may be secrets by "…": all but those
// that servers commonly have.
func Path(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		// In a command, other words follow after a space.
		if part, _, _ := strings.Cut(part, " "); !known().MatchString(part) {
			parts[i] = hidden
		}
	}
	return strings.Join(parts, "/")
}

// known matches common parts of servers' paths, which are not secrets.
var known = text.Regexp(`^(|v\d(alpha|beta)?\d?|api|openai|ai|llm|inference|serving|engines?|deployments|models?|infer|chat|completions|embeddings|batches|files|compatible-mode|paas|beta)$`)

// Text applies Address and Secrets to each word of a text, such as the spec
// "exec:PROGRAM ARG…". If that hides something, words are quoted anew.
func Text(text string) string {
	words := split(text)
	shown, found := Secrets(words)
	if len(found) == 0 && strings.Count(text, "://") < 2 && !strings.Contains(text, "exec:") {
		return Address(text) // the address may contain a space by mistake
	}
	for i, word := range shown {
		shown[i] = Address(word)
	}
	if slices.Equal(shown, words) {
		return text // unchanged, blanks included
	}
	return joined(shown)
}

// quotedField is a member of JSON, YAML or Python with a secret, also within quotes of Go,
// and keyShape what keys of well-known services look like.
var (
	quotedField = text.Regexp(`(?i)((?:api[_-]?key|(?:access|auth|secret)?[_-]?(?:key|token)|secret|passw(?:or)?d|authorization|credentials?)\\*["']\s*:\s*\\*["'])[^"'\\]+`)
	keyShape    = text.Regexp(`\b(?:sk-[\w-]{8,}|hf_\w{20,}|gh[opsu]_\w{20,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}[\w.-]*)`)
)

// Message hides keys in a message, which may quote what a flag, a file or a server has.
func Message(s string) string {
	return keyShape().ReplaceAllString(quotedField().ReplaceAllString(s, "${1}"+hidden), hidden)
}

// Values returns a function that replaces these secrets in a text.
func Values(secrets []string) func(string) string {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == "" })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may contain another
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, hiddenSecret)
	}
	return strings.NewReplacer(pairs...).Replace
}

// isSchemeByte reports whether the byte may occur in the scheme of an address.
func isSchemeByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '-' || b == '.'
}
