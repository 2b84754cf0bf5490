package cache

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Put implements [Store]. All that is waiting when the writer becomes free is
// committed in one transaction, so that many callers are served at the price
// of one. When Put fails because ctx is done, the entry may still be stored.
// The error wraps [ErrUnavailable], [ErrFull], [ErrReadOnly] or [ErrClosed]
// where one of them is the reason.
func (s *Postgres) Put(ctx context.Context, e Entry) error {
	if s.group == nil {
		return s.readOnlyError("put")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := e.normalized(&s.known)
	if err != nil {
		return err
	}
	return s.explain(ctx, "put", s.group.do(&operation{ctx: ctx, kind: opPut, entry: e, key: e.Request.Key()}))
}

// Keep implements [Store].
func (s *Postgres) Keep(ctx context.Context, e Entry) (Answer, error) {
	if err := s.Put(ctx, e); err != nil {
		return Answer{}, err
	}
	key := e.Request.Key()
	kept, ok, err := s.Get(ctx, key)
	if err == nil && !ok {
		err = fmt.Errorf("cache %s: keep: %w: entry %s is gone", s.name, ErrCorrupt, key)
	}
	return kept.Answer, err
}

// Claim implements [Store], among all that have the database open. Time is
// the server's.
func (s *Postgres) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	if s.group == nil {
		return nil, s.readOnlyError("claim")
	}
	granted, err := s.claims.claim(ctx, keys)
	return granted, s.explain(ctx, "claim", err)
}

// Release implements [Store].
func (s *Postgres) Release(ctx context.Context, keys []Key) error {
	if s.group == nil {
		return s.readOnlyError("release")
	}
	return s.explain(ctx, "release", s.claims.release(ctx, keys))
}

func (s *Postgres) readOnlyError(op string) error {
	return fmt.Errorf("cache %s: %s: %w: it was opened to be read only", s.name, op, ErrReadOnly)
}

