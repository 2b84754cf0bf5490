package cache

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// claims is what an open store knows of its own claims. In the database a
// claim names its owner, and the owner has one lease, which is renewed while
// it holds any claim: a claim lives as long as the lease below it.
type claims struct {
	owner   int64  // random, so that no number is used twice
	process string // of this process, for others to find it gone
	lease   time.Duration

	do func(*operation) error // carries an operation out

	mu      sync.Mutex
	held    map[Key]bool       // true for a claim that could not be released yet
	renewed time.Time          // when the lease was last written; zero for never
	swept   time.Time          // when dead owners were last looked for
	stop    context.CancelFunc // ends the renewal
	stopped chan struct{}
}

// grace is how long what nobody waits for any more may take: giving back the
// claims of a caller that is gone, or a transaction on its way to a server.
const grace = 500 * time.Millisecond

func newClaims(lease time.Duration, do func(*operation) error) *claims {
	ctx, stop := context.WithCancel(context.Background())
	c := &claims{
		owner: rand.Int64(), process: processIdentity(), lease: lease, do: do, held: make(map[Key]bool),
		stop: stop, stopped: make(chan struct{}),
	}
	go c.renewLoop(ctx)
	return c
}

// made reports whether there can be any.
func (c *claims) made() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.renewed.IsZero()
}

// claim asks the writer for claims. When that fails, nobody knows what was
// granted, so that what was not held before is given back.
func (c *claims) claim(ctx context.Context, keys []Key) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	op := &operation{ctx: ctx, kind: opClaim, keys: keys, granted: make([]bool, len(keys))}
	err := c.do(op)
	if err == nil {
		return op.granted, nil
	}
	var back []Key
	c.mu.Lock()
	for _, key := range keys {
		if _, held := c.held[key]; !held {
			c.held[key] = true
			back = append(back, key)
		}
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = c.release(ctx, back)
	return nil, err
}

// release gives claims up. What fails is tried again with the next renewal of
// the lease, so that nobody waits for a value that is not made.
func (c *claims) release(ctx context.Context, keys []Key) error {
	err := c.do(&operation{ctx: ctx, kind: opRelease, keys: keys})
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if _, held := c.held[key]; held {
			c.held[key] = true
		}
	}
	return err
}

// due reports whether it is time to write the lease, whether that is the first
// time, and when dead owners were last looked for.
func (c *claims) due(now time.Time) (due, first bool, swept time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renewed.IsZero() || now.Sub(c.renewed) >= c.lease/3, c.renewed.IsZero(), c.swept
}

// committed hands on what a transaction has granted, and notes what it changed.
func (c *claims) committed(batch []*operation, t *transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.lease > 0 {
		c.renewed = t.began
	}
	if t.swept {
		c.swept = t.began
	}
	for _, op := range batch {
		switch op.kind {
		case opPut:
			for _, r := range op.records {
				delete(c.held, r.Key)
			}
		case opClaim:
			for i, key := range op.keys {
				if op.granted[i] = t.granted[key]; op.granted[i] {
					c.held[key] = false
				}
			}
		case opRelease:
			for _, key := range op.keys {
				delete(c.held, key)
			}
		}
	}
}

// renewLoop writes the lease three times in its length, while any claim is held.
// A renewal that fails
// is tried at the next turn: at worst the claims run out, and an answer is
// asked for twice.
func (c *claims) renewLoop(ctx context.Context) {
	defer close(c.stopped)
	tick := time.NewTicker(max(c.lease/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		idle := len(c.held) == 0
		var owed []Key
		for key, owes := range c.held {
			if owes {
				owed = append(owed, key)
			}
		}
		c.mu.Unlock()
		if idle {
			continue
		}
		trial, cancel := context.WithTimeout(ctx, c.lease)
		if c.do(&operation{ctx: trial, kind: opRenew}) == nil && len(owed) > 0 {
			_ = c.release(trial, owed)
		}
		cancel()
	}
}

// end stops the renewal.
func (c *claims) end() {
	c.stop()
	<-c.stopped
}
