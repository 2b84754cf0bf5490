package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// claims is what an open store knows of its own claims. In the database a
// claim names its owner, and the owner has one lease, which is renewed while
// it holds any claim: a claim lives as long as the lease below it.
//
// All claims are made and given back in transactions that come one after the
// other: SQLite has no others, and Postgres has a lock for them. A record is
// stored before the claim of its key is given back. So whoever finds neither a
// record nor a claim may take the key. A claim of a key that has a record is of no
// account, and given back when the lease is written next.
type claims struct {
	owner   int64  // random, so that no number is used twice
	process string // of this process, for others to find it gone
	lease   time.Duration

	mu      sync.Mutex
	waiting []*request
	busy    bool            // requests are being carried out
	held    map[Key]bool    // true for a claim that could not be given back yet
	renewed time.Time       // when the lease was last written; zero for never
	swept   time.Time       // when dead owners were last looked for
	ctx     context.Context // of the renewal
	stop    context.CancelFunc
	stopped chan struct{}
}

func newClaims(lease time.Duration) *claims {
	c := &claims{owner: rand.Int64(), process: processIdentity(), lease: lease, held: make(map[Key]bool), stopped: make(chan struct{})}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// drop forgets claims that are given back.
func (c *claims) drop(keys []Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.held, key)
	}
}

// owe notes claims that are to be given back later.
func (c *claims) owe(keys []Key) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if _, held := c.held[key]; held {
			c.held[key] = true
		}
	}
}

// claiming carries out f in a transaction beside which no other one changes
// claims. It writes the lease too where that is asked for.
func (d *Database) claiming(ctx context.Context, renew bool, f func(ctx context.Context, tx *sql.Tx) error) error {
	began := time.Now()
	err := d.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := d.exec(ctx, tx, d.lock(renew)); err != nil {
			return err
		}
		if renew {
			if err := d.exec(ctx, tx, `INSERT INTO refract_owners (id, process, expires) VALUES ($1, $2, {later})
				ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`, d.claims.owner, d.claims.process, d.claims.lease.Seconds()); err != nil {
				return err
			}
		}
		return f(ctx, tx)
	})
	if err == nil && renew {
		d.claims.mu.Lock()
		d.claims.renewed = began
		d.claims.mu.Unlock()
	}
	return err
}

// request is what a caller claims.
type request struct {
	keys    []Key
	granted []bool
	err     error
	done    chan struct{}
}

// Claim implements [Store], among the processes that have the database open.
// The claims of a process of this machine that was killed are free at once where
// the system tells that it is gone, and else when its lease ends. What many
// callers claim at the same time goes in one transaction, which no caller's
// context ends: whoever waits for what others make asks often.
func (d *Database) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	leave, err := d.enter(ctx, "claim", true)
	if err != nil {
		return nil, err
	}
	defer leave()
	c, r := d.claims, &request{keys: keys, done: make(chan struct{})}
	c.mu.Lock()
	c.waiting = append(c.waiting, r)
	if !c.busy {
		c.busy = true
		go d.serve(context.WithoutCancel(ctx))
	}
	c.mu.Unlock()
	<-r.done // also whoever gives up must know what was granted
	return r.granted, d.explain(ctx, "claim", r.err)
}

// serve carries requests out until none waits.
func (d *Database) serve(ctx context.Context) {
	for c := d.claims; ; {
		c.mu.Lock()
		batch := c.waiting
		c.waiting, c.busy = nil, len(batch) > 0
		c.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		var keys []Key
		for _, r := range batch {
			keys = append(keys, r.keys...)
		}
		granted, err := d.claim(ctx, keys)
		for _, r := range batch {
			if r.err = err; err == nil {
				r.granted, granted = granted[:len(r.keys)], granted[len(r.keys):]
			}
			close(r.done)
		}
	}
}

