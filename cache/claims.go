package cache

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	busy    bool               // requests are being carried out
	held    map[Key]bool       // true for a claim that could not be given back yet
	renewed time.Time          // when the lease was last written; zero for never
	swept   time.Time          // when dead owners were last looked for
	ctx     context.Context    // of the renewal
	stop    context.CancelFunc // ends it
	stopped chan struct{}
}

// grace is how long what nobody waits for any more may take: giving back the
// claims of a caller that is gone, and of a store that is closed.
const grace = 500 * time.Millisecond

func newClaims(lease time.Duration) *claims {
	ctx, stop := context.WithCancel(context.Background())
	return &claims{
		owner: rand.Int64(), process: processIdentity(), lease: lease, held: make(map[Key]bool),
		ctx: ctx, stop: stop, stopped: make(chan struct{}),
	}
}

// made reports whether there can be any in the database.
func (c *claims) made() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.renewed.IsZero()
}

// mine are the keys that may be claimed by this store.
func (c *claims) mine(keys []Key) (held []Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if _, ok := c.held[key]; ok {
			held = append(held, key)
		}
	}
	return held
}

// drop forgets claims that are given back.
func (c *claims) drop(keys []Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.held, key)
	}
}

// claiming carries out f in a transaction beside which no other one changes
// claims. It writes the lease too where that is asked for.
func (d *Database) claiming(ctx context.Context, renew bool, f func(ctx context.Context, tx *sql.Tx) error) error {
	began := time.Now()
	err := d.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if lock := d.lock(renew); lock != "" {
			if err := d.run(ctx, tx, lock); err != nil {
				return err
			}
		}
		if renew {
			if _, err := tx.ExecContext(ctx, d.text(`INSERT INTO refract_owners (id, process, expires) VALUES ($1, $2, {later})
				ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`), d.claims.owner, d.claims.process, d.claims.lease.Seconds()); err != nil {
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
	ctx     context.Context
	keys    []Key
	granted []bool
	err     error
	done    chan struct{}
}

// mostTogether is how many requests are carried out in one transaction.
const mostTogether = 256

// Claim implements [Store], among the processes that have the database open.
// The claims of a process of this machine that was killed are free at once where
// the system tells that it is gone, and else when its lease ends. What many
// callers claim at the same time goes in one transaction: whoever waits for what
// others make asks often.
func (d *Database) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	leave, err := d.enter(ctx, "claim", true)
	if err != nil {
		return nil, err
	}
	defer leave()
	r := &request{ctx: ctx, keys: keys, done: make(chan struct{})}
	d.claims.mu.Lock()
	d.claims.waiting = append(d.claims.waiting, r)
	first := len(d.claims.waiting) == 1 && !d.claims.busy
	d.claims.busy = d.claims.busy || first
	d.claims.mu.Unlock()
	if first {
		go d.serve()
	}
	<-r.done // also whoever gives up must know what was granted
	return r.granted, d.explain(ctx, "claim", r.err)
}

// serve carries requests out until none waits.
func (d *Database) serve() {
	c := d.claims
	for {
		c.mu.Lock()
		n := min(len(c.waiting), mostTogether)
		batch := c.waiting[:n:n]
		c.waiting = c.waiting[n:]
		c.busy = n > 0
		c.mu.Unlock()
		if n == 0 {
			return
		}
		var keys []Key
		for _, r := range batch {
			keys = append(keys, r.keys...)
		}
		ctx, stop := whileWanted(batch)
		granted, err := d.claim(ctx, keys)
		stop()
		for _, r := range batch {
			if r.err = err; err == nil {
				r.granted, granted = granted[:len(r.keys)], granted[len(r.keys):]
			}
			close(r.done)
		}
	}
}

// whileWanted is a context that ends once all callers are gone.
func whileWanted(batch []*request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var callers atomic.Int64
	callers.Store(int64(len(batch)))
	var stops []func() bool
	for _, r := range batch {
		stops = append(stops, context.AfterFunc(r.ctx, func() {
			if callers.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
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
	before := c.mine(asked)
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
	if err != nil {
		// Nobody knows what was granted: what was not held before is given back.
		lost := slices.DeleteFunc(asked, func(key Key) bool { return slices.Contains(before, key) })
		for _, key := range lost {
			c.held[key] = true
		}
		c.mu.Unlock()
		d.giveBack(ctx, lost)
		return nil, err
	}
	defer c.mu.Unlock()
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
			d.parameters(n, 1), d.claims.owner, d.parameters(n, n+1)), append(keyArgs(part), keyArgs(part)...), []any{&key}, func() error {
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
		if _, err := tx.ExecContext(ctx, d.text(d.claimSQL(len(part))), args...); err != nil {
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
	given := strings.ReplaceAll(d.parameters(n, 1), ",", " AS bytea)),(CAST(")
	return fmt.Sprintf(`WITH given (key) AS (VALUES (CAST(%s AS bytea)))
		INSERT INTO refract_claims (key, owner) SELECT key, CAST(%d AS bigint) FROM given
		WHERE NOT EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = given.key)
		ON CONFLICT (key) DO NOTHING`, given, d.claims.owner)
}

// ownSQL does something with those of n keys that this store claims.
func (d *Database) ownSQL(do string, n int) string {
	return fmt.Sprintf("%s FROM refract_claims WHERE owner = %d AND key IN (%s)", do, d.claims.owner, d.parameters(n, 1))
}

// sweep removes the owners whose lease has ended or whose process is gone, and
// their claims.
func (d *Database) sweep(ctx context.Context, tx *sql.Tx) error {
	var id int64
	var process string
	var gone []any
	if err := d.each(ctx, tx, "SELECT id, process FROM refract_owners WHERE id <> $1", []any{d.claims.owner}, []any{&id, &process}, func() error {
		if processGone(process) {
			gone = append(gone, id)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range gone {
		if _, err := tx.ExecContext(ctx, d.text("DELETE FROM refract_owners WHERE id = $1"), id); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, d.text("DELETE FROM refract_owners WHERE id <> $1 AND expires <= {now}"), d.claims.owner); err != nil {
		return err
	}
	return d.run(ctx, tx, "DELETE FROM refract_claims WHERE NOT EXISTS (SELECT 1 FROM refract_owners WHERE id = owner)")
}

// unclaim gives claims back in a transaction.
func (d *Database) unclaim(ctx context.Context, tx *sql.Tx, keys []Key) error {
	for part := range slices.Chunk(keys, mostRows) {
		if _, err := tx.ExecContext(ctx, d.text(d.ownSQL("DELETE", len(part))), keyArgs(part)...); err != nil {
			return err
		}
	}
	return nil
}

// Release implements [Store].
func (d *Database) Release(ctx context.Context, keys []Key) error {
	leave, err := d.enter(ctx, "release", true)
	if err != nil {
		d.claims.owe(keys)
		return err
	}
	defer leave()
	return d.explain(ctx, "release", d.release(ctx, keys))
}

// release gives claims up. What fails is tried again with the next renewal of
// the lease, so that nobody waits for a value that is not made.
func (d *Database) release(ctx context.Context, keys []Key) error {
	if len(keys) == 0 || !d.claims.made() {
		return nil
	}
	keys = distinct(keys)
	err := d.claiming(ctx, false, func(ctx context.Context, tx *sql.Tx) error { return d.unclaim(ctx, tx, keys) })
	if err != nil {
		d.claims.owe(keys)
	} else {
		d.claims.drop(keys)
	}
	return err
}

// giveBack releases claims of a caller that may be gone.
func (d *Database) giveBack(ctx context.Context, keys []Key) {
	ctx, cancel := afterwards(ctx, grace)
	defer cancel()
	_ = d.release(ctx, keys) // else later
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
		owed := slices.SortedFunc(maps.Keys(held), compareKeys)
		ctx, cancel := context.WithTimeout(c.ctx, c.lease)
		if d.claiming(ctx, true, func(ctx context.Context, tx *sql.Tx) error { return d.unclaim(ctx, tx, owed) }) == nil {
			c.drop(owed)
		}
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
func (d *Database) giveUp(ctx context.Context) {
	if d.claims == nil {
		return
	}
	if d.claims.end(); !d.claims.made() {
		return
	}
	ctx, cancel := afterwards(ctx, 2*grace)
	defer cancel()
	_ = d.claiming(ctx, false, func(ctx context.Context, tx *sql.Tx) error {
		for _, statement := range []string{"DELETE FROM refract_claims WHERE owner = $1", "DELETE FROM refract_owners WHERE id = $1"} {
			if _, err := tx.ExecContext(ctx, d.text(statement), d.claims.owner); err != nil {
				return err
			}
		}
		return nil
	})
}
