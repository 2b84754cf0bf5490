package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// call makes one call in a synctest bubble, where only sleeps take time, and returns how long it
// slept.
func call(t *testing.T, h *llmtest.Handler, change func(*llm.Config), check func(llm.Response, error, time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := local(t, h, change)
		start := time.Now()
		resp, err := c.Complete(t.Context(), request("p"))
		check(resp, err, time.Since(start))
	})
}

// The server always answers with the fault; calls is how often the client asks, at most 1 + 4
// times.
func TestStatuses(t *testing.T) {
	const all = 5
	flat := `{"object":"error","message":"This model's maximum context length is 16 tokens.","type":"BadRequestError","code":400}`
	llama := `{"error":{"code":400,"message":"the request is too long","type":"exceed_context_size_error","n_ctx":16}}`
	body := func(status int, s string) llmtest.Fault { return llmtest.Body(status, "application/json", s) }
	for _, tc := range []struct {
		name  string
		fault llmtest.Fault
		kind  error
		calls int
		says  string
	}{
		{"400", llmtest.Status(400, "no such field"), llm.ErrInvalidRequest, 1, "refused the request (400): no such field"},
		{"401", llmtest.Status(401, "bad key"), llm.ErrAuth, 1, "refused the key (401): bad key; set OPENAI_API_KEY"},
		{"402", llmtest.Status(402, "pay"), llm.ErrQuota, 1, "no credit left"},
		{"403", llmtest.Status(403, "not here"), llm.ErrAuth, 1, "refused access (403): not here"},
		{"404", body(404, `{"detail":"Not Found"}`), llm.ErrNotFound, 1, `(404): Not Found; check the model name "test-model"`},
		{"422", body(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`), llm.ErrInvalidRequest, 1, "field required"},
		{"429", llmtest.Status(429, "slow down"), llm.ErrRateLimited, all, "limits the rate of requests (429)"},
		{"429 quota", llmtest.Quota(), llm.ErrQuota, 1, "has no credit left for this key (429)"},
		{"429 credit", llmtest.Status(429, "Your credit balance is too low"), llm.ErrQuota, 1, "credit balance"},
		{"400 credit", llmtest.Status(400, "Your credit balance is too low"), llm.ErrQuota, 1, "check the account's plan and billing"},
		{"429 billing", llmtest.Status(429, "check your billing details"), llm.ErrQuota, 1, "billing"},
		{"429 by the minute", llmtest.Status(429, "You exceeded your current quota, please check your plan and billing details. Please retry in 540.04s."), llm.ErrRateLimited, 2, "limits the rate"},
		{"429 of a request", llmtest.Status(429, "Request too large for m: Limit 10000, Requested 20000. The input must be reduced."), llm.ErrInvalidRequest, 1, "refused the request (429): Request too large"},
		{"429 quota by code", llmtest.With("Retry-After", "1", llmtest.Quota()), llm.ErrQuota, 1, ""},
		{"500", llmtest.Status(500, "oops"), llm.ErrUnavailable, all, "failed (500) after 5 attempts: oops"},
		{"502 page", llmtest.HTML(502), llm.ErrUnavailable, all, "it sent `<!DOCTYPE html>"},
		{"overflow", llmtest.ContextLength(), llm.ErrContextLength, 1, "maximum context length"},
		{"overflow, called a fault of the server", body(500, flat), llm.ErrContextLength, 1, "16 tokens."},
		{"overflow, other words", llmtest.Status(400, "Input length 900 exceeds the maximum allowed input length of 512 tokens."), llm.ErrContextLength, 1, "too long"},
		{"overflow, flat", body(400, flat), llm.ErrContextLength, 1, "16 tokens."},
		{"overflow, llama.cpp", body(400, llama), llm.ErrContextLength, 1, "the request is too long"},
		{"200 empty", body(200, ""), llm.ErrBadAnswer, 3, "empty answer (200)"},
		{"200 malformed", llmtest.Malformed(), llm.ErrBadAnswer, 3, "is not JSON"},
		{"200 garbage", llmtest.Garbage(), llm.ErrBadAnswer, 3, `it sent ` + "`" + `\x00\xff\x1b[31m\u202egarbage`},
		{"200 page", llmtest.HTML(200), llm.ErrBadAnswer, 3, "usually ends in /v1"},
		{"200 wrong types", body(200, `{"choices":[{"text":7,"message":{"content":7}}]}`), llm.ErrBadAnswer, 3, "unexpected shape"},
		{"200 events", body(200, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n"), llm.ErrBadAnswer, 1, "gave a stream of events, though none was asked for (200): it sent `data: "},
		{"200 events after a comment", body(200, ": PROCESSING\n\ndata: {}\n"), llm.ErrBadAnswer, 1, "gave a stream of events"},
		{"200 no such address", body(200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`), llm.ErrNotFound, 1, "usually ends in /v1"},
		{"200 no choices", llmtest.NoChoices(), llm.ErrBadAnswer, 3, "without choices"},
		{"200 error", llmtest.ErrorBody(502, "provider down"), llm.ErrUnavailable, all, "gave an error instead of an answer (200) after 5 attempts: provider down"},
		{"200 error 429", llmtest.ErrorBody(429, "slow down"), llm.ErrRateLimited, all, "slow down"},
		{"200 error 400", llmtest.ErrorBody(400, "wrong"), llm.ErrInvalidRequest, 1, "wrong"},
		{"200 error string", body(200, `{"error":"no such thing"}`), llm.ErrUnavailable, all, "no such thing"},
		{"200 error with choices", body(200, `{"error":{"message":"late"},"choices":[{"text":"a","message":{"content":"a"}}]}`), llm.ErrUnavailable, all, "late"},
		{"200 error in a choice", body(200, `{"choices":[{"error":{"code":502,"message":"cut"},"text":"a","message":{"content":"a"}}]}`), llm.ErrUnavailable, all, "cut"},
		{"redirect", llmtest.With("Location", "http://user:pw@other.test/x?token=1", llmtest.Status(307, "")), llm.ErrBadAnswer, 1, "redirects elsewhere (307); set the base URL"},
		{"truncated", llmtest.Truncated(), llm.ErrUnavailable, all, "broke off its answer"},
		{"hang", llmtest.Hang(), llm.ErrTimeout, all, "no whole answer within 5m0s"},
	} {
		for _, endpoint := range endpoints {
			t.Run(tc.name+"/"+string(endpoint), func(t *testing.T) {
				h := &llmtest.Handler{Decide: func(*llmtest.Request) llmtest.Fault { return tc.fault }}
				call(t, h, func(cfg *llm.Config) { cfg.MaxRetries, cfg.APIKey, cfg.Endpoint = 4, "sk-0123456789", endpoint },
					func(resp llm.Response, err error, _ time.Duration) {
						e := wantKind(t, err, tc.kind, tc.says)
						assert.Equal(t, tc.calls, h.Calls())
						assert.Equal(t, tc.calls, e.Attempts)
						assert.True(t, strings.HasPrefix(err.Error(), "server http://127.0.0.1:8000/v1 "), err)
						assert.Equal(t, (llm.Response{}), resp, "an answer with an error: %+v", resp)
					})
			})
		}
	}
}

func TestCuredByRetry(t *testing.T) {
	for name, fault := range map[string]llmtest.Fault{
		"408": llmtest.Status(408, ""), "409": llmtest.Status(409, ""), "429": llmtest.Status(429, ""), "504": llmtest.HTML(504),
		"reset": llmtest.Reset(), "malformed": llmtest.Malformed(), "hang": llmtest.Hang(),
	} {
		t.Run(name, func(t *testing.T) {
			h := &llmtest.Handler{}
			h.Fail(fault, fault)
			call(t, h, nil, func(resp llm.Response, err error, _ time.Duration) {
				want := llmtest.Answer("test-model", "p", 0)
				assert.True(t, err == nil && resp.Text == want, "got %+v, error %v", resp, err)
				all := h.Requests()
				require.Len(t, all, 3)
				for i, r := range all {
					if string(r.Raw) != string(all[0].Raw) || r.ContentLength != int64(len(r.Raw)) {
						t.Errorf("attempt %d differs: %s", i+1, r.Raw)
					}
				}
			})
		})
	}
}

func TestWaits(t *testing.T) {
	busy := llmtest.Status(429, "busy")
	date := func(d time.Duration) llmtest.Fault {
		return func(w http.ResponseWriter, r *llmtest.Request) {
			w.Header().Set("Retry-After", time.Now().Add(d).UTC().Format(http.TimeFormat))
			busy(w, r)
		}
	}
	// One retry waits for the requested time and at most 500 ms more.
	const jitter = 500 * time.Millisecond
	for _, tc := range []struct {
		name  string
		fault llmtest.Fault
		floor time.Duration
	}{
		{"nothing asked", busy, 0},
		{"seconds", llmtest.With("Retry-After", "7", busy), 7 * time.Second},
		{"fraction", llmtest.With("Retry-After", "1.5", busy), 1500 * time.Millisecond},
		{"milliseconds", llmtest.With("Retry-After-Ms", "1500", llmtest.With("Retry-After", "9", busy)), 1500 * time.Millisecond},
		{"zero", llmtest.With("Retry-After", "0", busy), 0},
		{"negative", llmtest.With("Retry-After", "-5", busy), 0},
		{"nonsense", llmtest.With("Retry-After", "soon", busy), 0},
		{"date", date(90 * time.Second), 90 * time.Second},
		{"date in the past", date(-time.Hour), 0},
		{"on 503", llmtest.With("Retry-After", "3", llmtest.Status(503, "")), 3 * time.Second},
		{"milliseconds of Azure", llmtest.With("X-Ms-Retry-After-Ms", "4000", busy), 4 * time.Second},
		{"reset of a limit that is used up", headers(busy, "X-Ratelimit-Reset-Requests", "4s", "X-Ratelimit-Remaining-Requests", "0",
			"X-Ratelimit-Reset-Tokens", "6m0s", "X-Ratelimit-Remaining-Tokens", "10"), 4 * time.Second},
		{"longest reset", headers(busy, "X-Ratelimit-Reset-Requests", "12ms", "X-Ratelimit-Reset-Tokens", "7.66"), 7660 * time.Millisecond},
		{"resets on 500", headers(llmtest.Status(500, ""), "X-Ratelimit-Reset-Requests", "40s"), 0},
		{"full reset, in part earlier", llmtest.With("X-Ratelimit-Reset-Requests", "23h59m59.9s", busy), time.Minute},
		{"resets that are none", headers(busy, "X-Ratelimit-Reset-Tokens", "0", "X-Ratelimit-Remaining-Tokens", "-1"), 0},
		{"reset of Together", llmtest.With("X-Ratelimit-Reset", "3", busy), 3 * time.Second},
		{"reset of Anthropic", headers(busy, "Anthropic-Ratelimit-Tokens-Remaining", "0", "Anthropic-Ratelimit-Tokens-Reset", "2000-01-01T00:00:09Z"), 9 * time.Second},
		{"reset of OpenRouter", llmtest.Body(200, "application/json", `{"error":{"code":429,"message":"busy","metadata":{"headers":{"X-RateLimit-Reset":"946684805000"}}}}`), 5 * time.Second},
		{"words of OpenAI", llmtest.Status(429, "Rate limit reached for m: Limit 3, Used 3. Please try again in 11.75s. Visit us."), 11750 * time.Millisecond},
		{"words of Azure", llmtest.Status(429, "Please retry after 37 seconds."), 37 * time.Second},
		{"words with minutes", llmtest.Status(429, "Try again in 1m30.5s."), 90500 * time.Millisecond},
		{"words on 503", llmtest.Status(503, "overloaded, try again in 2 seconds"), 2 * time.Second},
		{"detail of Gemini", llmtest.Body(429, "application/json", `[{"error":{"code":429,"message":"m","details":[{"@type":"RetryInfo","retryDelay": "59s"}]}}]`), 59 * time.Second},
		{"up to the limit", llmtest.With("Retry-After", "300", busy), 5 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := &llmtest.Handler{}
			h.Fail(tc.fault)
			call(t, h, func(cfg *llm.Config) { cfg.MaxRetryWait = 5 * time.Minute },
				func(_ llm.Response, err error, slept time.Duration) {
					require.True(t, err == nil && h.Calls() == 2, "%d calls, error %v", h.Calls(), err)
					if slept < tc.floor || slept > min(tc.floor+jitter, 5*time.Minute) {
						t.Errorf("waited %v, want at least %v", slept, tc.floor)
					}
				})
		})
	}
}

func headers(f llmtest.Fault, pairs ...string) llmtest.Fault {
	for pair := range slices.Chunk(pairs, 2) {
		f = llmtest.With(pair[0], pair[1], f)
	}
	return f
}

// A wait that the server asks for is no failed attempt, until all waits take longer than one may.
func TestToldWaitIsNoAttempt(t *testing.T) {
	told := llmtest.With("Retry-After", "20", llmtest.Status(429, "busy"))
	h := &llmtest.Handler{}
	h.Fail(slices.Repeat([]llmtest.Fault{told}, 10)...)
	call(t, h, func(cfg *llm.Config) { cfg.MaxRetries, cfg.MaxRetryWait = 1, 5*time.Minute }, func(_ llm.Response, err error, slept time.Duration) {
		if err != nil || h.Calls() != 11 || slept < 200*time.Second || slept > 220*time.Second {
			t.Errorf("%d calls in %v, %v", h.Calls(), slept, err)
		}
	})
	h = &llmtest.Handler{Decide: func(*llmtest.Request) llmtest.Fault { return told }}
	call(t, h, func(cfg *llm.Config) { cfg.MaxRetries, cfg.MaxRetryWait = 1, time.Minute }, func(_ llm.Response, err error, slept time.Duration) {
		wantKind(t, err, llm.ErrRateLimited)
		assert.True(t, slept >= 40*time.Second && slept <= 2*time.Minute, slept)
	})
	h = &llmtest.Handler{Decide: func(*llmtest.Request) llmtest.Fault { return told }}
	call(t, h, func(cfg *llm.Config) { cfg.MaxRetries = -1 }, func(_ llm.Response, err error, _ time.Duration) {
		wantKind(t, err, llm.ErrRateLimited)
		assert.Equal(t, 1, h.Calls(), "without retries")
	})
}

// A closed port is given up after about five seconds.
func TestClosedPort(t *testing.T) {
	call(t, &llmtest.Handler{}, func(cfg *llm.Config) {
		cfg.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED })
	}, func(_ llm.Response, err error, slept time.Duration) {
		if !errors.Is(err, syscall.ECONNREFUSED) || slept < time.Second || slept > 7*time.Second {
			t.Errorf("%v after %v", err, slept)
		}
	})
}

