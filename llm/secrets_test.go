package llm_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// echo answers with everything that the client sent, several times, as a careless server or proxy
// might.
func echo(status int, form string) llmtest.Fault {
	return func(w http.ResponseWriter, r *llmtest.Request) {
		user, password, _ := r.BasicAuth()
		all := strings.Join([]string{
			r.Header.Get("Authorization"), r.URL.String(), r.URL.Query().Get("api_key"), user, password,
			user + ":" + password, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
			url.QueryEscape(password), "http://" + user + ":" + password + "@host/v1",
		}, " | ")
		switch form {
		case "message":
			b, _ := json.Marshal(map[string]any{"error": map[string]string{"message": all, "type": all, "code": all}})
			llmtest.Body(status, "application/json", string(b))(w, r)
		case "cut":
			llmtest.Body(status, "text/plain", all[:len(all)*2/3])(w, r)
		case "location":
			w.Header().Set("Location", "http://"+url.PathEscape(password)+"@other.test/"+url.PathEscape(r.Header.Get("Authorization"))+"?k="+url.QueryEscape(all))
			w.WriteHeader(status)
		default:
			llmtest.Body(status, "text/plain", all)(w, r)
		}
	}
}

func TestSecretsStaySecret(t *testing.T) {
	const (
		key      = "sk-test-0123456789abcdef/+=Z"
		plainKey = "QWERTYuiop0987654321"
		user     = "adminuser"
		password = "p@ss/word+1"
		apiKey   = "querysecret-77/+="
	)
	withUser := "http://" + url.UserPassword(user, password).String() + "@host.test/v1?api_key=" + url.QueryEscape(apiKey)
	for _, cfg := range []llm.Config{
		{BaseURL: "http://host.test/v1", APIKey: key},
		{BaseURL: "http://host.test/v1", APIKey: plainKey},
		{BaseURL: "http://host.test/v1", APIKey: "zq"},
		{BaseURL: "http://host.test/v1?api_key=" + url.QueryEscape(apiKey), APIKey: key},
		{BaseURL: withUser},
		{BaseURL: "http://host.test/" + plainKey + "/v1"},
		{BaseURL: "http://host.test/v1/" + plainKey[:9]},
	} {
		basic := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		secrets := []string{key, key[:12], plainKey, plainKey[:9], user, password, url.QueryEscape(password), apiKey, url.QueryEscape(apiKey), basic, "zq", key[15:], plainKey[12:], password[4:], apiKey[8:], basic[12:]}
		check := func(where, text string) {
			t.Helper()
			for _, s := range secrets {
				assert.NotContains(t, text, s, where)
			}
		}
		cfg.MaxRetries = -1
		var client *llm.Client
		for _, status := range []int{200, 307, 400, 401, 429} {
			for _, form := range []string{"message", "text", "cut", "location"} {
				h := &llmtest.Handler{}
				h.Fail(echo(status, form))
				cfg.Transport = h.Transport()
				c, err := llm.New(cfg)
				require.NoError(t, err)
				client = c
				_, err = c.Complete(t.Context(), request("p"))
				require.Error(t, err, "%d %s: no error", status, form)
				where := fmt.Sprintf("error of %d %s", status, form)
				for e := err; e != nil; e = errors.Unwrap(e) {
					check(where, e.Error())
					check(where, fmt.Sprintf("%v %+v %#v %q", e, e, e, e))
				}
			}
		}
		cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("proxy http://me:%s@proxy.test said: %w", "hunter2",
				&url.Error{Op: "Post", URL: r.URL.String(), Err: errors.New("refused " + r.Header.Get("Authorization"))})
		})
		c, err := llm.New(cfg)
		require.NoError(t, err)
		_, err = c.Complete(t.Context(), request("p"))
		check("transport's error", err.Error())
		assert.NotContains(t, err.Error(), "hunter2", "a proxy's password is shown: %v", err)
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "cfg", cfg, "client", client, "err", err)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "cfg", cfg, "client", client, "err", err)
		check("log", log.String())
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			check("Config as "+verb, fmt.Sprintf(verb, cfg)+fmt.Sprintf(verb, &cfg))
			check("Client as "+verb, fmt.Sprintf(verb, client))
		}
		b, err := json.Marshal(cfg)
		if err != nil && !strings.Contains(err.Error(), "unsupported type") {
			t.Error(err)
		}
		check("Config as JSON", string(b))
	}
}

func TestLegibleAfterRedaction(t *testing.T) {
	for key, want := range map[string]string{
		"EMPTY":          "EMPTYING the tank: [redacted], x",
		"x":              "EMPTYING the tank: EMPTY, [redacted]",
		"EMPTYING the t": "",
	} {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Status(400, "EMPTYING the tank: EMPTY, x"))
		c, err := llm.New(llm.Config{BaseURL: "http://host.test/v1", APIKey: key, Transport: h.Transport()})
		if want == "" {
			assert.True(t, err != nil && !strings.Contains(err.Error(), key), "a key with spaces: error %v", err)
			continue
		}
		require.NoError(t, err)
		_, err = c.Complete(t.Context(), request("p"))
		assert.True(t, strings.HasSuffix(err.Error(), ": "+want), "key %s: error %v", key, err)
	}
}

func TestMessagesAreHarmless(t *testing.T) {
	h := &llmtest.Handler{}
	h.Fail(llmtest.Status(400, "a\x1b]0;owned\x07\r\nb\u202ec\u0085"+strings.Repeat("é", 10_000)))
	_, err := local(t, h, nil).Complete(t.Context(), request("p"))
	if got := err.Error(); !strings.Contains(got, `: a\x1b]0;owned\a\r\nb\u202ec\u0085é`) || !strings.HasSuffix(got, "é…") || len(got) > 700 {
		t.Errorf("error %q", got)
	}
}

