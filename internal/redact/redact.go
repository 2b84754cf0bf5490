// Package redact hides secrets in the addresses and commands that people are shown.
package redact

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
)

// Address hides the user, the password, the query and unknown parts of the path of an
// address. The address may be the whole word, the value of a flag, or part of the spec
// of a metric, where the option base-url ends at a comma. Other words are returned unchanged.
func Address(word string) string {
	shown, _ := address(word)
	return shown
}

// address also returns the password and the values of the query.
func address(word string) (shown string, found []string) {
	at := strings.Index(word, "://")
	if at < 0 {
		return word, nil
	}
	start := len(strings.TrimRight(word[:at], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")) // of the scheme
	before, address, after := word[:start], word[start:], ""
	if strings.HasSuffix(before, ",base-url=") || strings.HasSuffix(before, ":base-url=") {
		if comma := strings.IndexByte(address, ','); comma >= 0 {
			address, after = address[:comma], address[comma:]
		}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return before + "ADDRESS" + after, []string{address} // it may hold a secret
	case u.User == nil && u.RawQuery == "" && !hidesPath(u):
		return word, nil
	}
	if u.User != nil {
		password, _ := u.User.Password()
		u.User, found = url.User("USER"), append(found, cmp.Or(password, u.User.Username()))
	}
	if u.RawQuery != "" {
		for _, values := range u.Query() {
			found = append(found, values...)
		}
		u.RawQuery = "QUERY"
	}
	if !hidesPath(u) {
		return before + u.String() + after, found
	}
	server := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return before + server.String() + Path(u.Path) + query + after, found
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

// Text applies Secrets to the words of a text, such as the spec "exec:PROGRAM ARG…". If that
// hides something, words are quoted anew.
func Text(text string) string {
	if blankInAddress().MatchString(text) {
		return Address(text)
	}
	words := split(text)
	if shown, _ := Secrets(words); !slices.Equal(shown, words) {
		return joined(shown)
	}
	return text // unchanged, blanks included
}

// blankInAddress matches an address with a blank by mistake in its user or password.
var blankInAddress = text.Regexp(`://[^/@\s]*\s[^/@\s]*@`)

// quotedField is a member of JSON, YAML or Python with a secret, also within quotes of Go,
// and keyShape what keys of well-known services look like.
var (
	quotedField = text.Regexp(`(?i)((?:api[_-]?key|(?:access|auth|secret)?[_-]?(?:key|token)|secret|passw(?:or)?d|authorization|credentials?)\\*["']\s*:\s*\\*["'])([^"'\\]+)`)
	keyShape    = text.Regexp(`\b(?:sk-[\w-]{8,}|` + keys + `[\w.-]*)`)
)

// Keys hides what looks like keys of well-known services.
func Keys(s, by string) string { return keyShape().ReplaceAllLiteralString(s, by) }

// Message hides keys in a message, which may quote what a flag, a file or a server has.
func Message(s string) string {
	return Keys(quotedField().ReplaceAllString(s, "${1}"+hidden), hidden)
}

// Values returns a function that replaces these secrets in a text.
func Values(secrets []string) func(string) string {
	known := NewKnown(secrets)
	return func(text string) string { return known.Hide(text, hiddenSecret) }
}
