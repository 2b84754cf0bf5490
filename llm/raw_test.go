package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/refract-eval/refract/llm/llmtest"
)

// rawClient is a client of two servers, of which raw requests go to the first.
func rawClient(t *testing.T, serve func(n int, w http.ResponseWriter, r *http.Request, body string)) (c *Client, calls *int) {
	t.Helper()
	calls = new(int)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Host != "a.test" || r.Header.Get("Authorization") != "Bearer key-of-a" {
			t.Errorf("%s %s, key %q, %v", r.Method, r.URL.String(), r.Header.Get("Authorization"), err)
		}
		*calls++
		serve(*calls, w, r, string(body))
	})
	c, err := New(Config{
		BaseURL: "http://a.test/v1?tenant=t", APIKey: "key-of-a", Servers: []Server{{BaseURL: "http://b.test/v1"}},
		Transport: llmtest.InProcess(h), MaxRetries: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, calls
}

func TestRawRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, calls := rawClient(t, func(n int, w http.ResponseWriter, r *http.Request, body string) {
			if r.URL.String() != "http://a.test/v1/files/a%2Fb?limit=3&tenant=t" || body != "the body" || r.ContentLength != 8 || r.Header.Get("Content-Type") != "text/plain" {
				t.Errorf("attempt %d: %s %q of %d bytes, %s", n, r.URL.String(), body, r.ContentLength, r.Header.Get("Content-Type"))
			}
			switch n {
			case 1:
				w.Header().Set("Retry-After", "5")
				w.WriteHeader(http.StatusTooManyRequests)
			case 2:
				w.WriteHeader(http.StatusBadGateway)
			default:
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, "<any answer>")
			}
		})
		start := time.Now()
		got, err := c.do(t.Context(), httpRequest{method: http.MethodPut, path: "/files/a%2Fb?limit=3", contentType: "text/plain", content: [][]byte{[]byte("the "), []byte("body")}})
		if err != nil || string(got) != "<any answer>" || *calls != 3 || time.Since(start) < 5*time.Second {
			t.Errorf("%q, %v, %d calls in %v", got, err, *calls, time.Since(start))
		}
	})
}

// What may have been done is not done again where that is forbidden.
func TestRawRequestsOnce(t *testing.T) {
	for status, want := range map[int]int{429: 4, 503: 1, 500: 1, 400: 1, 404: 1, 408: 1} {
		synctest.Test(t, func(t *testing.T) {
			c, calls := rawClient(t, func(_ int, w http.ResponseWriter, r *http.Request, _ string) {
				if r.Header.Get("Content-Type") != "" || r.Method != http.MethodPost {
					t.Errorf("%s with content type %q", r.Method, r.Header.Get("Content-Type"))
				}
				w.WriteHeader(status)
			})
			_, err := c.do(t.Context(), httpRequest{method: http.MethodPost, path: "/batches", once: true})
			var e *Error
			if !errors.As(err, &e) || e.Server != "http://a.test/v1" || e.Status != status || *calls != want {
				t.Errorf("%d: %v, %d calls, want %d", status, err, *calls, want)
			}
		})
	}
}

func TestRawRequestsToAPlaceOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := rawClient(t, func(n int, w http.ResponseWriter, _ *http.Request, _ string) {
			_, _ = io.WriteString(w, strings.Repeat("line\n", 1000))
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
		})
		var buf bytes.Buffer
		got, err := c.do(t.Context(), httpRequest{method: http.MethodGet, path: "/f", into: func(from io.Reader) error {
			buf.Reset()
			_, err := buf.ReadFrom(from)
			return err
		}})
		if err != nil || got != nil || buf.String() != strings.Repeat("line\n", 1000) {
			t.Errorf("%d bytes and %d, %v", len(got), buf.Len(), err)
		}
		full := errors.New("no space left")
		_, err = c.do(t.Context(), httpRequest{method: http.MethodGet, path: "/f", into: func(io.Reader) error { return full }})
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, full) || e.Attempts != 1 || !strings.Contains(err.Error(), "cannot be kept (200): no space left") {
			t.Errorf("error %v", err)
		}
	})
}

func TestRawRequestsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := rawClient(t, func(_ int, w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
		})
		for range 2 { // before and during the pause
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			if _, err := c.do(ctx, httpRequest{method: http.MethodGet, path: "/f"}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("error %v after %v", err, time.Since(start))
			}
		}
	})
}

func TestAnswersFromElsewhere(t *testing.T) {
	c, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := c.ReadAnswer(Request{Model: "m"}, 200, []byte(`{"model":"s","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`))
	if want := (Response{Text: "a", HasText: true, FinishReason: "stop", Model: "s"}); err != nil || r != want {
		t.Errorf("%+v, %v", r, err)
	}
	r, _, err = c.ReadAnswer(Request{Model: "m"}, 400, []byte(`{"error":{"code":"content_filter","message":"no"}}`))
	if want := (Response{FinishReason: "content_filter"}); err != nil || r != want {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err = c.ReadAnswer(Request{Model: "m"}, 429, []byte(`{"error":{"message":"slow down"}}`)); !errors.Is(err, ErrRateLimited) {
		t.Errorf("error %v", err)
	}
}
