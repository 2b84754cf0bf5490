package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/llm"
)

// ErrSpent is the cause of all errors of a Budget.
var ErrSpent = errors.New("the budget is used up")

// CostError is the ErrSpent of a limit on cost.
type CostError struct{ Next, Left, Limit float64 }

func (e *CostError) Error() string {
	if e.Next > e.Limit {
		return fmt.Sprintf("the next call may cost %.2g, more than the budget of %.4g", e.Next, e.Limit)
	}
	return fmt.Sprintf("%v: %.4g of %.4g is left, and the next call may cost %.2g", ErrSpent, e.Left, e.Limit, e.Next)
}

func (e *CostError) Unwrap() error { return ErrSpent }

// Limits bounds a run; the zero value of a field means no limit.
type Limits struct {
	Calls int           // calls, including failed ones; all attempts of a call count once
	Cost  float64       // in the currency of the prices
	Time  time.Duration // counted from NewBudget; after it no call begins
}

// Spent is what has been used.
type Spent struct {
	Calls                          int
	PromptTokens, CompletionTokens int // as the servers counted them
	Cost                           float64
	// Guessed counts answers without token counts, whose cost is taken as the maximum
	// possible. Tokens of failed calls are not counted.
	Guessed int
	Priced  bool // whether prices are known, so that Cost is meaningful
}

// Budget bounds what a run may spend on a model: calls, cost, time.
//
// Before a call, its maximum cost is reserved; after it, the actual cost is settled. A call that
// might exceed a limit waits until the calls in flight have settled their costs, and is refused if it
// still does not fit when none is in flight. So the limits are kept but can be used fully. A Budget is
// safe for concurrent use. A nil Budget has no limits.
type Budget struct {
	limits Limits
	prices Prices
	end    time.Time // zero if there is no limit

	mu       sync.Mutex
	spent    Spent
	reserved float64       // maximum cost of calls in flight
	inFlight int           // number of calls in flight
	freed    chan struct{} // closed and replaced when a call ends
}

// NewBudget returns a budget for all clients of a run to share. A limit on cost requires the price of
// every model that is called; without it prices may be nil or incomplete.
func NewBudget(limits Limits, prices Prices) *Budget {
	b := &Budget{limits: limits, prices: prices, freed: make(chan struct{})}
	if limits.Time > 0 {
		b.end = time.Now().Add(limits.Time)
	}
	b.spent.Priced = prices != nil
	return b
}

// Spent returns what was used so far.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Take reserves the maximum cost of a call. If that does not fit, it waits for calls in flight; if it
// cannot fit, the error wraps [ErrSpent]. After a call that was taken, Settle must be called.
func (b *Budget) Take(ctx context.Context, r llm.Request) error {
	for {
		freed, err := b.take(r)
		if freed == nil {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take is Take without waiting. If freed is not nil, take may succeed after freed is closed.
func (b *Budget) take(r llm.Request) (freed <-chan struct{}, err error) {
	if b == nil {
		return nil, nil
	}
	price, err := b.price(r.Model)
	if err != nil {
		return nil, err
	}
	most := mostCost(price, r)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.over(); err != nil {
		return nil, err
	}
	if left := b.limits.Cost - b.spent.Cost; b.limits.Cost > 0 && b.reserved+most > left {
		err := error(&CostError{most, left, b.limits.Cost})
		if b.inFlight == 0 {
			return nil, err
		}
		return b.freed, err
	}
	b.spent.Calls++
	b.inFlight++
	b.reserved += most
	return nil, nil
}

// Count counts a call without a price, such as one to a metric's own server. The error wraps
// [ErrSpent]. Settle is not called afterwards.
func (b *Budget) Count() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.over(); err != nil {
		return err
	}
	b.spent.Calls++
	return nil
}

// over returns an error if no call may begin.
func (b *Budget) over() error {
	switch {
	case !b.end.IsZero() && !time.Now().Before(b.end):
		return fmt.Errorf("%w: the time limit of %v has passed", ErrSpent, b.limits.Time)
	case b.limits.Calls > 0 && b.spent.Calls >= b.limits.Calls:
		return fmt.Errorf("%w: the limit is %s", ErrSpent, english.Count(b.limits.Calls, "call"))
	}
	return nil
}

func (b *Budget) price(model string) (Price, error) {
	price, err := b.prices.For(model)
	if err != nil && b.limits.Cost > 0 {
		return Price{}, fmt.Errorf("a limit on cost needs the price of every model: %w", err)
	}
	return price, nil
}

// Settle replaces the reserved cost of a call by its actual cost.
func (b *Budget) Settle(r llm.Request, resp llm.Response, err error) {
	if b == nil {
		return
	}
	price := b.prices[r.Model]
	most := mostCost(price, r)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight--
	b.reserved -= most
	if b.inFlight == 0 {
		b.reserved = 0 // removes rounding errors
	}
	switch {
	case err != nil:
	case resp.PromptTokens <= 0:
		b.spent.Guessed++
		b.spent.Cost += most
	default:
		b.spent.PromptTokens += resp.PromptTokens
		b.spent.CompletionTokens += max(0, resp.CompletionTokens)
		b.spent.Cost += price.Cost(resp.PromptTokens, max(0, resp.CompletionTokens))
	}
	close(b.freed)
	b.freed = make(chan struct{})
}

func mostCost(p Price, r llm.Request) float64 { return p.Cost(mostTokens(r), r.MaxTokens) }

// mostTokens bounds the tokens of a prompt: a token has at least one byte. Chat templates add
// some tokens.
func mostTokens(r llm.Request) int {
	const template = 32
	n := len(r.Prompt) + template
	for _, m := range r.Messages {
		n += len(m.Content) + template
	}
	return n
}
