package cache

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
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

	group *group // carries out the operations

	mu      sync.Mutex
	held    map[Key]struct{}
	owed    map[Key]struct{}   // of those, the ones that could not be released
	renewed time.Time          // when the lease was last written; zero for never
	swept   time.Time          // when dead owners were last looked for
	stop    context.CancelFunc // ends the renewal; nil before the first claim
	stopped chan struct{}
}

func newClaims(lease time.Duration) *claims {
	return &claims{owner: rand.Int64(), process: processIdentity(), lease: lease, held: make(map[Key]struct{}), owed: make(map[Key]struct{})}
}

// claim asks the writer for claims.
func (c *claims) claim(ctx context.Context, keys []Key) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.start()
	before := c.heldOf(keys)
	granted := make([]bool, 0, len(keys))
	for part := range slices.Chunk(keys, maxKeys) {
		op := &operation{ctx: ctx, kind: opClaim, keys: part, granted: make([]bool, len(part))}
		err := c.group.do(op)
		if err == nil {
			granted = append(granted, op.granted...)
			err = ctx.Err()
		}
		if err != nil {
			// Of a part that failed nobody knows what was granted.
			c.giveBack(keys[:min(len(granted)+len(part), len(keys))], before)
			return nil, err
		}
	}
	return granted, nil
}

// heldOf says which of the keys the store holds, as far as it knows.
func (c *claims) heldOf(keys []Key) []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := make([]bool, len(keys))
	for i, key := range keys {
		_, held[i] = c.held[key]
	}
	return held
}

// giveBack releases what may have been granted to a caller who is told of an
// error, but not what was held before.
func (c *claims) giveBack(keys []Key, before []bool) {
	var back []Key
	for i, key := range keys {
		if !before[i] {
			back = append(back, key)
		}
	}
	c.mu.Lock()
	for _, key := range back {
		c.held[key] = struct{}{} // perhaps: then it is tried until it is not
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	_ = c.release(ctx, back)
}

// release gives claims up. What fails is tried again with the next renewal of
// the lease, so that nobody waits for an answer that is not asked for.
func (c *claims) release(ctx context.Context, keys []Key) error {
	for len(keys) > 0 {
		n := min(len(keys), maxKeys)
		err := ctx.Err()
		if err == nil {
			err = c.group.do(&operation{ctx: ctx, kind: opRelease, keys: keys[:n]})
		}
		if err != nil {
			c.owe(keys)
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// owe notes claims that are still to be given up.
func (c *claims) owe(keys []Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if _, held := c.held[key]; held {
			c.owed[key] = struct{}{}
		}
	}
}

// needsLease reports whether the lease should be written again, and whether
// dead owners should be looked for, as before the first claim.
func (c *claims) needsLease(now time.Time) (renew, sweep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	renew = c.renewed.IsZero() || now.Sub(c.renewed) >= c.lease/3
	return renew, c.renewed.IsZero()
}

// maySweep reports whether dead owners were not looked for within the last
// second, and notes that they are now.
func (c *claims) maySweep(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.swept.IsZero() && now.Sub(c.swept) < time.Second {
		return false
	}
	c.swept = now
	return true
}

// committed notes what a transaction has changed; renewed is the zero time
// where it left the lease alone.
func (c *claims) committed(batch []*operation, renewed time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !renewed.IsZero() {
		c.renewed = renewed
	}
	for _, op := range batch {
		switch op.kind {
		case opPut:
			delete(c.held, op.key)
			delete(c.owed, op.key)
		case opClaim:
			for i, key := range op.keys {
				if op.granted[i] {
					c.held[key] = struct{}{}
					delete(c.owed, key)
				}
			}
		case opRelease:
			for _, key := range op.keys {
				delete(c.held, key)
				delete(c.owed, key)
			}
		}
	}
}

// start begins to renew the lease while any claim is held.
func (c *claims) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.stopped = stop, make(chan struct{})
	go c.renewLoop(ctx)
}

// renewLoop writes the lease three times in its length. A renewal that fails
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
		owed := slices.Collect(maps.Keys(c.owed))
		c.mu.Unlock()
		if idle {
			continue
		}
		trial, cancel := context.WithTimeout(ctx, c.lease)
		if c.group.do(&operation{ctx: trial, kind: opRenew}) == nil && len(owed) > 0 {
			_ = c.release(trial, owed)
		}
		cancel()
	}
}

// end stops the renewal.
func (c *claims) end() {
	c.mu.Lock()
	stop, stopped := c.stop, c.stopped
	c.mu.Unlock()
	if stop != nil {
		stop()
		<-stopped
	}
}
