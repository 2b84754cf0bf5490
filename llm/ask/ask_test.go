package ask_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
)

// client answers with a function and counts calls.
type client struct {
	answer func(ctx context.Context, prompt string) (string, error)
	mu     sync.Mutex
	calls  []string
}

func (c *client) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	c.mu.Lock()
	c.calls = append(c.calls, r.Prompt)
	c.mu.Unlock()
	text, err := c.answer(ctx, r.Prompt)
	return llm.Response{Text: text, HasText: err == nil, FinishReason: "stop"}, err
}

func echo() *client {
	return &client{answer: func(_ context.Context, p string) (string, error) { return "re: " + p, nil }}
}

func question(prompt string) ask.Question {
	r := cache.Request{Kind: "chat", Model: "m", Prompt: prompt}
	return ask.Question{Request: r, Key: r.Key(), Wire: llm.Request{Model: "m", Prompt: prompt, TopP: 1, MaxTokens: 8}}
}

// job asks for the answers to prompts in one round, and records them.
type job struct {
	prompts []string
	results []ask.Result
}

func (j *job) Next(results []ask.Result) (round []ask.Question, err error) {
	if results == nil {
		for _, p := range j.prompts {
			round = append(round, question(p))
		}
	}
	j.results = results
	return round, nil
}

func (j *job) Answered(int, ask.Result) {}

func (j *job) At(i int, err error) error { return fmt.Errorf("at %s: %w", j.prompts[i], err) }

// all asks for the answers to prompts, in their order, and returns them.
func all(ctx context.Context, a *ask.Asker, prompts ...string) ([]ask.Result, error) {
	j := &job{prompts: prompts}
	err := a.Do(ctx, j)
	return j.results, err
}

func TestAnswersAreStoredAndSharedInOrder(t *testing.T) {
	c, store := echo(), cache.NewMemory()
	a := ask.New(ask.Config{Client: c, Store: store, Concurrency: 1})
	got, err := all(t.Context(), a, "one", "two", "one", "three")
	require.NoError(t, err)
	called := 0
	for i, want := range []string{"re: one", "re: two", "re: one", "re: three"} {
		assert.Equal(t, want, got[i].Answer.Text)
		if got[i].Called {
			called++
		}
	}
	if calls := strings.Join(c.calls, " "); calls != "one two three" || called != 3 {
		t.Errorf("calls %q, told of %d", calls, called)
	}
	again, err := all(t.Context(), a, "one", "two", "four")
	if err != nil || len(c.calls) != 4 || again[0].Called || again[0].Answer.Text != "re: one" {
		t.Errorf("%v %v %v", again, c.calls, err)
	}
}

func TestWithoutAClient(t *testing.T) {
	a := ask.New(ask.Config{Store: cache.NewMemory()})
	_, err := all(t.Context(), a, "one")
	assert.True(t, errors.Is(err, ask.ErrNotStored) && strings.HasPrefix(err.Error(), "at one: "), "%v", err)
}

// Up to a number of requests may fail because of their content, whether or not the model has
// answered others before.
func TestTolerance(t *testing.T) {
	c := &client{answer: func(_ context.Context, p string) (string, error) {
		if strings.HasPrefix(p, "long") {
			return "", fmt.Errorf("too long: %w", llm.ErrContextLength)
		}
		return "ok", nil
	}}
	for _, test := range []struct {
		prompts []string
		failed  bool
	}{
		{[]string{"short", "long 1", "long 2", "short 2"}, false},
		{[]string{"short", "long 1", "long 2", "long 3"}, true},
		{[]string{"long 1", "short", "long 2"}, false},
		{[]string{"long 1", "long 2", "long 3"}, true},
	} {
		a := ask.New(ask.Config{Client: c, Store: cache.NewMemory(), Concurrency: 1, Tolerate: 2})
		got, err := all(t.Context(), a, test.prompts...)
		assert.Equal(t, test.failed, err != nil, "%v: %v", test.prompts, err)
		if !test.failed && (got[2].Err == nil || !got[2].Tolerated) {
			t.Errorf("%v: %+v", test.prompts, got[1])
		}
		if test.failed && (!errors.Is(err, ask.ErrTolerance) || strings.Contains(err.Error(), "no request was answered, and 3 were refused") != (test.prompts[0] == "long 1")) {
			t.Errorf("%v: %v", test.prompts, err)
		}
		if test.failed && !errors.Is(err, llm.ErrContextLength) {
			t.Errorf("%v: %v is not the cause", test.prompts, err)
		}
	}
}

