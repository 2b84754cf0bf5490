package diversify_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// Two expanders that share a cache file and have the same requests ask for each answer
// once between them, and both get all answers.
func TestSharedCache(t *testing.T) {
	file := cacheFile(t)
	var mu sync.Mutex
	calls := map[string]int{}
	cfg := config(completer(func(ctx context.Context, r llm.Request) (llm.Response, error) {
		mu.Lock()
		calls[r.Prompt]++
		mu.Unlock()
		time.Sleep(time.Millisecond)
		return fickle(ctx, r)
	}))
	cfg.Prompts = ten(t, "order,voice,tense")
	cfg.Check = checker(t, check.ReasonCut)
	cfg.Resample, cfg.Concurrency = 1, 4

	// Equal references, near and far, are one request.
	ds := append(numbered(60), numbered(60)...)
	outs := make([][]*refract.Segment, 2)
	var wg sync.WaitGroup
	for i := range outs {
		c := cfg
		c.Store = openSQLite(t, file)
		x := newExpander(t, c)
		wg.Go(func() {
			out, _, err := run(t.Context(), x, ds)
			assert.NoError(t, err)
			outs[i] = out
		})
	}
	wg.Wait()
	assert.Empty(t, cmp.Diff(outs[0], outs[1]), "the outputs differ")
	stored := 0
	for range cache.NewAnswers(openSQLite(t, file)).Entries(t.Context()) {
		stored++
	}
	made := 0
	for prompt, n := range calls {
		made += n
		if n > 2 { // a sample and a further one
			t.Errorf("%d calls with %q", n, prompt)
		}
	}
	if made != stored || made == 0 {
		t.Errorf("%d calls for %d answers", made, stored)
	}
}

// Claims that a run did not use are released when it ends.
func TestClaimsAreReleased(t *testing.T) {
	file := cacheFile(t)
	first := openSQLite(t, file)
	cfg := config(completer(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Kind: llm.ErrAuth}
	}))
	cfg.Store, cfg.Concurrency = first, 2
	if _, _, err := run(t.Context(), newExpander(t, cfg), numbered(3)); err == nil {
		t.Fatal("no error")
	}
	// The first store stays open; claims not released would live as long.
	cfg.Store, cfg.Client = openSQLite(t, file), completer(echo)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, s, err := run(ctx, newExpander(t, cfg), numbered(3)); err != nil || s.Calls != 60 {
		t.Errorf("%d calls, %v", s.Calls, err)
	}
}

var _ ask.Completer = (*llm.Client)(nil)
