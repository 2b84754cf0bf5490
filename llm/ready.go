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

// readyTimeout limits one question of Ready and of a probe.
const readyTimeout = 10 * time.Second

// Ready asks each server once whether it can be called: by GET /health beside
// the version of its base URL, which vLLM and llama.cpp have, and by its list
// of models. A server without the former is ready when it has the latter, and
// the other way round. A model is "" or has to be listed where anything is.
//
// It returns an error for each server, in their order: nil for one that is
// ready, and otherwise an *Error.
func (c *Client) Ready(ctx context.Context, model string) []error {
	return c.each(func(_ int, s *server) *failure { return s.ready(ctx, model) })
}

func (s *server) ready(ctx context.Context, model string) *failure {
	if s.speaks != nil {
		return s.alive(ctx)
	}
	healthy, f := s.healthy(ctx)
	if f != nil {
		return f
	}
	models, f := s.models(ctx)
	if f != nil {
		// Nothing but the list itself may be missing from a healthy server.
		if healthy && (f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed || f.Status == http.StatusNotImplemented) {
			return nil
		}
		return f
	}
	// Ollama lists its models with a tag, and knows them without the usual.
	if model == "" || len(models) == 0 || slices.Contains(models, model) || slices.Contains(models, model+":latest") {
		return nil
	}
	listed := strings.Trim(fmt.Sprintf("%q", models), "[]")
	said := "it serves " + strings.ReplaceAll(listed, `" "`, `", "`)
	return s.fail(ErrNotFound, 0, noRetry, fmt.Sprintf("does not serve the model %q", s.target.clean(model, maxSnippet)),
		s.target.clean(said, maxMessage), "name one of these models, or the server of the other")
}

// healthy asks for /health: true is yes, false that there is no such address.
func (s *server) healthy(ctx context.Context) (bool, *failure) {
	f := s.get(ctx, httpRequest{path: "/health", beside: true}, func(*link, []byte) *failure { return nil })
	switch {
	case f == nil:
		return true, nil
	case f.Status == 0 || f.Status >= 500 && f.Status != http.StatusNotImplemented:
		return false, f
	}
	return false, nil
}

// models asks for the names of the models.
func (s *server) models(ctx context.Context) (names []string, f *failure) {
	f = s.get(ctx, httpRequest{path: "/models"}, func(t *link, body []byte) *failure {
		var list struct {
			Object string          `json:"object"`
			Error  json.RawMessage `json:"error"`
			Data   []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		f := t.decode("", body, &list, &list.Object, &list.Error)
		for _, m := range list.Data {
			names = append(names, m.ID)
		}
		return f
	})
	return names, f
}

// get makes one GET, outside all limits.
func (s *server) get(ctx context.Context, r httpRequest, read func(*link, []byte) *failure) *failure {
	r.method = http.MethodGet
	return s.once(ctx, &exchange{httpRequest: r, maxTokens: 1, read: read})
}

// probe asks an ejected server whether it is well, and readmits it if so. It
// belongs to no call: whoever waits for the server profits.
func (p *pool) probe(s *server) {
	f := s.alive(context.Background())
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s.probing = false
	if f == nil {
		s.readmit(now)
	} else {
		s.fault = f
		s.setBack(now)
	}
	p.dispatch(now)
}

// alive is nil for a server that is healthy or, without /health, answers for
// its models, be it by a refusal.
func (s *server) alive(ctx context.Context) *failure {
	if s.speaks != nil {
		return s.once(ctx, s.speaks.Health.exchange())
	}
	if healthy, f := s.healthy(ctx); healthy || f != nil {
		return f
	}
	_, f := s.models(ctx)
	if f != nil && (f.Status == 0 || f.Status >= 500) {
		return f
	}
	return nil
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
