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

	do func(*operation) error // carries an operation out

	mu      sync.Mutex
	held    map[Key]struct{}
	owed    map[Key]struct{}   // of those, the ones that could not be released
	renewed time.Time          // when the lease was last written; zero for never
	stop    context.CancelFunc // ends the renewal; nil before the first claim
	stopped chan struct{}
}

// maxKeys bounds the keys of one claim or release, so that no transaction is
// long.
const maxKeys = 1000

// grace is how long what nobody waits for any more may take: giving back the
// claims of a caller that is gone, or a transaction on its way to a server.
const grace = 500 * time.Millisecond

func newClaims(lease time.Duration, do func(*operation) error) *claims {
	return &claims{owner: rand.Int64(), process: processIdentity(), lease: lease, do: do, held: make(map[Key]struct{}), owed: make(map[Key]struct{})}
}

// made reports whether there can be any.
func (c *claims) made() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stop != nil
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
		err := c.do(op)
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
			err = c.do(&operation{ctx: ctx, kind: opRelease, keys: keys[:n]})
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

// leaseDue reports whether it is time to write the lease, and whether that is
// the first time.
func (c *claims) leaseDue(now time.Time) (due, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renewed.IsZero() || now.Sub(c.renewed) >= c.lease/3, c.renewed.IsZero()
}

// committed notes what a transaction has changed.
func (c *claims) committed(batch []*operation, t *transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.lease > 0 {
		c.renewed = t.began
	}
	for _, op := range batch {
		switch op.kind {
		case opPut:
			for _, r := range op.records {
				delete(c.held, r.Key)
				delete(c.owed, r.Key)
			}
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
		if c.do(&operation{ctx: trial, kind: opRenew}) == nil && len(owed) > 0 {
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