// A server that starts again is waited for as long as one that starts.
func TestServerStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &llmtest.Handler{}
		var down time.Time
		c := local(t, h, func(cfg *llm.Config) {
			cfg.Wait, cfg.MaxRetries = 5*time.Minute, 1
			cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				if time.Now().Before(down) {
					return nil, syscall.ECONNREFUSED
				}
				return h.Transport().RoundTrip(r)
			})
		})
		_, err := c.Complete(t.Context(), request("p"))
		require.NoError(t, err)
		down = time.Now().Add(4 * time.Minute)
		_, err = c.Complete(t.Context(), request("q"))
		require.NoError(t, err)
		down = time.Now().Add(time.Hour)
		begun := time.Now()
		go func() {
			time.Sleep(4 * time.Minute)
			assert.Contains(t, c.Load().Failure, "cannot be reached")
		}()
		_, err = c.Complete(t.Context(), request("r"))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.True(t, time.Since(begun) >= 5*time.Minute && time.Since(begun) < 6*time.Minute, "after %v", time.Since(begun))
	})
}

// A wait that is longer than allowed is no reason to give up: the call is made again after the usual
// pauses, and costs only itself if that does not help. It is said once.
func TestWaitTooLong(t *testing.T) {
	for name, after := range map[string]string{
		"seconds": "3600", "overflow": "99999999999999999999", "huge": strings.Repeat("9", 400), "date": "Fri, 31 Dec 2100 23:59:59 GMT",
	} {
		for _, status := range []int{429, 503} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				fault, said := llmtest.With("Retry-After", after, llmtest.Status(status, "busy")), []string{}
				warned := func(cfg *llm.Config) { cfg.Warn = func(err error) { said = append(said, err.Error()) } }
				h := &llmtest.Handler{}
				h.Fail(fault, fault)
				call(t, h, warned, func(_ llm.Response, err error, slept time.Duration) {
					require.NoError(t, err)
					assert.True(t, slept < 10*time.Second && h.Calls() == 3, "after %v and %d calls", slept, h.Calls())
					require.Len(t, said, 1)
					assert.Contains(t, said[0], "more than the 10m0s allowed")
				})
				call(t, &llmtest.Handler{Decide: func(r *llmtest.Request) llmtest.Fault { return fault }}, nil, func(_ llm.Response, err error, slept time.Duration) {
					assert.ErrorContains(t, err, "more than the 10m0s allowed")
					assert.Less(t, slept, 2*time.Minute)
				})
			})
		}
	}
}

func TestBackoffGrowsWithJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 20 {
		h := &llmtest.Handler{}
		h.Fail(llmtest.Repeat(8, llmtest.Status(503, ""))...)
		var at []time.Time
		synctest.Test(t, func(t *testing.T) {
			c := local(t, h, func(cfg *llm.Config) {
				cfg.MaxRetries = 8
				base := cfg.Transport
				cfg.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
					at = append(at, time.Now())
					return base.RoundTrip(r)
				})
			})
			_, err := c.Complete(t.Context(), request("p"))
			require.NoError(t, err)
		})
		top := 500 * time.Millisecond
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d < 0 || d > top {
				t.Errorf("wait %d is %v, above %v", i, d, top)
			} else if i == 6 {
				seen[d.Truncate(time.Second)] = true
			}
			top = min(2*top, 30*time.Second)
		}
	}
	assert.GreaterOrEqual(t, len(seen), 4, "20 waits of up to 16 s take %d values only", len(seen))
}

func TestContextEndsAWait(t *testing.T) {
	h := &llmtest.Handler{}
	h.Fail(llmtest.With("Retry-After", "60", llmtest.Status(429, "")))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := local(t, h, nil).Complete(ctx, request("p"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second || h.Calls() != 1 {
			t.Errorf("error %v after %v and %d calls", err, time.Since(start), h.Calls())
		}
	})
}

