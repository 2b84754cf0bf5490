package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// readyTimeout limits one request of Ready.
const readyTimeout = 10 * time.Second

// Ready checks once, by requesting its list of models, whether each server can be called. A server
// without a list is ready. If model is not "" and a server lists models, it must be among them.
// Ready returns an error for each server, in order: nil if it is ready, otherwise an *Error.
func (c *Client) Ready(ctx context.Context, model string) []error {
	return c.each(func(_ int, s *server) *Error { return s.ready(ctx, model) })
}

func (s *server) ready(ctx context.Context, model string) *Error {
	if s.cfg.Protocol != nil {
		return s.once(ctx, s.cfg.Protocol.Health)
	}
	var names []string
	e := s.once(ctx, Call{Method: http.MethodGet, Path: "/models", Most: minAnswerBytes, Read: func(_ string, _ *http.Response, body []byte) error {
		var list struct {
			answerHead
			More bool `json:"has_more"`
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if e := s.decode("", body, &list, &list.answerHead); e != nil {
			return e
		}
		for _, m := range list.Data {
			if list.More { // the list is not whole
				break
			}
			names = append(names, m.ID)
		}
		return nil
	}})
	switch {
	case e != nil && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented):
		return nil // only the list is missing
	case e != nil:
		return e
	// Ollama lists its models with a tag, and accepts them without the default tag.
	case model == "" || len(names) == 0 || slices.Contains(names, model) || slices.Contains(names, model+":latest"):
		return nil
	}
	listed := strings.Trim(fmt.Sprintf("%q", names), "[]")
	said := "it serves " + strings.ReplaceAll(listed, `" "`, `", "`)
	return s.fail(ErrNotFound, 0, noRetry, fmt.Sprintf("does not serve the model %q", s.clean(model, maxSnippet)),
		s.clean(said, maxMessage), "name one of these models, or the server of the other")
}

// readyPause is the time between two checks of servers that are not ready.
const readyPause = 2 * time.Second

// await checks, before the first call, whether the servers are ready.
func (c *Client) await(ctx context.Context, model string) {
	c.first.Do(func() {
		if c.cfg.Announce != nil {
			c.cfg.Announce()
		}
		if c.cfg.Warn == nil {
			return
		}
		begin, done := beginning(ctx)
		defer done()
		faults := c.Ready(begin, model)
		if passing := slices.IndexFunc(faults, mayPass); passing >= 0 && (len(faults) == 1 || c.cfg.Wait > 0) && begin.Err() == nil {
			until, longer := c.cfg.Wait, ""
			if until == 0 {
				until, longer = closedTime, " (--wait 30m waits longer)"
			}
			c.cfg.Warn(fmt.Errorf("%w; trying until %s%s", faults[passing], time.Now().Add(until).Format(time.TimeOnly), longer))
			if c.cfg.Wait > 0 {
				faults = c.Await(begin, model, c.cfg.Wait)
			}
		}
		for _, err := range faults {
			if err != nil && (errors.Is(err, ErrNotFound) || len(faults) > 1) && begin.Err() == nil {
				c.cfg.Warn(err)
			}
		}
	})
}

// mayPass reports whether a server with a fault may become ready.
func mayPass(err error) bool { return IsAny(err, ErrUnavailable, ErrTimeout) }

// Await repeats Ready for up to wait while a server may still become ready.
func (c *Client) Await(ctx context.Context, model string, wait time.Duration) []error {
	for end := time.Now().Add(wait); ; {
		faults := c.Ready(ctx, model)
		left := time.Until(end)
		if left <= 0 || !slices.ContainsFunc(faults, mayPass) {
			return faults
		}
		if sleep(ctx, time.Now().Add(min(readyPause, left)), nil) != nil {
			return faults
		}
	}
}
