package servers_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refract-eval/refract/llm"
)

// clientOf is a client of the server under a base URL.
func clientOf(t *testing.T, base string, endpoint llm.Endpoint) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Config{BaseURL: base, Endpoint: endpoint, Timeout: time.Minute, MaxRetries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// beside reads from a server, beside the client under test: a path beside the
// version of its base URL, by POST where there is a body.
func beside(t *testing.T, base, path string, body []byte) []byte {
	t.Helper()
	address := strings.TrimSuffix(base, "/v1") + path
	var resp *http.Response
	var err error
	if body == nil {
		resp, err = http.Get(address)
	} else {
		resp, err = http.Post(address, "application/json", bytes.NewReader(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, resp.Status, err)
	}
	return b
}

// tokenized are the ids of the tokens that a server answers for a body.
func tokenized(t *testing.T, base string, body map[string]any) []int {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Tokens []int `json:"tokens"`
	}
	if err := json.Unmarshal(beside(t, base, "/tokenize", b), &answer); err != nil || len(answer.Tokens) == 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
	return answer.Tokens
}

// witness stands before a server and notes what it is asked, in order.
type witness struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
}

type asked struct {
	path string
	body []byte
}

// newWitness passes calls on, after edit, if any, has changed their bodies.
func newWitness(t *testing.T, base string, edit func(body map[string]any)) *witness {
	t.Helper()
	server, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: server.Scheme, Host: server.Host})
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/completions") {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				w.mu.Lock()
				w.asked = append(w.asked, asked{r.URL.Path, body})
				w.mu.Unlock()
				body, err = edited(body, edit)
			}
			if err != nil {
				http.Error(rw, err.Error(), http.StatusBadRequest)
				return
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func edited(body []byte, edit func(body map[string]any)) ([]byte, error) {
	if edit == nil {
		return body, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	edit(fields)
	return json.Marshal(fields)
}
