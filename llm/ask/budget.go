package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/refract-eval/refract/llm"
)

// ErrSpent is the cause of every refusal.
var ErrSpent = errors.New("the budget is used up")

// Limits bounds a run; the zero value of a field is no limit.
type Limits struct {
	Calls int           // answers asked for, failed ones included; attempts of one call count once
	Cost  float64       // in the currency of the prices
	Time  time.Duration // after which no call begins, counted from NewBudget
}

// Spent is what has been used.
type Spent struct {
	Calls                          int
	PromptTokens, CompletionTokens int // as the servers counted them
	Cost                           float64
	// Guessed counts answers without token counts, whose cost is the most
	// they can have been. The tokens of failed calls are not counted.
	Guessed int
	Priced  bool // whether prices are known, and Cost means anything
}

// Budget bounds what a run may spend on a model: calls, cost, time.
//
// Whoever asks takes the most that a call can cost out of a Budget, and
// settles what it did cost. A call that might exceed a limit waits until those
// in flight have told what they really cost, and is refused once none is in
// flight: so the limits are kept, and used to the end. It is safe for concurrent use. A
// nil Budget has no limits.
type Budget struct {
	limits Limits
	prices Prices
	end    time.Time // the zero time without a limit

	mu       sync.Mutex
	spent    Spent
	reserved float64       // the most that calls in flight can cost
	inFlight int           // calls
	freed    chan struct{} // closed and replaced when a call ends
}

// NewBudget returns a budget that all clients of a run share. A limit on cost needs
// the price of every model that is called; prices may else be nil, or lack
// some.
func NewBudget(limits Limits, prices Prices) *Budget {
	b := &Budget{limits: limits, prices: prices, freed: make(chan struct{})}
	if limits.Time > 0 {
		b.end = time.Now().Add(limits.Time)
	}
	b.spent.Priced = prices != nil
	return b
}

// Spent returns what has been used so far.
func (b *Budget) Spent() Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Take takes the most that a call can cost out of the budget. Where that does
// not fit it waits for the calls in flight, and if it cannot fit the error
// wraps [ErrSpent]. Settle must follow a call that was taken.
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

// TryTake is Take without the waiting.
func (b *Budget) TryTake(r llm.Request) error {
	_, err := b.take(r)
	return err
}

// take may be tried again once freed is closed, if it is not nil.
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
		err := fmt.Errorf("%w: %.4g of %.4g is left, and the next call may cost %.4g", ErrSpent, left, b.limits.Cost, most)
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

// Count takes a call out of the budget that has no price, such as one of a metric's
// own server. The error wraps [ErrSpent]; Settle is not called for it.
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

// over says that no call may begin.
func (b *Budget) over() error {
	switch {
	case !b.end.IsZero() && !time.Now().Before(b.end):
		return fmt.Errorf("%w: the time limit of %v has passed", ErrSpent, b.limits.Time)
	case b.limits.Calls > 0 && b.spent.Calls >= b.limits.Calls:
		return fmt.Errorf("%w: %d calls were made", ErrSpent, b.limits.Calls)
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

// Settle replaces what was taken for a call by what it cost.
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
		b.reserved = 0 // whatever rounding has left
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

// mostTokens bounds the tokens of a prompt: none is shorter than a byte. Chat
// templates add some.
func mostTokens(r llm.Request) int {
	const template = 32
	n := len(r.Prompt) + template
	for _, m := range r.Messages {
		n += len(m.Content) + template
	}
	return n
}
