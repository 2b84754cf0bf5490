package command

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/refract-eval/refract/llm"
)

// readyClient asks, before the first call, whether the servers are ready. What
// it finds is a warning: the calls themselves tell what is wrong for good.
type readyClient struct {
	*llm.Client
	e    *env
	wait time.Duration // for all of them to be ready
	once sync.Once
}

// readyPause is the time between two looks at servers that are not ready.
const readyPause = 2 * time.Second

// Complete asks for an answer.
func (c *readyClient) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	c.once.Do(func() { c.look(ctx, r.Model) })
	return c.Client.Complete(ctx, r)
}

func (c *readyClient) look(ctx context.Context, model string) {
	for end := time.Now().Add(c.wait); ; {
		servers, err := c.Ready(ctx, model)
		if err == nil || ctx.Err() != nil {
			return
		}
		if left := time.Until(end); left > 0 && waiting(servers) {
			select {
			case <-time.After(min(readyPause, left)):
				continue
			case <-ctx.Done():
				return
			}
		}
		for _, s := range servers {
			switch {
			case s.Err == nil:
			case errors.Is(s.Err, llm.ErrNotFound), len(servers) > 1:
				c.e.warn("%v", s.Err)
			}
		}
		return
	}
}

// waiting reports whether a server may yet become ready.
func waiting(servers []llm.ServerStatus) bool {
	for _, s := range servers {
		if errors.Is(s.Err, llm.ErrUnavailable) || errors.Is(s.Err, llm.ErrTimeout) {
			return true
		}
	}
	return false
}