// A redirect to another host is not followed: neither key nor prompt is sent there.
func TestRedirectIsNotFollowed(t *testing.T) {
	other := llmtest.NewServer(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := llmtest.NewServer(t, nil)
		srv.Fail(llmtest.With("Location", other.BaseURL+"/chat/completions", llmtest.Status(status, "")))
		c, err := llm.New(llm.Config{BaseURL: srv.BaseURL, APIKey: "sk-0123456789"})
		require.NoError(t, err)
		_, err = c.Complete(t.Context(), request("p"))
		wantKind(t, err, llm.ErrBadAnswer, "redirects elsewhere")
	}
	assert.Equal(t, 0, other.Calls(), "the other host was called")
}

func TestBasicAuthentication(t *testing.T) {
	h := &llmtest.Handler{}
	c := local(t, h, func(cfg *llm.Config) { cfg.BaseURL = "http://me:pw@host.test/v1" })
	_, err := c.Complete(t.Context(), request("p"))
	require.NoError(t, err)
	user, password, _ := h.Requests()[0].BasicAuth()
	assert.True(t, user == "me" && password == "pw", "sent as %q, %q", user, password)
}

func TestConfigThatCannotWork(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  llm.Config
		says string
	}{
		"no scheme":    {llm.Config{BaseURL: "127.0.0.1:8000/v1"}, "http://127.0.0.1:8000/v1"},
		"file":         {llm.Config{BaseURL: "file:///secretpw"}, "http or https"},
		"no host":      {llm.Config{BaseURL: "http:///v1"}, "http or https"},
		"secret port":  {llm.Config{BaseURL: "http://host:secretpw/v1"}, "not a valid URL"},
		"fragment":     {llm.Config{BaseURL: "http://host/v1#secretpw"}, "http or https"},
		"whole path":   {llm.Config{BaseURL: "http://host/v1/chat/completions/"}, "must end before"},
		"two logins":   {llm.Config{BaseURL: "http://me:secretpw@host/v1", APIKey: "k"}, "only one of them"},
		"line break":   {llm.Config{APIKey: "secretpw\n"}, "line break"},
		"endpoint":     {llm.Config{Endpoint: "responses"}, `unknown endpoint "responses"; known are ["chat" "completions" "messages"]`},
		"bad timeout":  {llm.Config{Timeout: -1}, "negative"},
		"bad max wait": {llm.Config{MaxRetryWait: -1}, "negative"},
	} {
		_, err := llm.New(tc.cfg)
		if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "secretpw") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	c, err := llm.New(llm.Config{})
	if err != nil || fmt.Sprint(c) != "llm.Client{https://api.openai.com/v1 chat}" {
		t.Errorf("the zero Config gives %v, %v", c, err)
	}
}

// An answer that contains the credential is refused.
func TestAnswersThatRepeatTheKey(t *testing.T) {
	for _, c := range []struct {
		key, user, text string
		refused         bool
	}{
		{"sk-0123456789", "", "You sent Bearer sk-0123456789.", true},
		{"sk-0123456789", "", "You sent sk-0123456789.", true},
		{"sk-0123456789", "", `{"text": "You sent \u0073k\u002d0123456789."}`, true},
		{"sk-0123456789", "", `{"text": "{\"a\": \"\\u0073k-0123456789\"}"}`, true},
		{"sk-0123456789", "", "SK-0123456789", true},
		{`sk-01234\56789`, "", `{"text": "{\"a\": \"sk-01234\\\\56789\"}"}`, true},
		{"sk/0123456789", "", `{"text": "sk\/0123456789"}`, true},
		{"sk-local-0123456789-abcdef", "", "You sent sk-local-0123456789 and more.", true},
		{"sk-local-0123456789-abcdef", "", "It ends in 0123456789-abcdef.", true},
		{"sk-0123456789", "", "k=sk%2D0123456789", true},
		{"sk-local-0123456789-abcdef", "", "Keys begin with sk-local-, as in sk-local-1.", false},
		{"EMPTY", "", "Authorization: Bearer EMPTY", true},
		{"EMPTY", "", "EMPTY", false},
		{"", "me:pass-word-1@", "Basic bWU6cGFzcy13b3JkLTE=", true},
		{"", "me:pass-word-1@", "bWU6cGFzcy13b3JkLTE=", true},
		{"", "me:pass-word-1@", "pass-word-1", true},
		{"", "me:pass-word-1@", "me", false},
		{"", "", "Bearer of news", false},
	} {
		h := &llmtest.Handler{Answer: func(*llmtest.Request) string { return c.text }}
		client := local(t, h, func(cfg *llm.Config) { cfg.APIKey, cfg.BaseURL = c.key, "http://"+c.user+"host.test/v1" })
		resp, err := client.Complete(t.Context(), request("p"))
		if c.refused {
			wantKind(t, err, llm.ErrBadAnswer, "repeats the API key in its answer; it is not stored")
			assert.False(t, resp.HasText || strings.Contains(err.Error(), c.text), "%q: %+v, %v", c.text, resp, err)
		} else {
			assert.True(t, err == nil && resp.Text == c.text, "%q: %+v, %v", c.text, resp, err)
		}
		assert.Equal(t, 1, h.Calls(), c.text)
	}
	h := &llmtest.Handler{}
	h.Fail(llmtest.Body(200, "application/json", `{"model":"Bearer sk-0123456789","choices":[{"message":{"content":"x"}}]}`))
	_, err := local(t, h, func(cfg *llm.Config) { cfg.APIKey = "sk-0123456789" }).Complete(t.Context(), request("p"))
	wantKind(t, err, llm.ErrBadAnswer)
}