// A request at which the model fails is tolerated if the model answers another one afterwards.
func TestOneInput(t *testing.T) {
	for _, kind := range []error{llm.ErrUnavailable, llm.ErrTimeout, llm.ErrBadAnswer, llm.ErrRateLimited, llm.ErrNotFound, llm.ErrAuth, llm.ErrQuota} {
		for _, test := range []struct {
			prompts string
			stored  bool // the prompts that are not bad
			well    int  // answers that the server gives before it fails at everything; -1 for no limit
			failed  int  // tolerated
			calls   int  // with one at a time, including those that find out; 0 for a run that ends
		}{
			{"a b bad c", false, -1, 1, 5},
			{"bad a b", false, -1, 1, 4},
			{"a b bad", false, -1, 1, 4},
			{"bad", false, -1, 1, 2},
			{"bad1 bad2 bad3 bad4 a", false, -1, 4, 9},
			{"a bad b", true, -1, 1, 2},
			{"bad1 bad2 bad3 bad4 bad5 bad6 a", false, -1, 0, 0},
			{"a b c", false, 0, 0, 0},
			{"a b bad c", false, 2, 0, 0},
			{"a b bad c", true, 0, 0, 0},
		} {
			for _, concurrency := range []int{1, 8} {
				var mu sync.Mutex
				well := -1
				c := &client{answer: func(_ context.Context, p string) (string, error) {
					mu.Lock()
					defer mu.Unlock()
					if strings.HasPrefix(p, "bad") || well == 0 {
						return "", fmt.Errorf("no: %w", kind)
					}
					well--
					return p, nil
				}}
				store := cache.NewMemory()
				if prompts := strings.Fields(test.prompts); test.stored {
					others := slices.DeleteFunc(prompts, func(p string) bool { return strings.HasPrefix(p, "bad") })
					_, err := all(t.Context(), ask.New(ask.Config{Client: c, Store: store}), others...)
					require.NoError(t, err)
				}
				c.calls, well = nil, test.well
				got, err := all(t.Context(), ask.New(ask.Config{Client: c, Store: store, Concurrency: concurrency, Tolerate: 5}), strings.Fields(test.prompts)...)
				name := fmt.Sprintf("%v: %+v, %d at a time", kind, test, concurrency)
				if ends := kind == llm.ErrAuth || kind == llm.ErrQuota || test.calls == 0; ends {
					assert.ErrorIs(t, err, kind, "%s", name)
					continue
				}
				failed := 0
				for _, r := range got {
					if r.Err != nil && r.Tolerated {
						failed++
					}
				}
				if err != nil || failed != test.failed || concurrency == 1 && len(c.calls) != test.calls {
					t.Errorf("%s: %d failed, %d calls %q, %v", name, failed, len(c.calls), c.calls, err)
				}
			}
		}
	}
}

