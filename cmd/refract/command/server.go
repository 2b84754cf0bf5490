package command

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
)

// serverFlags say which servers are called, and how hard.
type serverFlags struct {
	baseURLs          []string
	concurrency       int
	requestsPerMinute int
	tokensPerMinute   int
	timeout           time.Duration
	retries           int
	maxWait           time.Duration
	wait              time.Duration
}

// defaultConcurrency is what a small server can take; the client finds by
// itself how much of it is too much.
const defaultConcurrency = 32

func (s *serverFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.baseURLs, "base-url", nil, "`URL` of a server, up to and including /v1 (repeatable; default OPENAI_BASE_URL, or OpenAI)")
	f.IntVar(&s.concurrency, "concurrency", defaultConcurrency, "most calls at a time, to each server")
	f.IntVar(&s.requestsPerMinute, "rpm", 0, "most requests a minute, to each server; 0 for no limit")
	f.IntVar(&s.tokensPerMinute, "tpm", 0, "most tokens a minute, to each server, prompts and --max-tokens together; 0 for no limit")
	f.DurationVar(&s.timeout, "timeout", llm.DefaultTimeout, "time limit of one attempt")
	f.IntVar(&s.retries, "retries", llm.DefaultMaxRetries, "attempts after the first; 0 for none")
	f.DurationVar(&s.maxWait, "max-wait", llm.DefaultMaxRetryWait, "longest wait before an attempt that a server may ask for")
	f.DurationVar(&s.wait, "wait", 0, "how long to wait for servers that are not ready yet, such as 10m")
	grouped(cmd, modelFlags, "base-url")
}

// tellServers says with -v what became of the calls to each server.
func (e *env) tellServers() {
	if !e.verbose {
		return
	}
	for _, c := range e.clients {
		for _, s := range c.Stats() {
			if s.Calls == 0 {
				continue
			}
			fault := ""
			if s.LastFault != "" {
				fault = "; the last fault: it " + s.LastFault
			}
			e.note("%s: %s, %d without an answer (%d refused for load or rate), %d cancelled; out of service %s%s",
				s.Server, english.Thousands(s.Calls, "attempt"), s.Failures, s.Throttled, s.Cancelled, english.Count(s.Ejections, "time"), fault)
		}
	}
}

// awaiting is a client that waits for its servers at first.
func (e *env) awaiting(c *llm.Client, wait time.Duration) *llm.Awaiting {
	e.clients = append(e.clients, c)
	return &llm.Awaiting{Client: c, Wait: wait, Warn: func(err error) { e.warn("%v", err) }}
}

// urls are the servers that are named, at least one.
func (s *serverFlags) urls(e *env) []string {
	if len(s.baseURLs) > 0 {
		return s.baseURLs
	}
	if named := e.getenv("OPENAI_BASE_URL"); named != "" {
		return strings.Fields(strings.ReplaceAll(named, ",", " "))
	}
	return []string{llm.DefaultBaseURL}
}

// calls is how many calls run at a time in all.
func (s *serverFlags) calls(e *env) int { return s.concurrency * len(s.urls(e)) }

func (s *serverFlags) client(e *env, endpoint string) (*llm.Client, error) {
	for _, n := range []struct {
		flag         string
		value, least int
	}{{"concurrency", s.concurrency, 1}, {"rpm", s.requestsPerMinute, 0}, {"tpm", s.tokensPerMinute, 0}, {"retries", s.retries, 0}} {
		if n.value < n.least {
			return nil, usagef("--%s %d: want %d or more", n.flag, n.value, n.least)
		}
	}
	cfg := llm.Config{
		Endpoint: llm.Endpoint(endpoint),
		Limits:   llm.Limits{MaxInFlight: s.concurrency, RequestsPerMinute: s.requestsPerMinute, TokensPerMinute: s.tokensPerMinute},
		Timeout:  s.timeout, MaxRetries: s.retries, MaxRetryWait: s.maxWait,
		UserAgent: "refract/" + refract.Version,
	}
	if s.retries == 0 {
		cfg.MaxRetries = -1 // the client's word for none
	}
	for _, url := range s.urls(e) {
		cfg.Servers = append(cfg.Servers, llm.Server{BaseURL: url, APIKey: e.getenv("OPENAI_API_KEY")})
	}
	client, err := llm.New(cfg)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return client, nil
}
