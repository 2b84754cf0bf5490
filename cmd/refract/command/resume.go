package command

import (
	"net/url"
	"strings"
)

// commandLine is what the program was called with, for a shell, without the
// passwords of addresses.
func (e *env) commandLine() string {
	words := []string{"refract"}
	for _, arg := range e.args {
		words = append(words, shellWord(withoutPassword(arg)))
	}
	return strings.Join(words, " ")
}

// withoutPassword hides what is secret in an address, be it a word of its own,
// the value of a flag, or an option in the spec of a metric, which ends at a
// comma.
func withoutPassword(arg string) string {
	at := strings.Index(arg, "://")
	if at < 0 {
		return arg
	}
	start := at
	for start > 0 && isSchemeByte(arg[start-1]) {
		start--
	}
	before, address, after := arg[:start], arg[start:], ""
	if strings.HasSuffix(before, ",base-url=") || strings.HasSuffix(before, ":base-url=") {
		if comma := strings.IndexByte(address, ','); comma >= 0 {
			address, after = address[:comma], address[comma:]
		}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return before + "ADDRESS" + after // it may hold a secret
	case u.User == nil && u.RawQuery == "":
		return arg
	}
	if u.User != nil {
		u.User = url.User("USER")
	}
	if u.RawQuery != "" {
		u.RawQuery = "QUERY"
	}
	return before + u.String() + after
}

// isSchemeByte reports whether the scheme of an address may hold the byte.
func isSchemeByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '-' || b == '.'
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
