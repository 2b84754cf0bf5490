package main

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

// withoutPassword hides what is secret in an address, be it a word of its own
// or the value of a flag.
func withoutPassword(arg string) string {
	at := strings.Index(arg, "://")
	if at < 0 {
		return arg
	}
	flag, address := "", arg
	if eq := strings.IndexByte(arg, '='); strings.HasPrefix(arg, "-") && eq >= 0 && eq < at {
		flag, address = arg[:eq+1], arg[eq+1:]
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return flag + "ADDRESS" // it may hold a secret
	case u.User == nil && u.RawQuery == "":
		return arg
	}
	if u.User != nil {
		u.User = url.User("USER")
	}
	if u.RawQuery != "" {
		u.RawQuery = "QUERY"
	}
	return flag + u.String()
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