// claim claims keys for this store.
func (d *Database) claim(ctx context.Context, keys []Key) ([]bool, error) {
	c := d.claims
	now := time.Now()
	c.mu.Lock()
	due := now.Sub(c.renewed) >= c.lease/3
	maySweep := now.Sub(c.swept) >= c.lease/10 // as it is work for all who share the database
	c.mu.Unlock()
	asked := distinct(keys)
	if !maySweep {
		var err error
		if asked, err = d.free(ctx, asked); err != nil || len(asked) == 0 { // which takes no lock
			return make([]bool, len(keys)), err
		}
	}
	var granted map[Key]bool
	swept := false
	err := d.claiming(ctx, due, func(ctx context.Context, tx *sql.Tx) (err error) {
		granted, err = d.grant(ctx, tx, asked)
		if swept = maySweep && err == nil && len(granted) < len(asked); swept {
			// A holder may be dead, which is seldom, and costs more to find out.
			if err = d.sweep(ctx, tx); err == nil {
				granted, err = d.grant(ctx, tx, asked)
			}
		}
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		// Nobody knows what was granted: what was not held before is given back.
		for _, key := range asked {
			if _, held := c.held[key]; !held {
				c.held[key] = true
			}
		}
		return nil, err
	}
	if swept {
		c.swept = now
	}
	out := make([]bool, len(keys))
	for i, key := range keys {
		if out[i] = granted[key]; out[i] {
			c.held[key] = false
		}
	}
	return out, nil
}

// free are keys that have neither a record nor a live claim of another store.
func (d *Database) free(ctx context.Context, keys []Key) (free []Key, err error) {
	for part := range slices.Chunk(keys, mostRows) {
		n := len(part)
		taken := map[Key]bool{}
		var key []byte
		if err := d.query(ctx, fmt.Sprintf(`SELECT key FROM refract_records WHERE key IN (%s) UNION ALL
			SELECT key FROM refract_claims JOIN refract_owners ON id = owner WHERE owner <> %d AND expires > {now} AND key IN (%s)`,
			parameters(n, 1), d.claims.owner, parameters(n, n+1)), append(keyArgs(part), keyArgs(part)...), []any{&key}, func() error {
			taken[Key(key)] = true
			return nil
		}); err != nil {
			return nil, err
		}
		free = append(free, slices.DeleteFunc(part, func(key Key) bool { return taken[key] })...)
	}
	return free, nil
}

// grant claims keys that have neither a record nor another owner, and returns
// those that are this store's then.
func (d *Database) grant(ctx context.Context, tx *sql.Tx, keys []Key) (map[Key]bool, error) {
	granted := make(map[Key]bool, len(keys))
	for part := range slices.Chunk(keys, mostRows) {
		args := keyArgs(part)
		if err := d.exec(ctx, tx, d.claimSQL(len(part)), args...); err != nil {
			return nil, err
		}
		var key []byte
		if err := d.each(ctx, tx, d.ownSQL("SELECT key", len(part))+`
			AND NOT EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = refract_claims.key)`,
			args, []any{&key}, func() error {
				granted[Key(key)] = true
				return nil
			}); err != nil {
			return nil, err
		}
	}
	return granted, nil
}

// claimSQL claims n keys, but for those that have a record or a claim.
func (d *Database) claimSQL(n int) string {
	given := strings.ReplaceAll(parameters(n, 1), ",", " AS bytea)),(CAST(")
	return fmt.Sprintf(`WITH given (key) AS (VALUES (CAST(%s AS bytea)))
		INSERT INTO refract_claims (key, owner) SELECT key, CAST(%d AS bigint) FROM given
		WHERE NOT EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = given.key)
		ON CONFLICT (key) DO NOTHING`, given, d.claims.owner)
}

// ownSQL does something with those of n keys that this store claims.
func (d *Database) ownSQL(do string, n int) string {
	return fmt.Sprintf("%s FROM refract_claims WHERE owner = %d AND key IN (%s)", do, d.claims.owner, parameters(n, 1))
}

// sweep removes the owners whose lease has ended or whose process is gone, and
// their claims.
func (d *Database) sweep(ctx context.Context, tx *sql.Tx) error {
	var id int64
	var process string
	gone := []any{d.claims.owner}
	if err := d.each(ctx, tx, "SELECT id, process FROM refract_owners WHERE id <> $1", gone, []any{&id, &process}, func() error {
		if processGone(process) {
			gone = append(gone, id)
		}
		return nil
	}); err != nil {
		return err
	}
	return errors.Join(
		d.exec(ctx, tx, "DELETE FROM refract_owners WHERE id <> $1 AND (expires <= {now} OR id IN ("+parameters(len(gone), 1)+"))", gone...),
		d.exec(ctx, tx, "DELETE FROM refract_claims WHERE NOT EXISTS (SELECT 1 FROM refract_owners WHERE id = owner)"))
}

// unclaim gives claims back in a transaction.
func (d *Database) unclaim(ctx context.Context, renew bool, keys []Key) error {
	err := d.claiming(ctx, renew, func(ctx context.Context, tx *sql.Tx) error {
		for part := range slices.Chunk(keys, mostRows) {
			if err := d.exec(ctx, tx, d.ownSQL("DELETE", len(part)), keyArgs(part)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		d.claims.drop(keys)
	}
	return err
}

// Release implements [Store]. What fails is tried again with the next renewal of
// the lease, so that nobody waits for a value that is not made.
func (d *Database) Release(ctx context.Context, keys []Key) error {
	leave, err := d.enter(ctx, "release", true)
	if err == nil {
		defer leave()
		err = d.explain(ctx, "release", d.unclaim(ctx, false, distinct(keys)))
	}
	if err != nil {
		d.claims.owe(keys)
	}
	return err
}

// renewLoop writes the lease three times in its length, while any claim is held,
// and gives back what could not be before. A renewal that fails is tried at the
// next turn: at worst the claims run out, and an answer is asked for twice.
func (d *Database) renewLoop() {
	c := d.claims
	defer close(c.stopped)
	tick := time.NewTicker(max(c.lease/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		held := maps.Clone(c.held)
		c.mu.Unlock()
		if len(held) == 0 {
			continue
		}
		maps.DeleteFunc(held, func(_ Key, owed bool) bool { return !owed })
		ctx, cancel := context.WithTimeout(c.ctx, c.lease)
		_ = d.unclaim(ctx, true, slices.SortedFunc(maps.Keys(held), compareKeys))
		cancel()
	}
}

// end stops the renewal.
func (c *claims) end() {
	c.stop()
	<-c.stopped
}

// giveUp gives all claims back when the store is closed. Where that fails the
// lease ends by itself.
func (d *Database) giveUp() {
	if d.claims == nil {
		return
	}
	d.claims.end()
	if d.claims.renewed.IsZero() { // there was none
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = d.claiming(ctx, false, func(ctx context.Context, tx *sql.Tx) error {
		return errors.Join(
			d.exec(ctx, tx, "DELETE FROM refract_claims WHERE owner = $1", d.claims.owner),
			d.exec(ctx, tx, "DELETE FROM refract_owners WHERE id = $1", d.claims.owner))
	})
}
