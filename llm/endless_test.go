package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless is a server whose answers have at least a given size.
type endless struct {
	size       int64
	read, most atomic.Int64 // bytes read, and maximum concurrent calls that have read many
	large      atomic.Int64
}

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Request: r, Body: &endlessBody{e: e, ctx: r.Context()}}, nil
}

type endlessBody struct {
	e   *endless
	ctx context.Context
	n   int64
}

func (b *endlessBody) Read(p []byte) (int, error) {
	if b.n >= b.e.size {
		return 0, io.EOF
	}
	copy(p, bytes.Repeat([]byte(" "), len(p)))
	if b.n <= smallAnswer && b.n+int64(len(p)) > smallAnswer {
		b.e.most.Store(max(b.e.most.Load(), b.e.large.Add(1)))
	}
	b.n += int64(len(p))
	b.e.read.Add(int64(len(p)))
	return len(p), b.ctx.Err()
}

func (b *endlessBody) Close() error {
	if b.n > smallAnswer {
		b.e.large.Add(-1)
	}
	return nil
}

// An answer may be as long as its tokens allow, and large answers share a bound of their
// client.
func TestEndlessAnswers(t *testing.T) {
	e := &endless{size: 1 << 40}
	c, err := New(Config{BaseURL: "http://a.test/v1", Transport: e, MaxRetries: -1})
	require.NoError(t, err)
	const calls = 60
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			_, err := c.Complete(t.Context(), Request{Model: "m", Prompt: "p", TopP: 1, MaxTokens: 1024})
			if !errors.Is(err, ErrBadAnswer) || !strings.Contains(err.Error(), "more than 5242880 bytes (200)") {
				t.Errorf("error %v", err)
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, e.read.Load()/calls, int64(5<<20+1<<17))
	assert.LessOrEqual(t, e.most.Load(), int64(allAnswerBytes/(2*5<<20)))
	e.size = 1 << 20
	e.most.Store(0)
	for range 8 { // vectors may have any length
		wg.Go(func() { _, _ = c.Embed(t.Context(), EmbedRequest{Model: "m", Texts: []string{"a"}}) })
	}
	wg.Wait()
	assert.LessOrEqual(t, e.most.Load(), int64(2))
}
