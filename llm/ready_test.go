package llm_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func TestReady(t *testing.T) {
	models := []string{"big", "small:latest"}
	for _, tc := range []struct {
		name   string
		models []string
		ask    string
		list   llmtest.Fault // instead of the list
		kind   error
		says   string
	}{
		{name: "listed", models: models, ask: "big"},
		{name: "no model asked for", models: models},
		{name: "usual tag", models: models, ask: "small"},
		{name: "nothing listed", ask: "big"},
		{name: "another model", models: models, ask: "huge", kind: llm.ErrNotFound, says: `does not serve the model "huge": it serves "big", "small:latest"; name one of these models`},
		{name: "loading", ask: "big", list: llmtest.Status(503, "loading"), kind: llm.ErrUnavailable, says: "failed (503)"},
		{name: "key", ask: "big", list: llmtest.Status(401, "who?"), kind: llm.ErrAuth, says: "wants a key (401)"},
		{name: "no list", ask: "big", list: llmtest.Status(404, "")},
		{name: "page for a list", ask: "big", list: llmtest.HTML(200), kind: llm.ErrBadAnswer, says: "gave a web page"},
		{name: "odd list", ask: "big", list: wrongTypes(), kind: llm.ErrBadAnswer, says: "unexpected shape"},
		{name: "hangs", list: llmtest.Hang(), kind: llm.ErrTimeout, says: "no whole answer within 10s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &llmtest.Handler{Models: tc.models}
				c := local(t, h, func(cfg *llm.Config) {
					cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
						if tc.list != nil {
							h.Fail(tc.list)
							r = r.Clone(r.Context())
							r.URL.Path, r.Body = "/v1/completions", http.NoBody
						}
						return h.Transport().RoundTrip(r)
					})
				})
				err := c.Ready(t.Context(), tc.ask)[0]
				if tc.kind == nil && err != nil || tc.kind != nil && (!isKind(err, tc.kind) || !strings.Contains(err.Error(), tc.says)) {
					t.Errorf("error %v, want %q", err, tc.says)
				}
			})
		})
	}
}

// Before its first call, a client waits for its servers, and reports what is wrong.
func TestWarn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		h := &llmtest.Handler{Models: []string{"other"}}
		var told []error
		c := local(t, h, func(cfg *llm.Config) {
			cfg.Wait, cfg.Warn = time.Minute, func(err error) { told = append(told, err) }
			cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				if time.Since(begun) < 30*time.Second {
					return nil, syscall.ECONNREFUSED
				}
				return h.Transport().RoundTrip(r)
			})
		})
		for range 2 {
			if _, err := c.Complete(t.Context(), request("p")); !isKind(err, llm.ErrNotFound) {
				t.Errorf("error %v", err)
			}
		}
		if took := time.Since(begun); took < 30*time.Second || took > 33*time.Second || len(told) != 2 || !strings.HasSuffix(told[0].Error(), "; trying until 00:01:00") || !errors.Is(told[1], llm.ErrNotFound) {
			t.Errorf("told %v after %v", told, took)
		}
	})
}

func TestReadyOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &llmtest.Handler{Models: []string{"m"}}, &llmtest.Handler{Models: []string{"n"}}
		c := several(t, []*llmtest.Handler{a, b}, func(cfg *llm.Config) {
			cfg.Servers = append(cfg.Servers, llm.Server{BaseURL: "http://nowhere.test/v1"})
		})
		got := c.Ready(t.Context(), "m")
		if len(got) != 3 || got[0] != nil || !errors.Is(got[1], llm.ErrNotFound) || !errors.Is(got[2], syscall.ECONNREFUSED) {
			t.Fatalf("got %v", got)
		}
		if !errors.Is(got[2], llm.ErrUnavailable) ||
			!strings.Contains(got[1].Error(), "server http://b.test/v1 does not") || !strings.Contains(got[2].Error(), "server http://nowhere.test/v1 cannot be reached") {
			t.Errorf("errors %v", got)
		}
		// A call to the server with the other model says so, too.
		var err error
		for range 2 {
			_, err = c.Complete(t.Context(), llm.Request{Model: "m", Prompt: "p", TopP: 1, MaxTokens: 8})
			if err != nil {
				break
			}
		}
		if !isKind(err, llm.ErrNotFound) || !strings.HasPrefix(err.Error(), "server http://b.test/v1 knows no such model") {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		assert.Error(t, c.Ready(ctx, "m")[0], "a server is ready that was not asked to the end")
		time.Sleep(time.Second)
	})
}
