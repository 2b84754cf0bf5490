package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// ServerStatus is what a server says of itself.
type ServerStatus struct {
	Server string // base URL, without user and query
	// Models are the models that it lists, nil where it lists none.
	Models []ModelInfo
	// Err is nil for a server that is ready, and otherwise an *Error.
	Err error
}

// ModelInfo is an entry of a server's list of models.
type ModelInfo struct {
	Name string
	// MaxLen is the longest prompt with answer, in tokens; 0 where the server
	// does not say.
	MaxLen int
}

// readyTimeout limits one question of Ready and of a probe.
const readyTimeout = 10 * time.Second

// Ready asks each server once whether it can be called: by GET /health beside
// the version of its base URL, which vLLM and llama.cpp have, and by its list
// of models. A server without the former is ready when it has the latter, and
// the other way round. A model is "" or has to be listed where anything is.
//
// The statuses are those of all servers, in their order. The error is nil when
// all are ready; it joins the *Error of each that is not, and wraps ctx.Err()
// when the context has ended.
func (c *Client) Ready(ctx context.Context, model string) ([]ServerStatus, error) {
	out := make([]ServerStatus, len(c.pool.servers))
	var wg sync.WaitGroup
	for i, s := range c.pool.servers {
		wg.Go(func() {
			models, f := s.ready(ctx, model)
			out[i] = ServerStatus{Server: s.target.shown, Models: models}
			if f != nil {
				out[i].Err = &f.Error
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return out, fmt.Errorf("servers %s not asked to the end: %w", c.pool.shown, err)
	}
	var errs []error
	for _, s := range out {
		if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	if len(errs) == 1 {
		return out, errs[0]
	}
	return out, errors.Join(errs...)
}

func (s *server) ready(ctx context.Context, model string) ([]ModelInfo, *failure) {
	healthy, f := s.healthy(ctx)
	if f != nil {
		return nil, f
	}
	body, f := s.ask(ctx, s.target.at(&url.URL{Path: "/models"}))
	if f != nil {
		// Nothing but the list itself may be missing from a healthy server.
		if healthy && (f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed || f.Status == http.StatusNotImplemented) {
			return nil, nil
		}
		return nil, f
	}
	models, f := s.attempt.readModels(body)
	if f != nil {
		return nil, f
	}
	if model == "" || len(models) == 0 {
		return models, nil
	}
	listed := make([]string, len(models))
	for i, m := range models {
		// Ollama lists its models with a tag, and knows them without the usual.
		if m.Name == model || m.Name == model+":latest" {
			return models, nil
		}
		listed[i] = fmt.Sprintf("%q", m.Name)
	}
	said := "it serves " + strings.Join(listed, ", ")
	return models, s.attempt.fail(ErrNotFound, 0, noRetry, fmt.Sprintf("does not serve the model %q", s.target.clean(model, maxSnippet)),
		s.target.clean(said, maxMessage), "name one of these models, or the server of the other")
}

// healthy asks for /health: true is yes, false that there is no such address.
func (s *server) healthy(ctx context.Context) (bool, *failure) {
	_, f := s.ask(ctx, s.target.root("/health"))
	switch {
	case f == nil:
		return true, nil
	case f.Status == 0 || f.Status >= 500 && f.Status != http.StatusNotImplemented:
		return false, f
	}
	return false, nil
}

// readModels reads a list of models.
func (t *attemptTransport) readModels(body []byte) ([]ModelInfo, *failure) {
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			MaxModelLen int    `json:"max_model_len"`
		} `json:"data"`
	}
	err := json.Unmarshal(body, &list)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, t.notJSON(http.StatusOK, bytes.TrimSpace(body))
	case err != nil:
		return nil, t.badShape(body, "gave a list of models of an unexpected shape")
	}
	models := make([]ModelInfo, len(list.Data))
	for i, m := range list.Data {
		models[i] = ModelInfo{Name: m.ID, MaxLen: m.MaxModelLen}
	}
	return models, nil
}

// ask makes one GET, outside all limits.
func (s *server) ask(ctx context.Context, at *url.URL) ([]byte, *failure) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	t := s.attempt
	req := (&http.Request{Method: http.MethodGet, URL: at, Header: t.header.Clone()}).WithContext(ctx)
	req.Header.Del("Content-Type")
	resp, err := t.base.RoundTrip(req)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
		_ = resp.Body.Close()
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, t.timedOut(readyTimeout)
	case err != nil:
		return nil, t.unreachable("cannot be reached", err)
	case resp.StatusCode != http.StatusOK:
		resp.Request = req
		return nil, t.refused("", resp, body)
	}
	return body, nil
}

// probe asks an ejected server whether it is well, and readmits it if so. It
// belongs to no call: whoever waits for the server profits.
func (p *pool) probe(s *server) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	f := s.alive(ctx)
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
	if healthy, f := s.healthy(ctx); healthy || f != nil {
		return f
	}
	_, f := s.ask(ctx, s.target.at(&url.URL{Path: "/models"}))
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
	c.once.Do(func() { c.look(ctx, r.Model) })
	return c.Client.Complete(ctx, r)
}

func (c *Awaiting) look(ctx context.Context, model string) {
	for end := time.Now().Add(c.Wait); ; {
		servers, err := c.Ready(ctx, model)
		if err == nil || ctx.Err() != nil {
			return
		}
		if left := time.Until(end); left > 0 && slices.ContainsFunc(servers, ServerStatus.mayBecomeReady) {
			select {
			case <-time.After(min(readyPause, left)):
				continue
			case <-ctx.Done():
				return
			}
		}
		for _, s := range servers {
			if s.Err != nil && (errors.Is(s.Err, ErrNotFound) || len(servers) > 1) {
				c.Warn(s.Err)
			}
		}
		return
	}
}

func (s ServerStatus) mayBecomeReady() bool {
	return errors.Is(s.Err, ErrUnavailable) || errors.Is(s.Err, ErrTimeout)
}
