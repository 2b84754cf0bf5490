package llm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/redact"
)

// target is a server's address, its secrets apart from what may be shown.
type target struct {
	base  string   // without user, query and trailing slash
	url   *url.URL // base, with the query
	shown string   // base, for messages
	// authorization is the header's value, "" for none.
	authorization string
	// credentials are what no answer may hold.
	credentials []string
	// secrets are all strings that must not be shown, longest first.
	secrets []string
}

// parseTarget splits a base URL. Its errors quote nothing of the URL but its
// scheme, since a mistyped URL may hold a password anywhere.
func parseTarget(base, key string) (target, error) {
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return target{}, errors.New("the base URL is not a valid URL; it should look like http://127.0.0.1:8000/v1")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "":
		return target{}, errors.New("the base URL must be an http or https address; it should look like http://127.0.0.1:8000/v1")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/completions"):
		return target{}, errors.New("the base URL must end before /chat/completions or /completions, usually in /v1")
	case u.User != nil && key != "":
		return target{}, errors.New("the base URL holds a user although a key is set; a request can carry only one of them")
	}
	if i := strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return target{}, fmt.Errorf("the key holds a space, a line break or another character that no key has, at byte %d", i)
	}
	t := target{url: &url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery}}
	t.url.Path, t.url.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	t.secrets = secretsOf(u, key)
	switch {
	case key != "":
		t.authorization = "Bearer " + key
		t.credentials = []string{t.authorization, key}
	case u.User != nil:
		password, _ := u.User.Password()
		t.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
		t.credentials = []string{t.authorization, strings.TrimPrefix(t.authorization, "Basic "), password}
	}
	u.User, u.RawQuery, u.ForceQuery = nil, "", false
	t.base = strings.TrimRight(u.String(), "/")
	t.shown = escape(t.redact(u.Scheme + "://" + u.Host + redact.Path(t.url.Path)))
	return t, nil
}

// at is the address of a path and query below the base URL.
func (t target) at(below *url.URL) *url.URL {
	u := *t.url
	if u.RawPath != "" || below.RawPath != "" {
		u.RawPath = t.url.EscapedPath() + below.EscapedPath()
	}
	u.Path += below.Path
	switch {
	case u.RawQuery == "":
		u.RawQuery = below.RawQuery
	case below.RawQuery != "":
		u.RawQuery = below.RawQuery + "&" + u.RawQuery
	}
	return &u
}

// secretsOf lists the key, the user and password, the values of the query and
// what looks like a key in the path, with the forms in which a server may echo them.
func secretsOf(u *url.URL, key string) []string {
	var s []string
	add := func(v string) {
		s = append(s, v, url.QueryEscape(v), url.PathEscape(v))
	}
	add(key)
	for part := range strings.SplitSeq(u.Path, "/") { // a server may repeat it
		if redact.Path(part) != part {
			add(part)
		}
	}
	for _, part := range longRun.FindAllString(u.Path, -1) {
		if looksLikeKey(part) {
			add(part)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		add(u.User.Username())
		add(password)
		add(base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password)))
	}
	for name, values := range u.Query() {
		if strings.EqualFold(name, "api-version") {
			continue
		}
		for _, v := range values {
			// A short one, such as 1, stands in addresses and texts of its own accord.
			if len(v) >= shortestSecret || redact.IsSecretName(name) {
				add(v)
			}
		}
	}
	return longestFirst(s)
}

// shortestSecret is the length of the shortest value that is a secret under any name.
const shortestSecret = 6

// longestFirst sorts secrets, each once.
func longestFirst(s []string) []string {
	slices.SortFunc(s, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	s = slices.Compact(s)
	return slices.DeleteFunc(s, func(v string) bool { return v == "" })
}

// repeatedIn reports whether a text holds a credential that was sent. A short one
// without digits, such as EMPTY, is a word of the language too.
// It is found behind the escapes of JSON too, which a reader of the text may resolve,
// and a key in letters of any case.
func (t target) repeatedIn(text string) bool {
	text = jsonEscape.ReplaceAllStringFunc(text, func(escape string) string {
		code, err := strconv.ParseUint(strings.TrimLeft(escape, `\u`), 16, 32)
		if err != nil {
			return strings.TrimLeft(escape, `\`)
		}
		return string(rune(code))
	})
	folded := strings.ToLower(text)
	for i, c := range t.credentials {
		key := looksLikeKey(c)
		if i > 0 && (len(c) < partLen || !key && len(c) < 2*partLen) {
			continue
		}
		if strings.Contains(text, c) || key && strings.Contains(folded, strings.ToLower(c)) {
			return true
		}
	}
	return false
}

const redacted = "[redacted]"

var (
	// maskedKey is how servers show a part of a key, as in sk-proj-****abcd.
	maskedKey = regexp.MustCompile(`\bsk-[A-Za-z0-9_*.-]{6,}`)
	// longRun is a part of a path that may be a key; no name of a model or an
	// API is as long without a hyphen.
	longRun = regexp.MustCompile(`[A-Za-z0-9_]{20,}`)
	// jsonEscape is a character as JSON may write it, in a string within strings too.
	jsonEscape = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|[/"])`)
	// userInURL is a user in any URL, such as a proxy's.
	userInURL = regexp.MustCompile(`://[^/\s@"]+@`)
)

// looksLikeKey tells keys from words: they have letters and digits.
func looksLikeKey(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter)
}

// partLen is how much of a secret's start is treated as the secret, as in an
// echo that was cut.
const partLen = 8

// redact replaces every secret in s. Whole ones go first, lest the part that
// two forms of a secret share leaves the rest of one standing. Of a secret
// shorter than partLen (servers without keys are often given "EMPTY" or "x")
// only words of its own count, so that messages stay legible.
func (t target) redact(s string) string {
	for _, secret := range t.secrets {
		if len(secret) >= partLen {
			s = strings.ReplaceAll(s, secret, redacted)
		} else {
			word := regexp.MustCompile(`(^|[^\pL\p{Nd}])` + regexp.QuoteMeta(secret) + `($|[^\pL\p{Nd}])`)
			for range 2 { // what lies between two of them belongs to one match only
				s = word.ReplaceAllString(s, "${1}"+redacted+"${2}")
			}
		}
	}
	for _, secret := range t.secrets {
		if len(secret) > partLen {
			s = redactStart(s, secret)
		}
	}
	s = maskedKey.ReplaceAllString(s, redacted)
	return userInURL.ReplaceAllString(s, "://"+redacted+"@")
}

// redactStart replaces as much of a secret's start as s has, from partLen
// bytes on.
func redactStart(s, secret string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, secret[:partLen])
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(redacted)
		n := 0
		for n < len(after) && partLen+n < len(secret) && after[n] == secret[partLen+n] {
			n++
		}
		s = after[n:]
	}
}

// clean makes a text from outside fit for a message: secrets replaced, at
// most limit bytes of it, nothing that moves a terminal's cursor. Secrets go
// first, so that none is cut in two.
func (t target) clean(s string, limit int) string {
	if s = strings.TrimSpace(t.redact(s)); len(s) <= limit {
		return escape(s)
	}
	return escape(s[:characterAt(s, limit)]) + "…"
}

// escape writes every rune that is not printable as its Go escape.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	return b.String()
}