// A name that does not exist is looked up once; a failing name server is asked again.
func TestUnknownName(t *testing.T) {
	for _, notFound := range []bool{true, false} {
		calls := 0
		call(t, &llmtest.Handler{}, func(cfg *llm.Config) {
			cfg.MaxRetries = 4
			cfg.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
				calls++
				return nil, &net.DNSError{Err: "no such host", Name: "a.test", IsNotFound: notFound, IsTemporary: !notFound}
			})
		}, func(_ llm.Response, err error, _ time.Duration) {
			wantKind(t, err, llm.ErrUnavailable)
			assert.Equal(t, notFound, calls == 1, calls)
		})
	}
}

func TestTimeoutIsPerAttempt(t *testing.T) {
	h := &llmtest.Handler{}
	h.Fail(llmtest.Hang(), llmtest.Hang())
	call(t, h, func(cfg *llm.Config) { cfg.Timeout = 10 * time.Second }, func(_ llm.Response, err error, slept time.Duration) {
		if err != nil || h.Calls() != 3 || slept < 20*time.Second || slept > 22*time.Second {
			t.Errorf("%d calls, error %v, after %v", h.Calls(), err, slept)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (t roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// quick returns a client that waits only briefly between attempts.
func quick(t testing.TB, h *llmtest.Handler) *llm.Client {
	t.Helper()
	return local(t, h, func(cfg *llm.Config) { cfg.MaxRetryWait = time.Millisecond })
}
