package diversify_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/diversify"
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
