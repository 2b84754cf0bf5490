package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// claims holds the claims of an open store. In the database a claim names its owner. The
// owner has one lease, which it renews while it holds any claim; a claim lives as long as its
// owner's lease.
//
// All claims are made and released in transactions that run one after the other: in SQLite
// all do, and Postgres has a lock for them. A record is stored before the claim of its key is
// released. So a store that finds neither a record nor a claim may claim the key. A claim of a
// key that has a record has no effect, and is released when the lease is next renewed.
type claims struct {
	owner   int64 // random, so that no two are equal
	process string
	lease   time.Duration

	turn chan struct{} // holds an element while keys are claimed

	mu      sync.Mutex
	held    map[Key]bool      // true for a claim that is still to be released
	renewed time.Time         // when the lease was last renewed; zero for never
	swept   time.Time         // when dead owners were last looked for
	seen    map[int64]renewal // leases of other owners at that time
	ctx     context.Context   // ends the renewal
	stop    context.CancelFunc
	stopped chan struct{}
}

// renewal is the lease of an owner in the database, and the time when this store saw it
// change.
type renewal struct {
	lease string
	found time.Time
}

func newClaims(lease time.Duration) *claims {
	c := &claims{owner: rand.Int64(), process: process(os.Getpid()), lease: lease, turn: make(chan struct{}, 1), held: make(map[Key]bool), stopped: make(chan struct{})}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// owe notes claims that have to be released later.
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

// claiming calls f in a transaction during which no other one changes claims. If renew is
// set, it also renews the lease.
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
		c := d.claims
		c.mu.Lock()
		if !c.live(began) { // others may have taken what was claimed
			maps.DeleteFunc(c.held, func(_ Key, owed bool) bool { return !owed })
		}
		c.renewed = began
		c.mu.Unlock()
	}
	return err
}

// live reports whether the lease has been renewed so lately that nobody took a claim. A machine
// that sleeps stops the monotonic clock, but not the clock on the wall.
func (c *claims) live(now time.Time) bool {
	return max(now.Sub(c.renewed), now.Round(0).Sub(c.renewed.Round(0))) < c.lease
}

// Holds reports whether this store certainly still has its claim of a key. A process that was
// stopped for longer than its lease may have lost it; claiming again tells. Holds does not look
// into the database.
func (d *Database) Holds(key Key) bool {
	c := d.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	owed, held := c.held[key]
	return held && !owed && c.live(time.Now())
}

// Claim implements [Store], among the processes that have the database open. The claims of a
// killed process become free when its lease ends, on its own machine (Linux) when it is next looked for.
func (d *Database) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	leave, err := d.enter(ctx, "claim", true)
	if err != nil {
		return nil, err
	}
	defer leave()
	// One goroutine at a time, because each holds a connection while it waits for the lock.
	select {
	case d.claims.turn <- struct{}{}:
		defer func() { <-d.claims.turn }()
	case <-ctx.Done():
		return nil, d.explain(ctx, "claim", ctx.Err())
	}
	granted, err := d.claim(ctx, distinct(keys))
	out := make([]bool, len(keys))
	for i, key := range keys {
		out[i] = granted[key]
	}
	return out, d.explain(ctx, "claim", err)
}

