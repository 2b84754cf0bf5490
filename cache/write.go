package cache

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

// Put implements [Store]. All that is waiting when the writer becomes free is
// committed in one transaction, so that many callers are served at the price
// of one. When Put fails because ctx is done, the entry may still be stored.
// The error wraps [ErrFull], [ErrLocked], [ErrReadOnly], [ErrReplaced],
// [ErrCorrupt] or [ErrClosed] where one of them is the reason.
func (s *SQLite) Put(ctx context.Context, e Entry) error {
	_, err := s.put(ctx, e)
	return err
}

// Keep implements [Store].
func (s *SQLite) Keep(ctx context.Context, e Entry) (Answer, error) {
	op, err := s.put(ctx, e)
	if err != nil {
		return Answer{}, err
	}
	if op.first {
		return op.entry.Answer, nil
	}
	before, ok, err := s.Get(ctx, op.key)
	if err == nil && !ok {
		err = s.explain(ctx, "keep", fmt.Errorf("%w: entry %s is gone", ErrCorrupt, op.key))
	}
	return before.Answer, err
}

func (s *SQLite) put(ctx context.Context, e Entry) (*operation, error) {
	if s.writer == nil {
		return nil, fmt.Errorf("cache %s: put: %w: it was opened to be read only", s.file, ErrReadOnly)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e, err := e.normalized(&s.known)
	if err != nil {
		return nil, err
	}
	op := &operation{ctx: ctx, kind: opPut, entry: e, key: e.Request.Key()}
	return op, s.explain(ctx, "put", s.group.do(op))
}

// Claim implements [Store], among the processes that have the file open.
// The claims of a process that was killed are free at once where the system
// tells that it is gone, and else when its lease ends.
func (s *SQLite) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	if s.writer == nil {
		return nil, fmt.Errorf("cache %s: claim: %w: it was opened to be read only", s.file, ErrReadOnly)
	}
	granted, err := s.claims.claim(ctx, keys)
	return granted, s.explain(ctx, "claim", err)
}

// Release implements [Store].
func (s *SQLite) Release(ctx context.Context, keys []Key) error {
	if s.writer == nil {
		return fmt.Errorf("cache %s: release: %w: it was opened to be read only", s.file, ErrReadOnly)
	}
	return s.explain(ctx, "release", s.claims.release(ctx, keys))
}

func (s *SQLite) explain(ctx context.Context, op string, err error) error {
	if errors.Is(err, ErrClosed) {
		return fmt.Errorf("cache %s: %s: %w", s.file, op, ErrClosed)
	}
	return fileError(ctx, s.file, op, err)
}

const (
	insertSQL = `INSERT INTO answers (key, ` + columns + `)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (key) DO NOTHING`
	claimSQL = `INSERT INTO claims (key, owner)
	SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM answers WHERE key = ?1)
	ON CONFLICT (key) DO UPDATE SET owner = excluded.owner
	WHERE claims.owner = excluded.owner
	OR NOT EXISTS (SELECT 1 FROM owners WHERE id = claims.owner AND expires > ?3)`
	unclaimSQL = `DELETE FROM claims WHERE key = ? AND owner = ?`
	leaseSQL   = `INSERT INTO owners (id, process, expires) VALUES (?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`
	ownersSQL       = `SELECT id, process, expires FROM owners WHERE id <> ?`
	forgetClaimsSQL = `DELETE FROM claims WHERE owner = ?`
	forgetOwnerSQL  = `DELETE FROM owners WHERE id = ?`
	// strayClaimsSQL removes the claims whose owner another process has
	// already removed, which nobody could tell from live ones by their age.
	strayClaimsSQL = `DELETE FROM claims WHERE owner NOT IN (SELECT id FROM owners)`
)

// sqliteWriter is the connection that writes. Only the group's goroutine uses
// it, and Close after that has ended. It goes past database/sql, which costs as
// much as SQLite itself for statements as small as these.
type sqliteWriter struct {
	store  *SQLite
	claims *claims
	conn   driver.Conn

	insert, claim, unclaim driver.Stmt

	claiming bool // whether there can be claims of this store
}

