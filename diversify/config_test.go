package diversify_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

func TestNewRefuses(t *testing.T) {
	for want, change := range map[string]func(*diversify.Config){
		"no prompt is given":   func(c *diversify.Config) { c.Prompts = nil },
		"no name or no text":   func(c *diversify.Config) { c.Prompts[1].Text = "" },
		`are named "order"`:    func(c *diversify.Config) { c.Prompts[3].Name = "order" },
		"have the same text":   func(c *diversify.Config) { c.Prompts[3].Text = c.Prompts[2].Text },
		"prompt 3":             func(c *diversify.Config) { c.Prompts[2].Text = "a\xff" },
		"-1 samples":           func(c *diversify.Config) { c.Samples = -1 },
		"names no model":       func(c *diversify.Config) { c.Model = "" },
		"model name is":        func(c *diversify.Config) { c.Model = "\xff" },
		`endpoint "embedding"`: func(c *diversify.Config) { c.Endpoint = "embedding" },
		"temperature is NaN":   func(c *diversify.Config) { c.Temperature = math.NaN() },
		"temperature is -1":    func(c *diversify.Config) { c.Temperature = -1 },
		"top_p is 1.5":         func(c *diversify.Config) { c.TopP = 1.5 },
		"max_tokens is -1":     func(c *diversify.Config) { c.MaxTokens = -1 },
		"concurrency is -1":    func(c *diversify.Config) { c.Concurrency = -1 },
		"no store is given":    func(c *diversify.Config) { c.Store = nil },
	} {
		cfg := config(completer(echo))
		change(&cfg)
		_, err := diversify.New(cfg)
		assert.ErrorContains(t, err, want)
	}
}

// The settings reach the server unchanged.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(*diversify.Config)
		chat      bool
		temp, top float64
		tokens    int
	}{
		{"paper", func(*diversify.Config) {}, true, 1, 0.9, diversify.DefaultMaxTokens},
		{"greedy", func(c *diversify.Config) { c.Temperature, c.TopP, c.MaxTokens = 0, 1, 64 }, true, 0, 1, 64},
		{"completions", func(c *diversify.Config) { c.Endpoint = llm.Completions }, false, 1, 0.9, diversify.DefaultMaxTokens},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := llmtest.NewServer(t, nil)
			cfg := config(nil)
			c.change(&cfg)
			cfg.Client = client(t, server, func(l *llm.Config) { l.Endpoint = cfg.Endpoint })
			_, s := mustRun(t, newExpander(t, cfg), numbered(1))
			requests := server.Requests()
			if len(requests) != 20 || s.Calls != 20 {
				t.Fatalf("%d requests, %d calls", len(requests), s.Calls)
			}
			for _, r := range requests {
				if r.Chat != c.chat || r.Model != model || *r.Temperature != c.temp || *r.TopP != c.top || r.MaxTokens != c.tokens || r.Seed != nil {
					t.Errorf("sent %s", r.Raw)
				}
			}
		})
	}
}
