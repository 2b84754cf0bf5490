package ask

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/llm"
)

type callFunc func(ctx context.Context, r llm.Request) (llm.Response, error)

// bounded returns a call that is bounded by a budget.
func bounded(b *Budget, c callFunc) callFunc {
	return func(ctx context.Context, r llm.Request) (llm.Response, error) {
		if err := b.Take(ctx, r); err != nil {
			return llm.Response{}, err
		}
		resp, err := c(ctx, r)
		b.Settle(r, resp, err)
		return resp, err
	}
}

func TestCalls(t *testing.T) {
	asked := 0
	b := NewBudget(Limits{Calls: 2}, nil)
	c := bounded(b, func(context.Context, llm.Request) (llm.Response, error) {
		asked++
		return llm.Response{PromptTokens: 3, CompletionTokens: 4}, nil
	})
	for range 2 {
		_, err := c(t.Context(), llm.Request{Model: "m", Prompt: "p", MaxTokens: 10})
		require.NoError(t, err)
	}
	_, err := c(t.Context(), llm.Request{Model: "m", Prompt: "p", MaxTokens: 10})
	if !errors.Is(err, ErrSpent) || err.Error() != "the budget is used up: the limit is 2 calls" || asked != 2 {
		t.Errorf("%v after %d calls", err, asked)
	}
	assert.Equal(t, (Spent{Calls: 2, PromptTokens: 6, CompletionTokens: 8}), b.Spent())
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Limits{Time: time.Minute}, nil)
		c := bounded(b, func(context.Context, llm.Request) (llm.Response, error) {
			time.Sleep(50 * time.Second)
			return llm.Response{}, nil
		})
		for i := range 3 {
			_, err := c(t.Context(), llm.Request{Model: "m", MaxTokens: 1})
			assert.Equal(t, i == 2, errors.Is(err, ErrSpent), "call %d: %v", i, err)
		}
	})
}

// A call that does not fit waits for those in flight, which may cost less than reserved, and is
// refused when it certainly does not fit.
func TestCostWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Limits{Cost: 2.5}, Prices{"m": {Output: 1e6}})
		c := bounded(b, func(_ context.Context, r llm.Request) (llm.Response, error) {
			time.Sleep(time.Second)
			return llm.Response{PromptTokens: 1, CompletionTokens: 1}, nil
		})
		begin := time.Now()
		var ok, refused atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				_, err := c(t.Context(), llm.Request{Model: "m", MaxTokens: 2})
				switch {
				case err == nil:
					ok.Add(1)
				case errors.Is(err, ErrSpent):
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		// One at a time: with 2 reserved or 1 spent, another 2 exceed the limit of 2.5.
		if ok.Load() != 1 || refused.Load() != 3 || time.Since(begin) != time.Second {
			t.Errorf("%d answered and %d refused after %v", ok.Load(), refused.Load(), time.Since(begin))
		}
		s := b.Spent()
		assert.True(t, s.Cost == 1 && s.Priced, "spent %+v", s)
	})
}

func TestWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(Limits{Cost: 2}, Prices{"m": {Output: 1e6}})
		c := bounded(b, func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			time.Sleep(time.Hour)
			return llm.Response{}, nil
		})
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { _, _ = c(t.Context(), llm.Request{Model: "m", MaxTokens: 2}) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c(ctx, llm.Request{Model: "m", MaxTokens: 1})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// In any order of events, the cost stays within the limit, and no call is refused while the limit
// allows it.
func TestCostProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := Price{Input: rapid.Float64Range(0, 10).Draw(t, "in"), Output: rapid.Float64Range(0.1, 30).Draw(t, "out")}
		limit := rapid.Float64Range(1e-5, 1e-2).Draw(t, "limit")
		calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Request {
			return llm.Request{
				Model: "m", Prompt: strings.Repeat("x", rapid.IntRange(1, 300).Draw(t, "prompt")), MaxTokens: rapid.IntRange(1, 200).Draw(t, "max"),
			}
		}), 1, 40).Draw(t, "calls")
		b := NewBudget(Limits{Cost: limit}, Prices{"m": price})
		c := bounded(b, func(_ context.Context, r llm.Request) (llm.Response, error) {
			switch len(r.Prompt) % 4 {
			case 0:
				return llm.Response{}, errors.New("failed")
			case 1:
				return llm.Response{}, nil // without token counts
			}
			return llm.Response{PromptTokens: 1 + len(r.Prompt)/4, CompletionTokens: r.MaxTokens / 2}, nil
		})
		var wg sync.WaitGroup
		var most sync.Map
		for i, r := range calls {
			wg.Go(func() {
				if _, err := c(context.Background(), r); errors.Is(err, ErrSpent) {
					most.Store(i, price.Cost(len(r.Prompt)+32, r.MaxTokens))
				}
			})
		}
		wg.Wait()
		spent := b.Spent().Cost
		require.LessOrEqual(t, spent, limit*(1+1e-12), "spent %v of %v", spent, limit)
		most.Range(func(i, cost any) bool {
			require.GreaterOrEqual(t, spent+cost.(float64), limit*(1-1e-9), "call %v was refused: %v spent of %v, and it costs %v at most", i, spent, limit, cost)
			return true
		})
	})
}

func TestModelWithoutPrice(t *testing.T) {
	b := NewBudget(Limits{Cost: 1}, Prices{"gpt-x": {Input: 1}})
	_, err := bounded(b, nil)(t.Context(), llm.Request{Model: "gpt-y"})
	assert.ErrorContains(t, err, `"gpt-x"`)
}

func TestReadPrices(t *testing.T) {
	for _, c := range []struct {
		in, want string
	}{
		{"m: {input: 0.15, output: 0.6}\n", "map[m:{0.15 0.6 1}]"},
		{"{\"m\": {\"input\": 1, \"output\": 2, \"batch\": 0.5}}", "map[m:{1 2 0.5}]"},
		{"", "no table of prices: p.yaml: the file is empty"},
		{"{}", "p.yaml: no model has a price"},
		{"m: 3\n", "no table of prices: p.yaml:1: "},
		{"m: {input: 1}\n", `p.yaml: model "m" needs input and output`},
		{"m:\n", `p.yaml: model "m" needs input and output`},
		{"m: {input: -1, output: 2}\n", "p.yaml:1: m.input: -1; want a number of at least 0"},
		{"m: {input: .nan, output: 2}\n", "p.yaml:1: m.input: NaN; want"},
		{"m: {input: 1, output: 2, batch: 0}\n", "p.yaml:1: m.batch: 0; want"},
		{"m: {input: 1, output: 2, batch: 7}\n", "p.yaml:1: m.batch: 7; want a number of at least 0 (batch, a factor such as 0.5: above 0, at most 1)"},
		{"m: {input: 1, output: 2}\n#" + strings.Repeat("x", 1<<20), "no table of prices: p.yaml: the file is larger"},
		{"m: {input: 1, outptu: 2}\n", "no table of prices: p.yaml:1: "},
		{"m: {input: 1, output: 2}\nm: {input: 1, output: 2}\n", "no table of prices: p.yaml:2: "},
	} {
		p, err := ReadPrices("p.yaml", strings.NewReader(c.in))
		got := fmt.Sprint(p)
		if err != nil {
			got = err.Error()
		}
		assert.True(t, strings.HasPrefix(got, c.want), "%q: %s, want %s", c.in, got, c.want)
	}
}

func TestBatched(t *testing.T) {
	p := Prices{"half": {Input: 1, Output: 4, Batch: 0.5}, "whole": {Input: 1, Output: 4}}.Batched()
	if half, whole := p["half"].Cost(1e6, 1e6), p["whole"].Cost(1e6, 0); math.Abs(half-2.5) > 1e-12 || whole != 1 {
		t.Errorf("cost %v and %v", half, whole)
	}
}