// After a failure, calls in flight finish and no other begins; the same holds for an interrupt until
// it is repeated. When the caller's context ends, the run does not wait for calls.
func TestDrain(t *testing.T) {
	for _, test := range []struct {
		bad, slow, end, giveUp time.Duration // 0 for never
		cancelled              bool          // the context ends
		stored                 bool
	}{
		{bad: time.Second, slow: 5 * time.Second, stored: true},
		{bad: time.Second, slow: time.Minute, stored: true},
		{bad: time.Second, slow: 5 * time.Second, end: 2 * time.Second, cancelled: true},
		{bad: time.Second, slow: 5 * time.Second, end: 2 * time.Second, stored: true},
		{bad: 2 * time.Minute, slow: time.Minute, end: time.Second, stored: true},
		{bad: 2 * time.Minute, slow: time.Minute, end: time.Second, giveUp: 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := cache.NewMemory()
			c := &client{answer: func(ctx context.Context, p string) (string, error) {
				wait := map[string]time.Duration{"bad": test.bad, "slow": test.slow}[p]
				select {
				case <-time.After(wait):
				case <-ctx.Done():
					return "", ctx.Err()
				}
				if p == "bad" {
					return "", fmt.Errorf("no: %w", llm.ErrInvalidRequest)
				}
				return p, nil
			}}
			a := ask.New(ask.Config{Client: c, Store: store, Concurrency: 2})
			ctx, interrupt := llm.Interruptible(t.Context())
			defer interrupt.GiveUp()
			end := interrupt.Stop
			if test.cancelled {
				ctx, end = context.WithCancel(t.Context())
				defer end()
			}
			for after, f := range map[time.Duration]func(){test.end: end, test.giveUp: interrupt.GiveUp} {
				if after > 0 {
					defer time.AfterFunc(after, f).Stop()
				}
			}
			begin := time.Now()
			_, err := all(ctx, a, "slow", "bad", "next")
			require.Error(t, err)
			took := time.Since(begin)
			_, found, err := cache.NewAnswers(store).Get(context.Background(), []cache.Key{question("slow").Key})
			require.NoError(t, err)
			if found[0] != test.stored || test.cancelled && took > 3*time.Second || test.giveUp > 0 && took != test.giveUp {
				t.Errorf("%+v: stored %v after %v", test, found[0], took)
			}
			assert.Len(t, c.calls, 2)
		})
	}
}

// Two processes that share a store ask for each answer once.
func TestClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache.sqlite")
	c := echo()
	var prompts []string
	for i := range 40 {
		prompts = append(prompts, fmt.Sprint("prompt ", i))
	}
	var wg sync.WaitGroup
	for range 2 {
		store, err := cache.Open(t.Context(), path)
		require.NoError(t, err)
		defer store.Close()
		wg.Go(func() {
			got, err := all(t.Context(), ask.New(ask.Config{Client: c, Store: store, Concurrency: 3}), prompts...)
			assert.NoError(t, err)
			for i, r := range got {
				assert.Equal(t, "re: "+prompts[i], r.Answer.Text)
			}
		})
	}
	wg.Wait()
	assert.Len(t, c.calls, len(prompts))
}

// A refused key ends all runs that ask the same model, and every call in flight is stored.
func TestFailureEndsOtherRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{answer: func(_ context.Context, p string) (string, error) {
			time.Sleep(time.Second)
			if p == "bad" {
				return "", fmt.Errorf("no: %w", llm.ErrAuth)
			}
			time.Sleep(time.Minute)
			return p, nil
		}}
		store := cache.NewMemory()
		a := ask.New(ask.Config{Client: c, Store: store, Concurrency: 4, Tolerate: 100})
		var both sync.WaitGroup
		for _, prompts := range [][]string{{"a", "bad"}, {"b", "c", "d"}} {
			synctest.Wait()
			both.Go(func() {
				if _, err := all(t.Context(), a, prompts...); !errors.Is(err, llm.ErrAuth) || !strings.HasPrefix(err.Error(), "at ") {
					t.Errorf("%q: %v", prompts, err)
				}
			})
		}
		both.Wait()
		assert.Len(t, c.calls, 4)
		for _, p := range c.calls {
			_, found, err := cache.NewAnswers(store).Get(t.Context(), []cache.Key{question(p).Key})
			assert.True(t, err == nil && found[0] != (p == "bad"), "%s: stored %v, %v", p, found, err)
		}
		_, err := all(t.Context(), a, "f")
		assert.NoError(t, err, "a later run")
	})
}