// Rows are written in the order of their keys, so that no two transactions
// wait for each other.
const (
	insertPostgresSQL = `INSERT INTO refract_answers (key, ` + columns + `)
	SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::bigint[],
		$8::bytea[], $9::bytea[], $10::bytea[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bytea[])
	ON CONFLICT (key) DO NOTHING`
	// claimPostgresSQL takes no claim of another owner over, dead as it may
	// be: in the snapshot of a statement that waited for that owner's claim
	// its lease may be missing. Only sweepPostgresSQL does.
	claimPostgresSQL = `INSERT INTO refract_claims AS held (key, owner)
	SELECT asked.key, $2 FROM unnest($1::bytea[]) AS asked (key)
	WHERE NOT EXISTS (SELECT FROM refract_answers WHERE refract_answers.key = asked.key) ORDER BY asked.key
	ON CONFLICT (key) DO UPDATE SET owner = excluded.owner WHERE held.owner = excluded.owner
	RETURNING key`
	// answeredPostgresSQL takes back claims of keys whose answer another
	// process committed while the claim waited for that process's own.
	answeredPostgresSQL = `DELETE FROM refract_claims WHERE key = ANY ($1) AND owner = $2
	AND EXISTS (SELECT FROM refract_answers WHERE refract_answers.key = refract_claims.key)
	RETURNING key`
	unclaimPostgresSQL = `DELETE FROM refract_claims WHERE key = ANY ($1) AND owner = $2`
	leasePostgresSQL   = `INSERT INTO refract_owners (id, process, expires)
	VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
	ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`
	ownersPostgresSQL = `SELECT id, process FROM refract_owners WHERE id <> $1`
	sweepPostgresSQL  = `DELETE FROM refract_owners WHERE id <> $1 AND (expires <= clock_timestamp() OR id = ANY ($2))`
	// strayPostgresSQL relies on a lease being committed with the first claim
	// below it at the latest: no snapshot shows a claim without its owner,
	// unless that is removed.
	strayPostgresSQL        = `DELETE FROM refract_claims WHERE NOT EXISTS (SELECT FROM refract_owners WHERE id = owner)`
	forgetOwnerPostgresSQL  = `DELETE FROM refract_owners WHERE id = $1`
	forgetClaimsPostgresSQL = `DELETE FROM refract_claims WHERE owner = $1`

	// beginPostgresSQL: in the levels above a claim would not see what was
	// committed while it waited. The claims are few rows among many dead
	// ones, of which the planner knows nothing, so it is kept from reading
	// all of them.
	beginPostgresSQL = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off`
)

// grace is for how long a transaction goes on when nobody waits for it any
// more: one that is cut off may be committed or not, and nobody would know of
// its claims.
const grace = 500 * time.Millisecond

// postgresWriter carries out what the group commits.
type postgresWriter struct {
	store  *Postgres
	claims *claims

	claiming bool // whether there can be claims of this store
}

// commit carries the operations out in one transaction, which is repeated
// when the connection is lost: each of them can be.
func (w *postgresWriter) commit(ctx context.Context, batch []*operation) error {
	ctx, cancel := withGrace(ctx)
	defer cancel()
	return w.store.again(ctx, func(ctx context.Context) error {
		var renewed time.Time
		err := pgx.BeginTxFunc(ctx, w.store.pool, pgx.TxOptions{BeginQuery: beginPostgresSQL}, func(tx pgx.Tx) (err error) {
			renewed, err = w.carryOut(ctx, tx, batch)
			return err
		})
		if err == nil {
			w.claims.committed(batch, renewed)
		}
		return err
	})
}

// withGrace returns a context that is done a while after ctx.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return later, func() {
		stop()
		cancel()
	}
}

func (w *postgresWriter) carryOut(ctx context.Context, tx pgx.Tx, batch []*operation) (renewed time.Time, err error) {
	now := time.Now()
	var puts []*operation
	var claimed, dropped []Key
	renew := false
	for _, op := range batch {
		switch op.kind {
		case opPut:
			puts, dropped = append(puts, op), append(dropped, op.key)
		case opClaim:
			claimed = append(claimed, op.keys...)
		case opRelease:
			dropped = append(dropped, op.keys...)
		case opRenew:
			renew = true
		}
	}
	if renew || len(claimed) > 0 {
		if renewed, err = w.renew(ctx, tx, now, renew); err != nil {
			return renewed, err
		}
	}
	if len(puts) > 0 {
		if err := insertPostgres(ctx, tx, puts); err != nil {
			return renewed, err
		}
	}
	if len(dropped) > 0 && w.claiming {
		if _, err := tx.Exec(ctx, unclaimPostgresSQL, keyBytes(distinct(dropped)), w.claims.owner); err != nil {
			return renewed, err
		}
	}
	if len(claimed) == 0 {
		return renewed, nil
	}
	granted, err := w.grant(ctx, tx, distinct(claimed), now)
	if err != nil {
		return renewed, err
	}
	for _, op := range batch {
		for i, key := range op.keys {
			if op.kind == opClaim {
				op.granted[i] = granted[key]
			}
		}
	}
	return renewed, nil
}

// distinct returns the keys in their order, each once.
func distinct(keys []Key) []Key {
	keys = slices.Clone(keys)
	slices.SortFunc(keys, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(keys)
}

func insertPostgres(ctx context.Context, tx pgx.Tx, puts []*operation) error {
	puts = slices.Clone(puts)
	slices.SortStableFunc(puts, func(a, b *operation) int { return bytes.Compare(a.key[:], b.key[:]) })
	n := len(puts)
	var texts [10][][]byte // key, the five of the request, the three of the answer, digest
	for i := range texts {
		texts[i] = make([][]byte, n)
	}
	sample, prompt, completion, created := make([]int64, n), make([]int64, n), make([]int64, n), make([]*int64, n)
	for i, op := range puts {
		r, a := &op.entry.Request, &op.entry.Answer
		digest := a.digest(op.key)
		for j, s := range [][]byte{
			op.key[:], []byte(r.Kind), []byte(r.Model), []byte(r.Revision), []byte(r.Prompt), []byte(r.Params),
			nil, []byte(a.FinishReason), []byte(a.ServedModel), digest[:],
		} {
			texts[j][i] = s
		}
		if a.HasText {
			texts[6][i] = append([]byte{}, a.Text...) // never nil, which is NULL
		}
		sample[i], prompt[i], completion[i] = int64(r.Sample), int64(a.PromptTokens), int64(a.CompletionTokens)
		if !a.Created.IsZero() {
			t := a.Created.UnixNano()
			created[i] = &t
		}
	}
	_, err := tx.Exec(ctx, insertPostgresSQL,
		texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], sample,
		texts[6], texts[7], texts[8], prompt, completion, created, texts[9])
	return err
}

// renew writes the lease if it is time to, and returns now if so.
func (w *postgresWriter) renew(ctx context.Context, tx pgx.Tx, now time.Time, must bool) (time.Time, error) {
	w.claiming = true
	due, first := w.claims.needsLease(now)
	if !due && !must {
		return time.Time{}, nil
	}
	if _, err := tx.Exec(ctx, leasePostgresSQL, w.claims.owner, w.claims.process, w.claims.lease.Seconds()); err != nil {
		return time.Time{}, err
	}
	if first && w.claims.maySweep(now) {
		if err := w.sweep(ctx, tx); err != nil {
			return time.Time{}, err
		}
	}
	return now, nil
}

func (w *postgresWriter) grant(ctx context.Context, tx pgx.Tx, keys []Key, now time.Time) (map[Key]bool, error) {
	granted, err := w.tryGrant(ctx, tx, keys)
	if err != nil || len(granted) == len(keys) || !w.claims.maySweep(now) {
		return granted, err
	}
	// The holder may be dead, which is seldom and costs more to find out.
	if err := w.sweep(ctx, tx); err != nil {
		return nil, err
	}
	return w.tryGrant(ctx, tx, keys)
}

func (w *postgresWriter) tryGrant(ctx context.Context, tx pgx.Tx, keys []Key) (map[Key]bool, error) {
	granted := make(map[Key]bool, len(keys))
	asked := keyBytes(keys)
	note := func(statement string, f func(Key)) error {
		rows, err := tx.Query(ctx, statement, asked, w.claims.owner)
		if err != nil {
			return err
		}
		var b []byte
		_, err = pgx.ForEachRow(rows, []any{&b}, func() error {
			f(Key(b))
			return nil
		})
		return err
	}
	if err := note(claimPostgresSQL, func(k Key) { granted[k] = true }); err != nil {
		return nil, err
	}
	if len(granted) > 0 {
		if err := note(answeredPostgresSQL, func(k Key) { delete(granted, k) }); err != nil {
			return nil, err
		}
	}
	return granted, nil
}

// sweep removes the owners whose lease has ended or whose process is gone.
func (w *postgresWriter) sweep(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, ownersPostgresSQL, w.claims.owner)
	if err != nil {
		return err
	}
	gone := []int64{} // NULL would match nothing, and keep what is expired
	var id int64
	var process string
	if _, err := pgx.ForEachRow(rows, []any{&id, &process}, func() error {
		if processGone(process) {
			gone = append(gone, id)
		}
		return nil
	}); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sweepPostgresSQL, w.claims.owner, gone); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, strayPostgresSQL)
	return err
}

// forget gives up all claims. Close calls it when the group has ended; a
// database that cannot be reached ends the lease by itself.
func (w *postgresWriter) forget() {
	if !w.claiming {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, statement := range []string{forgetOwnerPostgresSQL, forgetClaimsPostgresSQL} {
		if _, err := w.store.pool.Exec(ctx, statement, w.claims.owner); err != nil {
			return
		}
	}
}
