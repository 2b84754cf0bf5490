package llm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/refract-eval/refract/internal/redact"
)

// Defaults of Config.
const (
	DefaultBaseURL      = "https://api.openai.com/v1"
	DefaultTimeout      = 5 * time.Minute
	DefaultMaxRetries   = 6
	DefaultMaxRetryWait = 10 * time.Minute
)

// Config says which servers are called, and how. A formatted Config shows neither keys nor other
// secrets in a base URL.
type Config struct {
	// BaseURL is the address up to and including the version, such as
	// http://127.0.0.1:8000/v1; "" means the Endpoint's Service, or none if there are Servers. A
	// user and password in it are sent as basic authentication, and a query with every
	// request.
	BaseURL string `json:"-"`
	// APIKey is sent to BaseURL as a bearer token, or as x-api-key to Messages; "" sends none.
	APIKey string `json:"-"`
	// Servers are further servers of the same models.
	Servers []Server `json:"-"`
	// MaxInFlight bounds the calls in flight at each server; 0 means 256.
	MaxInFlight int
	// Protocol is nil for OpenAI's.
	Protocol *Protocol `json:"-"`
	// Endpoint defaults to Chat.
	Endpoint Endpoint
	// Timeout limits one attempt, including reading its answer but not waiting for its turn;
	// 0 means DefaultTimeout. The context of a call limits all its attempts together.
	Timeout time.Duration
	// MaxRetries bounds the attempts after the first; 0 means
	// DefaultMaxRetries, a negative number none.
	MaxRetries int
	// MaxRetryWait is the longest wait that a server may ask for; 0 means
	// DefaultMaxRetryWait. One that asks for more is asked again as after any failure. Waits that
	// servers asked for do not count as retries; after as long in all a call fails.
	MaxRetryWait time.Duration
	// Warn, if not nil, is called before the first call with an error about servers that
	// are not ready after Wait, and for each server with the first error that asks for a long
	// wait. Calls report permanent errors themselves.
	Warn func(error) `json:"-"`
	Wait time.Duration
	// Announce, if not nil, is called once, before the first call.
	Announce func() `json:"-"`
	// UserAgent defaults to "refract".
	UserAgent string
	// Transport sends the attempts; nil means one like http.DefaultTransport, but with a
	// connection for every call in flight.
	Transport http.RoundTripper `json:"-"`
}

// Server is one of several servers, described as in Config. A key is sent only to its own
// server.
type Server struct {
	BaseURL string `json:"-"`
	APIKey  string `json:"-"`
}

// Format writes the Server without its secrets, for any verb.
func (s Server) Format(f fmt.State, _ rune) {
	t, err := parseTarget(s.BaseURL, s.APIKey)
	if err != nil {
		_, _ = io.WriteString(f, "llm.Server{invalid}")
		return
	}
	fmt.Fprintf(f, "llm.Server{%s}", t.shown)
}

// Format writes the Config without its secrets, for any verb.
func (c Config) Format(f fmt.State, _ rune) {
	targets, err := c.targets()
	if err != nil {
		_, _ = io.WriteString(f, "llm.Config{invalid}")
		return
	}
	fmt.Fprintf(f, "llm.Config{%s %s}", names(targets), c.Endpoint)
}

// names returns the servers' addresses for messages.
func names(targets []target) string {
	shown := make([]string, len(targets))
	for i, t := range targets {
		shown[i] = t.shown
	}
	return strings.Join(shown, ", ")
}

// targets parses all addresses. Each target redacts the secrets of all, because servers behind the
// same proxy may return each other's errors.
func (c Config) targets() ([]target, error) {
	servers := c.Servers
	if c.BaseURL != "" || c.APIKey != "" || len(servers) == 0 {
		servers = append([]Server{{c.BaseURL, c.APIKey}}, servers...)
	}
	var (
		targets []target
		secrets []string
		seen    = map[string]bool{}
	)
	for i, s := range servers {
		t, err := parseTarget(cmp.Or(s.BaseURL, c.Endpoint.Service().URL), s.APIKey)
		if err != nil {
			if len(servers) > 1 {
				err = fmt.Errorf("server %d of %d: %w", i+1, len(servers), err)
			}
			return nil, err
		}
		if seen[t.base] {
			return nil, fmt.Errorf("server %s is named twice", t.shown)
		}
		seen[t.base] = true
		secrets = append(secrets, t.secrets...)
		if c.Endpoint == Messages && s.APIKey != "" {
			t.keyHeader, t.authorization = "X-Api-Key", s.APIKey
		}
		targets = append(targets, t)
	}
	hidden := redact.NewKnown(secrets)
	for i := range targets {
		targets[i].hidden = hidden
	}
	return targets, nil
}

// complete fills in the defaults, and returns an error if the Config cannot work.
func (c *Config) complete() error {
	c.Endpoint = cmp.Or(c.Endpoint, Chat)
	if err := c.Endpoint.check(); err != nil {
		return err
	}
	if c.Timeout < 0 || c.MaxRetryWait < 0 || c.MaxInFlight < 0 {
		return errors.New("the timeout, the maximum retry wait and the calls in flight must not be negative")
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.MaxRetryWait = cmp.Or(c.MaxRetryWait, DefaultMaxRetryWait)
	c.MaxRetries = max(0, cmp.Or(c.MaxRetries, DefaultMaxRetries))
	c.MaxInFlight = cmp.Or(c.MaxInFlight, 256)
	c.UserAgent = cmp.Or(c.UserAgent, "refract")
	if c.Transport == nil {
		c.Transport = defaultTransport(c.MaxInFlight)
	}
	return nil
}

// defaultTransport keeps a connection per call in flight; http.DefaultTransport keeps only two.
// It disables compression, which is not worth the time for short answers.
func defaultTransport(perServer int) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = perServer
	t.DisableCompression = true
	return t
}
