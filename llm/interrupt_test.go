package llm_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
)

// After Stop, a call in flight gets its answer, and one that waits for its next attempt or has not
// begun ends. A context of Lasting continues until GiveUp.
func TestInterrupt(t *testing.T) {
	arrived, answer := make(chan struct{}, 2), make(chan struct{})
	server := llmtest.NewServer(t, &llmtest.Handler{
		Answer: func(*llmtest.Request) string {
			arrived <- struct{}{}
			<-answer
			return "yes"
		},
		Decide: func(r *llmtest.Request) llmtest.Fault {
			if r.Prompt != "busy" {
				return nil
			}
			arrived <- struct{}{}
			return llmtest.With("Retry-After", "60", llmtest.Status(429, "later"))
		},
	})
	client, err := llm.New(llm.Config{BaseURL: server.BaseURL})
	require.NoError(t, err)
	ctx, interrupt := llm.Interruptible(t.Context())
	lasting, done := llm.Lasting(ctx, ctx)
	defer done()
	ask := func(prompt string) <-chan error {
		out := make(chan error, 1)
		go func() {
			_, err := client.Complete(lasting, llm.Request{Model: "m", Prompt: prompt, MaxTokens: 10})
			out <- err
		}()
		return out
	}
	slow := ask("slow")
	<-arrived
	busy := ask("busy")
	<-arrived
	interrupt.Stop()
	assert.ErrorIs(t, <-busy, context.Canceled, "a call that waits for another attempt")
	if err := <-ask("late"); !errors.Is(err, context.Canceled) || server.Handler.Calls() != 2 {
		t.Errorf("a late call: %v, %d calls", err, server.Handler.Calls())
	}
	if n := interrupt.Calls(); n != 1 || ctx.Err() == nil || lasting.Err() != nil {
		t.Errorf("%d calls in flight, want 1; %v, %v", n, ctx.Err(), lasting.Err())
	}
	close(answer)
	assert.NoError(t, <-slow, "the call in flight")
	interrupt.GiveUp()
	select {
	case <-lasting.Done():
	case <-time.After(10 * time.Second):
		t.Error("what is in flight is not given up")
	}
}
