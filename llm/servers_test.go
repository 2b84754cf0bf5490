package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// hosts is a network of handlers.
type hosts map[string]http.RoundTripper

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	t, ok := h[r.URL.Host]
	if !ok {
		return nil, syscall.ECONNREFUSED
	}
	return t.RoundTrip(r)
}

// several returns a client of servers named a, b, …
func several(t testing.TB, handlers []*llmtest.Handler, change func(*llm.Config)) *llm.Client {
	t.Helper()
	network := hosts{}
	cfg := llm.Config{Transport: network}
	for i, h := range handlers {
		name := string(rune('a' + i))
		network[name+".test"] = h.Transport()
		cfg.Servers = append(cfg.Servers, llm.Server{BaseURL: "http://" + name + ".test/v1"})
	}
	if change != nil {
		change(&cfg)
	}
	c, err := llm.New(cfg)
	require.NoError(t, err)
	return c
}

func always(f llmtest.Fault) func(*llmtest.Request) llmtest.Fault {
	return func(*llmtest.Request) llmtest.Fault { return f }
}

// Each server gets calls as fast as it answers them.
func TestBalance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := &llmtest.Handler{Decide: after(time.Second)}, &llmtest.Handler{Decide: after(3 * time.Second)}
		c := several(t, []*llmtest.Handler{fast, slow}, nil)
		assert.LessOrEqual(t, drive(t, c, 40, 1000), 40*time.Second)
		n := slow.Calls()
		assert.True(t, n >= 200 && n <= 300, "the slow server got %d of 1000 calls", n)
	})
}

func TestRetryGoesToAnotherServer(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{
		"500": llmtest.Status(500, "broken"), "429": llmtest.With("Retry-After", "500", llmtest.Status(429, "busy")),
		"reset": llmtest.Reset(), "page": llmtest.HTML(200), "hang": llmtest.Hang(),
		"longer than allowed": llmtest.With("Retry-After", "5000", llmtest.Status(429, "busy")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sick, well := &llmtest.Handler{Decide: always(fault)}, &llmtest.Handler{}
				c := several(t, []*llmtest.Handler{sick, well}, func(cfg *llm.Config) { cfg.MaxRetries, cfg.Timeout = 1, 10*time.Second })
				start := time.Now()
				for i := range 20 {
					_, err := c.Complete(t.Context(), request(fmt.Sprint(i)))
					require.NoError(t, err)
				}
				if well.Calls() != 20 || sick.Calls() == 0 || time.Since(start) > 2*time.Minute {
					t.Errorf("%d and %d calls in %v", sick.Calls(), well.Calls(), time.Since(start))
				}
			})
		})
	}
}

// An unreachable server costs no retry and no wait while another works.
func TestUnreachableServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		well := &llmtest.Handler{Decide: after(time.Second)}
		var calls atomic.Int64
		dies := &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault {
			if calls.Add(1) > 5 {
				return llmtest.Reset()
			}
			return after(time.Second)(r)
		}}
		c := several(t, []*llmtest.Handler{{}, dies, well}, func(cfg *llm.Config) {
			cfg.MaxRetries, cfg.MaxInFlight = -1, 4
			delete(cfg.Transport.(hosts), "a.test")
		})
		assert.LessOrEqual(t, drive(t, c, 12, 200), time.Minute)
	})
}

// A server that keeps failing gets few calls until it works again.
func TestCoolDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		sick, well := &llmtest.Handler{}, &llmtest.Handler{Decide: after(time.Second)}
		sick.Decide = func(r *llmtest.Request) llmtest.Fault {
			if down.Load() {
				return llmtest.Status(500, "broken")
			}
			return after(time.Second)(r)
		}
		c := several(t, []*llmtest.Handler{sick, well}, nil)
		drive(t, c, 4, 800) // 200 s or more
		assert.True(t, sick.Calls() <= 25 && well.Calls() == 800, "%d and %d calls", sick.Calls(), well.Calls())
		down.Store(false)
		drive(t, c, 4, 400)
		assert.GreaterOrEqual(t, sick.Calls(), 100, "it did not come back: %d calls", sick.Calls())
	})
}

