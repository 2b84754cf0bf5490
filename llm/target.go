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

	"github.com/refract-eval/refract/internal/redact"
)

// target is a server's address, with secrets separated from what may be shown.
type target struct {
	base  string   // without user, query and trailing slash
	url   *url.URL // base, with the query
	shown string   // base, for messages
	// authorization is the value of the header keyHeader, "" for none.
	keyHeader, authorization string
	// credentials must not occur in an answer.
	credentials []string
	// secrets are all strings that must not be shown, longest first.
	secrets []string
}

// parseTarget parses a base URL. Its errors quote only the scheme, because a mistyped URL may
// contain a password anywhere.
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
	case endOfCall.MatchString(u.Path):
		return target{}, errors.New("the base URL must end before /chat/completions, /completions or /messages, usually in /v1")
	case u.User != nil && key != "":
		return target{}, errors.New("the base URL holds a user although a key is set; a request can carry only one of them")
	}
	if i := strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return target{}, fmt.Errorf("the key holds a space, a line break or another character that no key has, at byte %d", i)
	}
	t := target{keyHeader: "Authorization", url: &url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery}}
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

// at returns the address of a path and query relative to the base URL.
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

// secretsOf returns the key, the user and password, the values of the query and anything like a key
// in the path, in all forms in which a server may echo them.
func secretsOf(u *url.URL, key string) []string {
	var s []string
	add := func(v string) {
		s = append(s, v, url.QueryEscape(v), url.PathEscape(v), strings.ReplaceAll(v, `\`, `\\`))
	}
	add(key)
	for part := range strings.SplitSeq(u.Path, "/") { // a server may repeat it
		if redact.Path(part) != part {
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
			// A short value, such as 1, also occurs in addresses and texts by chance.
			if len(v) >= shortestSecret || redact.IsSecretName(name) {
				add(v)
			}
		}
	}
	return longestFirst(s)
}

// shortestSecret is the minimum length of a value that counts as a secret under any name.
const shortestSecret = 6

// longestFirst sorts secrets by length and removes repetitions.
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

// repeatedIn reports whether a text contains a credential that was sent, also in JSON escapes and,
// for a key, in any case. A short credential without digits, such as EMPTY, does not count, because
// it may be an ordinary word.
func (t target) repeatedIn(text string) bool {
	text = jsonEscape.ReplaceAllStringFunc(text, func(escape string) string {
		code, err := strconv.ParseUint(strings.TrimLeft(escape, `\u`), 16, 32)
		if err != nil {
			return strings.TrimLeft(escape, `\`)
		}
		return string(rune(code))
	})
	bare := func(s string) string { return strings.ReplaceAll(s, `\`, "") } // each level of nesting doubles them
	text = bare(text)
	folded := strings.ToLower(text)
	for i, c := range t.credentials {
		c = bare(c)
		key := looksLikeKey(c)
		if c == "" || i > 0 && (len(c) < partLen || !key && len(c) < 2*partLen) {
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
	// maskedKey matches a partly masked key in servers' messages, such as sk-proj-****abcd.
	maskedKey = regexp.MustCompile(`\bsk-[A-Za-z0-9_*.-]{6,}`)
	// endOfCall matches the path of a call.
	endOfCall = regexp.MustCompile(`/(completions|messages)/*$`)
	// jsonEscape matches a character escaped in JSON, also in nested strings.
	jsonEscape = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|[/"])`)
	// userInURL matches a user in any URL, such as a proxy's.
	userInURL = regexp.MustCompile(`://[^/\s@"]+@`)
)

// looksLikeKey distinguishes keys from words: keys have letters and digits.
func looksLikeKey(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter)
}

// partLen is the length from which the beginning of a secret is treated like the secret, because
// an echo may be cut.
const partLen = 8

// redact replaces every secret in s. Whole secrets are replaced first; otherwise replacing a part
// that two forms share would leave the rest of one. A secret shorter than partLen (people often set
// "EMPTY" or "x" for servers without keys) is replaced only as a whole word, so that messages stay
// readable.
func (t target) redact(s string) string {
	for _, secret := range t.secrets {
		if len(secret) >= partLen {
			s = strings.ReplaceAll(s, secret, redacted)
		} else {
			word := regexp.MustCompile(`(^|[^\pL\p{Nd}])` + regexp.QuoteMeta(secret) + `($|[^\pL\p{Nd}])`)
			for range 2 { // twice, because adjacent matches share the character between them
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

// redactStart replaces the beginning of a secret in s if it has at least partLen bytes.
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

// clean makes an untrusted text safe for a message: it replaces secrets, escapes control
// characters, and shortens the text to limit bytes. Secrets are replaced first, so that none is
// cut.
func (t target) clean(s string, limit int) string {
	if s = strings.TrimSpace(t.redact(s)); len(s) <= limit {
		return escape(s)
	}
	return escape(s[:characterAt(s, limit)]) + "…"
}

// escape replaces every unprintable rune by its Go escape.
func escape(s string) string {
	quoted := strconv.Quote(s)
	return printable.Replace(quoted[1 : len(quoted)-1])
}

// printable undoes the escapes that strconv.Quote adds for the sake of the quotes.
var printable = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
