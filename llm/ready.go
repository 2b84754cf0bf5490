package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// readyTimeout limits one question of Ready.
const readyTimeout = 10 * time.Second

// Ready asks each server once whether it can be called: by GET /health beside
// the version of its base URL, which vLLM and llama.cpp have, and by its list
// of models. A server without the former is ready when it has the latter, and
// the other way round. A model is "" or has to be listed where anything is.
//
// It returns an error for each server, in their order: nil for one that is
// ready, and otherwise an *Error.
func (c *Client) Ready(ctx context.Context, model string) []error {
	return c.each(func(_ int, s *server) *Error { return s.ready(ctx, model) })
}

func (s *server) ready(ctx context.Context, model string) *Error {
	if s.protocol != nil {
		return s.once(ctx, s.protocol.Health)
	}
	health := s.once(ctx, Call{Method: http.MethodGet, Path: "/health", beside: true,
		Read: func(string, *http.Response, []byte) error { return nil }})
	if health != nil && (health.Status == 0 || health.Status >= 500 && health.Status != http.StatusNotImplemented) {
		return health
	}
	var names []string
	e := s.once(ctx, Call{Method: http.MethodGet, Path: "/models", Most: minAnswerBytes, Read: func(_ string, _ *http.Response, body []byte) error {
		var list struct {
			Object string          `json:"object"`
			Error  json.RawMessage `json:"error"`
			Data   []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if e := s.decode("", body, &list, &list.Object, &list.Error); e != nil {
			return e
		}
		for _, m := range list.Data {
			names = append(names, m.ID)
		}
		return nil
	}})
	if e != nil {
		// Nothing but the list itself may be missing from a healthy server.
		if health == nil && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented) {
			return nil
		}
		return e
	}
	// Ollama lists its models with a tag, and knows them without the usual.
	if model == "" || len(names) == 0 || slices.Contains(names, model) || slices.Contains(names, model+":latest") {
		return nil
	}
	listed := strings.Trim(fmt.Sprintf("%q", names), "[]")
	said := "it serves " + strings.ReplaceAll(listed, `" "`, `", "`)
	return s.fail(ErrNotFound, 0, noRetry, fmt.Sprintf("does not serve the model %q", s.clean(model, maxSnippet)),
		s.clean(said, maxMessage), "name one of these models, or the server of the other")
}

// Awaiting is a Client that asks, before the first call, whether the servers are
// ready. What it finds is a warning: the calls themselves tell what is wrong for
// good. Do not copy it.
type Awaiting struct {
	*Client
	Wait time.Duration // for all servers to be ready; 0 looks once
	Warn func(error)

	once sync.Once
}

// readyPause is the time between two looks at servers that are not ready.
const readyPause = 2 * time.Second

// Complete asks for an answer.
func (c *Awaiting) Complete(ctx context.Context, r Request) (Response, error) {
	c.await(ctx, r.Model)
	return c.Client.Complete(ctx, r)
}

// Embed asks for vectors.
func (c *Awaiting) Embed(ctx context.Context, r EmbedRequest) (EmbedResponse, error) {
	c.await(ctx, r.Model)
	return c.Client.Embed(ctx, r)
}

func (c *Awaiting) await(ctx context.Context, model string) {
	c.once.Do(func() {
		begin, done := beginning(ctx)
		defer done()
		c.look(begin, model)
	})
}

func (c *Awaiting) look(ctx context.Context, model string) {
	faults := c.Await(ctx, model, c.Wait)
	for _, err := range faults {
		if err != nil && (errors.Is(err, ErrNotFound) || len(faults) > 1) && ctx.Err() == nil {
			c.Warn(err)
		}
	}
}

// Await is Ready, asked again for some time while a server may become ready.
func (c *Client) Await(ctx context.Context, model string, wait time.Duration) []error {
	for end := time.Now().Add(wait); ; {
		faults := c.Ready(ctx, model)
		left := time.Until(end)
		if left <= 0 || !slices.ContainsFunc(faults, mayBecomeReady) {
			return faults
		}
		select {
		case <-time.After(min(readyPause, left)):
		case <-ctx.Done():
			return faults
		}
	}
}

func mayBecomeReady(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrTimeout)
}
