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
	credentials              redact.Known // must not occur in an answer
	secrets                  []string     // must not be shown
	hidden                   redact.Known // finds the secrets of all servers
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
	t.hidden = redact.NewKnown(t.secrets)
	credentials := []string{}
	switch {
	case key != "":
		t.authorization = "Bearer " + key
		credentials = []string{key}
	case u.User != nil:
		password, _ := u.User.Password()
		t.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
		credentials = []string{strings.TrimPrefix(t.authorization, "Basic "), password}
	}
	// A short one without digits, such as EMPTY, may be an ordinary word.
	t.credentials = redact.NewKnown(append(slices.DeleteFunc(credentials, func(s string) bool {
		return len(s) < redact.StartLen || len(s) < redact.PartLen && !looksLikeKey(s)
	}), t.authorization))
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
// in the path.
func secretsOf(u *url.URL, key string) []string {
	s := []string{key}
	for part := range strings.SplitSeq(u.Path, "/") { // a server may repeat it
		if redact.Path(part) != part {
			s = append(s, part)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s = append(s, u.User.Username(), password, base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	for name, values := range u.Query() {
		if strings.EqualFold(name, "api-version") {
			continue
		}
		for _, v := range values {
			// A short value, such as 1, also occurs in addresses and texts by chance.
			if len(v) >= redact.Shortest || redact.IsSecretName(name) {
				s = append(s, v)
			}
		}
	}
	return s
}

const redacted = "[redacted]"

var (
	// maskedKey matches a partly masked key in servers' messages, such as sk-proj-****abcd.
	maskedKey = regexp.MustCompile(`\bsk-[A-Za-z0-9_*.-]{6,}`)
	// endOfCall matches the path of a call.
	endOfCall = regexp.MustCompile(`/(completions|messages)/*$`)
	// userInURL matches a user in any URL, such as a proxy's.
	userInURL = regexp.MustCompile(`://[^/\s@"]+@`)
)

// looksLikeKey distinguishes keys from words: keys have letters and digits.
func looksLikeKey(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter)
}

// redact replaces every secret in s, whole or in part.
func (t target) redact(s string) string {
	s = redact.Keys(maskedKey.ReplaceAllString(t.hidden.Hide(s, redacted), redacted), redacted)
	return userInURL.ReplaceAllString(s, "://"+redacted+"@")
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
