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

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func TestReady(t *testing.T) {
	models := []string{"big", "small:latest"}
	without := func(h *llmtest.Handler, path string, fault llmtest.Fault) http.RoundTripper {
		base := h.Transport()
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == path {
				f := &llmtest.Handler{}
				f.Fail(fault)
				r = r.Clone(r.Context())
				r.URL.Path, r.Body = "/v1/completions", http.NoBody
				return f.Transport().RoundTrip(r)
			}
			return base.RoundTrip(r)
		})
	}
	for _, tc := range []struct {
		name   string
		health int
		models []string
		key    string
		ask    string
		change func(*llmtest.Handler, *llm.Config)
		kind   error
		says   string
	}{
		{name: "both", models: models, ask: "big"},
		{name: "no model asked for", models: models},
		{name: "usual tag", models: models, ask: "small"},
		{name: "no health", health: 404, models: models, ask: "big"},
		{name: "nothing listed", ask: "big"},
		{name: "loading", health: 503, models: models, ask: "big", kind: llm.ErrUnavailable, says: "failed (503)"},
		{name: "another model", models: models, ask: "huge", kind: llm.ErrNotFound, says: `does not serve the model "huge": it serves "big", "small:latest"; name one of these models`},
		{name: "key", models: models, key: "right", kind: llm.ErrAuth, says: "wants a key (401)"},
		{name: "no list", ask: "big", change: func(h *llmtest.Handler, cfg *llm.Config) {
			cfg.Transport = without(h, "/v1/models", llmtest.Status(404, ""))
		}},
		{name: "no list, no health", health: 404, ask: "big", kind: llm.ErrNotFound, says: "usually ends in /v1", change: func(h *llmtest.Handler, cfg *llm.Config) {
			cfg.Transport = without(h, "/v1/models", llmtest.Status(404, ""))
		}},
		{name: "page for a list", ask: "big", kind: llm.ErrBadAnswer, says: "gave a web page", change: func(h *llmtest.Handler, cfg *llm.Config) {
			cfg.Transport = without(h, "/v1/models", llmtest.HTML(200))
		}},
		{name: "odd list", ask: "big", kind: llm.ErrBadAnswer, says: "unexpected shape", change: func(h *llmtest.Handler, cfg *llm.Config) {
			cfg.Transport = without(h, "/v1/models", wrongTypes())
		}},
		{name: "down", kind: llm.ErrUnavailable, says: "cannot be reached", change: func(_ *llmtest.Handler, cfg *llm.Config) { cfg.Transport = hosts{} }},
		{name: "hangs", kind: llm.ErrTimeout, says: "no whole answer within 10s", change: func(h *llmtest.Handler, cfg *llm.Config) {
			cfg.Transport = without(h, "/health", llmtest.Hang())
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &llmtest.Handler{Models: tc.models, Key: tc.key}
				h.Health = tc.health
				c := local(t, h, func(cfg *llm.Config) {
					if tc.change != nil {
						tc.change(h, cfg)
					}
				})
				got := c.Ready(t.Context(), tc.ask)
				if len(got) != 1 {
					t.Fatalf("got %v", got)
				}
				err := got[0]
				if tc.kind == nil {
					if err != nil {
						t.Error(err)
					}
				} else if !isKind(err, tc.kind) || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("error %v, want %q", err, tc.says)
				}
			})
		})
	}
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
		// And a call to the one that has another model says so.
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
		if got := c.Ready(ctx, "m"); got[0] == nil {
			t.Error("a server is ready that was not asked to the end")
		}
		time.Sleep(time.Second)
	})
}