// claim claims keys for this store.
func (d *Database) claim(ctx context.Context, keys []Key) (granted map[Key]bool, err error) {
	c := d.claims
	c.mu.Lock()
	now := time.Now()
	renew := now.Sub(c.renewed) >= c.lease/3
	sweep := now.Sub(c.swept) >= c.lease/10 // not more often, as it costs all users of the database
	c.mu.Unlock()
	free, err := d.free(ctx, keys)
	if err == nil && sweep && len(free) < len(keys) {
		// The owner of a claim may be dead. That is rare, and finding out costs more.
		if err = d.claiming(ctx, false, d.sweep); err == nil {
			free, err = d.free(ctx, keys)
		}
		c.mu.Lock()
		c.swept = now
		c.mu.Unlock()
	}
	if err != nil || len(free) == 0 {
		return nil, err
	}
	err = d.claiming(ctx, renew, func(ctx context.Context, tx *sql.Tx) (err error) {
		granted, err = d.grant(ctx, tx, free)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range free {
		if _, held := c.held[key]; err == nil && granted[key] {
			c.held[key] = false
		} else if err != nil && !held {
			c.held[key] = true // it may or may not have been granted, so it is released
		}
	}
	if err != nil {
		return nil, err
	}
	return granted, nil
}

// free returns the keys that have neither a record nor another store's claim. It takes no lock.
func (d *Database) free(ctx context.Context, keys []Key) (free []Key, err error) {
	for part := range slices.Chunk(keys, mostRows) {
		n := len(part)
		taken := map[Key]bool{}
		var key []byte
		if err := d.query(ctx, fmt.Sprintf(`SELECT key FROM refract_records WHERE key IN (%s) UNION ALL
			SELECT key FROM refract_claims WHERE owner <> %d AND key IN (%s)`,
			parameters(n, 1), d.claims.owner, parameters(n, n+1)), append(keyArgs(part), keyArgs(part)...), []any{&key}, func() error {
			taken[Key(key)] = true
			return nil
		}); err != nil {
			return nil, err
		}
		for _, key := range part {
			if !taken[key] {
				free = append(free, key)
			}
		}
	}
	return free, nil
}

// grant claims the keys that have neither a record nor another owner, and returns the keys
// that this store then holds.
func (d *Database) grant(ctx context.Context, tx *sql.Tx, keys []Key) (map[Key]bool, error) {
	granted := make(map[Key]bool, len(keys))
	for part := range slices.Chunk(keys, mostRows) {
		given := strings.ReplaceAll(parameters(len(part), 1), ",", " AS bytea)),(CAST(")
		var key []byte
		if err := d.each(ctx, tx, fmt.Sprintf(`WITH given (key) AS (VALUES (CAST(%s AS bytea)))
			INSERT INTO refract_claims (key, owner) SELECT key, CAST(%d AS bigint) FROM given
			WHERE NOT EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = given.key)
			ON CONFLICT (key) DO UPDATE SET owner = excluded.owner WHERE refract_claims.owner = excluded.owner RETURNING key`,
			given, d.claims.owner), keyArgs(part), []any{&key}, func() error {
			granted[Key(key)] = true
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return granted, nil
}

// sweep removes owners, and their claims, whose process has ended on this machine, or who have not
// renewed their lease for its whole length. This store measures that time itself, because the clock
// of the database may be changed meanwhile.
func (d *Database) sweep(ctx context.Context, tx *sql.Tx) error {
	var id int64
	var process, lease string
	gone, seen, now := []any{}, map[int64]renewal{}, time.Now()
	if err := d.each(ctx, tx, "SELECT id, process, CAST(expires AS TEXT) FROM refract_owners WHERE id <> $1", []any{d.claims.owner}, []any{&id, &process, &lease}, func() error {
		last := d.claims.seen[id]
		if last.lease != lease {
			last = renewal{lease, now}
		}
		seen[id] = last
		if now.Sub(last.found) >= d.claims.lease || ended(process) {
			gone = append(gone, id)
		}
		return nil
	}); err != nil {
		return err
	}
	d.claims.seen = seen
	if len(gone) > 0 {
		if err := d.exec(ctx, tx, "DELETE FROM refract_owners WHERE id IN ("+parameters(len(gone), 1)+")", gone...); err != nil {
			return err
		}
	}
	return d.exec(ctx, tx, "DELETE FROM refract_claims WHERE NOT EXISTS (SELECT 1 FROM refract_owners WHERE id = owner)")
}

// unclaim releases claims in a transaction.
func (d *Database) unclaim(ctx context.Context, renew bool, keys []Key) error {
	err := d.claiming(ctx, renew, func(ctx context.Context, tx *sql.Tx) error {
		for part := range slices.Chunk(keys, mostRows) {
			own := fmt.Sprintf("DELETE FROM refract_claims WHERE owner = %d AND key IN (%s)", d.claims.owner, parameters(len(part), 1))
			if err := d.exec(ctx, tx, own, keyArgs(part)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		d.claims.mu.Lock()
		defer d.claims.mu.Unlock()
		for _, key := range keys {
			delete(d.claims.held, key)
		}
	}
	return err
}

// Release implements [Store]. If it fails, it is tried again with the next renewal of the
// lease, so that nobody waits for a value that is not being made.
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

// renewLoop renews the lease three times in its length while any claim is held, and releases
// claims that could not be released before. A failed renewal is tried again at the next turn;
// at worst the claims expire and an answer is asked for twice.
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

// giveUp releases all claims when the store is closed. If that fails, the lease expires.
func (d *Database) giveUp() {
	if d.claims == nil {
		return
	}
	d.claims.end()
	if d.claims.renewed.IsZero() { // there was no claim
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