// newSQLiteWriter opens the connection. On an error it is closed.
func newSQLiteWriter(ctx context.Context, s *SQLite, o options) (_ *sqliteWriter, err error) {
	// The log grows to 32 MB before it is carried over: keys are random, so
	// that many answers change the same pages of the index.
	pragmas := []string{"PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 8000", "PRAGMA cache_size = -16000"}
	if o.maxPages > 0 {
		pragmas = append(pragmas, fmt.Sprintf("PRAGMA max_page_count = %d", o.maxPages))
	}
	c, err := connect(s.abs, "rw", o.patience, pragmas...)
	if err != nil {
		return nil, err
	}
	w := &sqliteWriter{store: s, claims: newClaims(o.lease)}
	if w.conn, err = c.Connect(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := checkWritable(w.conn, s.file); err != nil {
		return nil, err
	}
	for _, st := range []struct {
		to  *driver.Stmt
		sql string
	}{{&w.insert, insertSQL}, {&w.claim, claimSQL}, {&w.unclaim, unclaimSQL}} {
		if *st.to, err = w.conn.Prepare(st.sql); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// close closes the statements too, without which the file stays open.
func (w *sqliteWriter) close() error {
	return closeAll(w.conn, w.insert, w.claim, w.unclaim)
}

// commit carries the operations out in one transaction.
func (w *sqliteWriter) commit(ctx context.Context, batch []*operation) error {
	err := w.transaction(ctx, batch)
	return fileError(ctx, w.store.file, "write", err)
}

func (w *sqliteWriter) transaction(ctx context.Context, batch []*operation) (err error) {
	begin, ok := w.conn.(driver.ConnBeginTx)
	if !ok {
		return errors.New("the SQLite driver cannot begin a transaction")
	}
	// Only the start of the transaction waits for others, so the rest does
	// not watch ctx.
	tx, err := begin.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, w.rollback(tx))
		}
	}()
	now := time.Now()
	var renewed time.Time
	for _, op := range batch {
		switch op.kind {
		case opPut:
			err = w.put(op)
		case opClaim, opRenew:
			if renewed.IsZero() {
				renewed, err = w.renew(now, op.kind == opRenew)
			}
			if err == nil && op.kind == opClaim {
				err = w.grant(op, now)
			}
		case opRelease:
			for _, key := range op.keys {
				if err = w.drop(key); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	open = false
	if err := tx.Commit(); err != nil {
		return errors.Join(err, w.rollback(tx))
	}
	w.claims.committed(batch, renewed)
	return w.store.checkFile()
}

// rollback ends a transaction that SQLite may have ended itself.
func (w *sqliteWriter) rollback(tx driver.Tx) error {
	if err := tx.Rollback(); err != nil && !noTransaction(err) {
		return err
	}
	return nil
}

func (w *sqliteWriter) put(op *operation) error {
	a, r := &op.entry.Answer, &op.entry.Request
	digest := a.digest(op.key)
	var text, created driver.Value
	if a.HasText {
		text = a.Text
	}
	if !a.Created.IsZero() {
		created = a.Created.UnixNano()
	}
	inserted, err := run(w.insert, op.key[:],
		r.Kind, r.Model, r.Revision, r.Prompt, string(r.Params), int64(r.Sample),
		text, a.FinishReason, a.ServedModel, int64(a.PromptTokens), int64(a.CompletionTokens), created, digest[:])
	if err != nil {
		return err
	}
	op.first = inserted > 0
	return w.drop(op.key)
}

// drop deletes a claim of this store, if there is one.
func (w *sqliteWriter) drop(key Key) error {
	if !w.claiming {
		return nil
	}
	_, err := run(w.unclaim, key[:], w.claims.owner)
	return err
}

// renew writes the lease if it is time to, and returns now if so.
func (w *sqliteWriter) renew(now time.Time, must bool) (time.Time, error) {
	w.claiming = true
	due, first := w.claims.needsLease(now)
	if !due && !must {
		return time.Time{}, nil
	}
	if err := w.exec(leaseSQL, w.claims.owner, w.claims.process, now.Add(w.claims.lease).UnixMilli()); err != nil {
		return time.Time{}, err
	}
	if first && w.claims.maySweep(now) {
		if err := w.sweep(now); err != nil {
			return time.Time{}, err
		}
	}
	return now, nil
}

func (w *sqliteWriter) grant(op *operation, now time.Time) error {
	refused, err := w.tryGrant(op, now)
	if err != nil || !refused || !w.claims.maySweep(now) {
		return err
	}
	// The holder may be dead, which is seldom and costs more to find out.
	if err := w.sweep(now); err != nil {
		return err
	}
	_, err = w.tryGrant(op, now)
	return err
}

func (w *sqliteWriter) tryGrant(op *operation, now time.Time) (refused bool, err error) {
	for i, key := range op.keys {
		changed, err := run(w.claim, key[:], w.claims.owner, now.UnixMilli())
		if err != nil {
			return false, err
		}
		op.granted[i] = changed > 0
		refused = refused || changed == 0
	}
	return refused, nil
}

// sweep removes the owners whose lease has ended or whose process is gone.
func (w *sqliteWriter) sweep(now time.Time) error {
	var dead []int64
	err := query(w.conn, ownersSQL, []any{w.claims.owner}, func(row []driver.Value) error {
		id, _ := row[0].(int64)
		process, _ := row[1].(string)
		expires, _ := row[2].(int64)
		if expires <= now.UnixMilli() || processGone(process) {
			dead = append(dead, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range dead {
		if err := errors.Join(w.exec(forgetClaimsSQL, id), w.exec(forgetOwnerSQL, id)); err != nil {
			return err
		}
	}
	return w.exec(strayClaimsSQL)
}

// forget gives up all claims. Close calls it when the group has ended.
func (w *sqliteWriter) forget() error {
	if !w.claiming {
		return nil
	}
	err := errors.Join(w.exec(forgetClaimsSQL, w.claims.owner), w.exec(forgetOwnerSQL, w.claims.owner))
	if err = fileError(context.Background(), w.store.file, "close", err); errors.Is(err, ErrLocked) || errors.Is(err, ErrFull) {
		return nil // the lease ends by itself
	}
	return err
}

func (w *sqliteWriter) exec(statement string, args ...any) error {
	execer, ok := w.conn.(driver.ExecerContext)
	if !ok {
		return errors.New("the SQLite driver cannot run a statement")
	}
	_, err := execer.ExecContext(context.Background(), statement, named(args))
	return err
}

// checkFile notices that answers are written to a file that has lost its
// name, and would be gone with this process.
func (s *SQLite) checkFile() error {
	info, err := os.Stat(s.abs)
	switch {
	case err != nil:
		return fmt.Errorf("cache %s: %w: answers cannot be kept; run again: %w", s.file, ErrReplaced, err)
	case !os.SameFile(s.info, info):
		return fmt.Errorf("cache %s: %w: answers cannot be kept; run again", s.file, ErrReplaced)
	default:
		return nil
	}
}