// A wrong request or key is not tried on another server; the error names the server.
func TestFinalErrorsOfOneServer(t *testing.T) {
	for name, tc := range map[string]struct {
		fault llmtest.Fault
		kind  error
		says  string
	}{
		"key":      {llmtest.Status(401, "bad key"), llm.ErrAuth, "server http://a.test/v1 wants a key (401): bad key; set OPENAI_API_KEY"},
		"model":    {llmtest.Status(404, "no such model"), llm.ErrNotFound, `server http://a.test/v1 knows no such model, address or object (404): no such model; check the model name "test-model" and the base URL, which usually ends in /v1, and that the server has /v1/chat/completions`},
		"overflow": {llmtest.ContextLength(), llm.ErrContextLength, "server http://a.test/v1 refused the prompt"},
		"quota":    {llmtest.Quota(), llm.ErrQuota, "server http://a.test/v1 has no credit"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := &llmtest.Handler{Decide: always(tc.fault)}, &llmtest.Handler{}
				c := several(t, []*llmtest.Handler{a, b}, nil)
				failed := 0
				for range 40 {
					if _, err := c.Complete(t.Context(), request("p")); err != nil {
						failed++
						wantKind(t, err, tc.kind)
						require.True(t, strings.HasPrefix(err.Error(), tc.says), err)
					}
				}
				if failed != 20 || a.Calls() != 20 || b.Calls() != 20 {
					t.Errorf("%d failed of %d and %d calls", failed, a.Calls(), b.Calls())
				}
			})
		})
	}
}

// A server that answered before and then sends nonsense gets all retries. One that never answered
// is probably not a model server.
func TestBadAnswersOfAModelServer(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{
		"page": llmtest.HTML(200), "wrong types": wrongTypes(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &llmtest.Handler{}
				c := local(t, h, nil)
				_, err := c.Complete(t.Context(), request("p"))
				require.NoError(t, err)
				h.Fail(llmtest.Repeat(6, fault)...)
				_, err = c.Complete(t.Context(), request("p"))
				assert.True(t, err == nil && h.Calls() == 8, "%d calls, error %v", h.Calls(), err)
			})
		})
	}
}

// wrongTypes answers 200 with JSON whose fields have wrong types.
func wrongTypes() llmtest.Fault {
	return llmtest.Body(200, "application/json", `{"id":7,"model":["m"],"choices":{"text":1},"data":"none","usage":"free"}`)
}

// Every server gets only its own key, and no error shows any key.
func TestKeysOfSeveralServers(t *testing.T) {
	const keyA, keyB, password = "sk-aaaaaaaaaaaaaaaa", "sk-bbbbbbbbbbbbbbbb", "hunter2hunter2"
	seen := map[string]string{}
	var mu sync.Mutex
	cfg := llm.Config{
		BaseURL: "http://a.test/v1", APIKey: keyA, MaxRetries: -1,
		Servers: []llm.Server{{BaseURL: "http://b.test/v1", APIKey: keyB}, {BaseURL: "http://me:" + password + "@c.test/v1"}, {BaseURL: "http://d.test/v1"}},
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			seen[r.URL.Host] = r.Header.Get("Authorization")
			h := &llmtest.Handler{}
			h.Fail(llmtest.Status(400, "all keys: "+keyA+" "+keyB+" "+password+" of "+r.URL.Host))
			return h.Transport().RoundTrip(r)
		}),
	}
	c, err := llm.New(cfg)
	require.NoError(t, err)
	var all strings.Builder
	for range 8 {
		_, err := c.Complete(t.Context(), request("p"))
		fmt.Fprintln(&all, err)
	}
	faults := c.Ready(t.Context(), "m")
	fmt.Fprintf(&all, "%v %v %+v %+v %#v", faults, c, cfg, cfg.Servers, cfg.Servers[2])
	for _, secret := range []string{keyA, keyB, password, keyA[5:], keyB[5:]} {
		assert.NotContains(t, all.String(), secret)
	}
	want := map[string]string{"a.test": "Bearer " + keyA, "b.test": "Bearer " + keyB, "c.test": "Basic bWU6aHVudGVyMmh1bnRlcjI=", "d.test": ""}
	for host, header := range want {
		assert.Equal(t, header, seen[host], host)
	}
}

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
				if tc.kind == nil {
					assert.NoError(t, err)
				} else {
					wantKind(t, err, tc.kind, tc.says)
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
			_, err := c.Complete(t.Context(), request("p"))
			wantKind(t, err, llm.ErrNotFound)
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
		wantKind(t, err, llm.ErrNotFound)
		assert.True(t, strings.HasPrefix(err.Error(), "server http://b.test/v1 knows no such model"), err)
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		assert.Error(t, c.Ready(ctx, "m")[0], "a server is ready that was not asked to the end")
		time.Sleep(time.Second)
	})
}
