package llm

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCleanKeepsNoSecretAndNoControl(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[A-Za-z0-9/+=_.-]{8,40}`).Draw(t, "key")
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		limit := rapid.IntRange(1, 200).Draw(t, "limit")
		target, err := parseTarget("http://host.test/v1", key)
		require.NoError(t, err)
		got := target.clean(before+key+after+key+key, limit)
		// A key may occur in its replacement, or by chance in the texts around it.
		if strings.Contains(got, key) && !strings.Contains(redacted, key) && !strings.Contains(before+"\n"+after, key) {
			t.Errorf("%q shows the key %q", got, key)
		}
		i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) })
		assert.True(t, i < 0 && utf8.ValidString(got), "%q has what is not printable", got)
	})
}

// A short value of a query is a secret if its name says so.
func TestShortValues(t *testing.T) {
	for query, want := range map[string]string{
		"x=1":          "http://127.0.0.1:8000 gave 1 and abcdef",
		"x=abcdef":     "http://127.0.0.1:8000 gave 1 and " + redacted,
		"token=1":      "http://127.0.0." + redacted + ":8000 gave " + redacted + " and abcdef",
		"api_key=zz&x": "http://127.0.0.1:8000 gave 1 and abcdef",
	} {
		target, err := parseTarget("http://127.0.0.1:8000/v1?"+query, "")
		require.NoError(t, err)
		assert.Equal(t, want, target.redact("http://127.0.0.1:8000 gave 1 and abcdef"), query)
	}
}

func FuzzServerWait(f *testing.F) {
	f.Add("7")
	f.Add("Fri, 31 Dec 1999 23:59:59 GMT")
	f.Add("1e9")
	f.Fuzz(func(t *testing.T, after string) {
		resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}}
		now := time.Now()
		asked := toldWait(&Error{retries: allRetries}, resp, nil, now)
		srv, e := &server{cfg: &Config{MaxRetryWait: time.Hour}}, &Error{retries: allRetries}
		srv.heed(e, asked)
		srv.learn(&Call{}, e, false, time.Hour)
		if wait := srv.until.Sub(now); asked < 0 || wait > time.Hour+time.Second || asked > 0 && asked <= time.Hour && wait < asked {
			t.Errorf("asked to wait %v, waits %v", asked, wait)
		}
	})
}
