package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Database is a Store that outlives the process, used at once by any number of
// goroutines and processes: a SQLite file or a Postgres database. Open one with
// [Open], [OpenSQLite] or [OpenPostgres], and close it.
//
// A record is committed before Put or Replace returns. All that is waiting
// when the writer becomes free is committed in one transaction, so that many
// callers are served at the price of one. When a call fails because its context
// is done, it may still be carried out, but for Claim. Errors wrap [ErrFull],
// [ErrLocked], [ErrReadOnly], [ErrReplaced], [ErrCorrupt], [ErrUnavailable] or
// [ErrClosed] where one of them is the reason.
type Database struct {
	name   string // the file, or the database without its password
	engine engine
	claims *claims
	group  *group // carries out what is to be written; nil if read-only
	gate   gate   // all calls are inside
}

var _ Store = (*Database)(nil)

// engine is a kind of database. What its methods return is explained by
// explain.
type engine interface {
	// read sets the values of keys that have one, and checks their checksums.
	read(ctx context.Context, keys []Key, values [][]byte) error
	// query is that of a session outside of a transaction.
	query(ctx context.Context, statement string, args, dest []any, f func() error) error
	// commit carries a transaction out, whole or not at all.
	commit(ctx context.Context, t *transaction) error
	// version is that of the schema, and source what records are read from.
	version() (version int, source string)
	bytes(ctx context.Context) (int64, error)
	// check returns what is wrong with the structure of the database.
	check(ctx context.Context) ([]string, error)
	// compact gives the space of deleted records back, as far as it can.
	compact(ctx context.Context) error
	close() error
	// explain says what a failed operation means and what to do about it. It
	// leaves what is explained already.
	explain(ctx context.Context, op string, err error) error
}

// Option changes how a database is opened.
type Option func(*options)

type options struct {
	readOnly bool
	existing bool // make no file
	// patience is how long to wait for another process that holds a file
	// locked, and how long to try to reach a database again.
	patience time.Duration
	// lease is how long the claims of a process outlive it, where nothing tells
	// that it is gone. A process that lives renews its lease; one that is
	// stopped for longer loses its claims.
	lease    time.Duration
	tell     func(message string)
	maxPages int // of a file, for tests of a full disk; 0 sets no limit
}

func newOptions(opts []Option) options {
	o := options{patience: 10 * time.Second, lease: 30 * time.Second, tell: func(string) {}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// ReadOnly opens an existing cache, be it writable or not, to read it: what
// writes fails with [ErrReadOnly]. A cache of an older version stays one.
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// Existing opens a file only where there is one.
func Existing() Option { return func(o *options) { o.existing = true } }

// Tell hands messages to people: that the database makes a process wait.
func Tell(f func(message string)) Option { return func(o *options) { o.tell = f } }

// Open opens the cache in a database whose URL begins with postgres:// or
// postgresql://, as [OpenPostgres] does, or the one in a file, as [OpenSQLite]
// does.
func Open(ctx context.Context, where string, opts ...Option) (*Database, error) {
	if IsPostgres(where) {
		return OpenPostgres(ctx, where, opts...)
	}
	return OpenSQLite(ctx, where, opts...)
}

// IsPostgres reports whether a name is the URL of a Postgres database.
func IsPostgres(where string) bool {
	for _, scheme := range []string{"postgres://", "postgresql://"} {
		if len(where) >= len(scheme) && strings.EqualFold(where[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// settings is how libpq writes what a URL of Postgres says, a password perhaps
// included. No file is meant by it.
var settings = regexp.MustCompile(`(?i)(^|\s)(host|hostaddr|port|user|password|passfile|dbname|service)\s*=`)

// mistyped is a name that is meant as an address, and is none that is known.
var mistyped = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]+:/|postgres(ql)?[:/].*@)`)

// CheckName says what is wrong with the name of a cache that can only be a
// mistyped address. It quotes nothing of it.
func CheckName(where string) error {
	switch {
	case settings.MatchString(where):
		return errors.New("cache: settings such as host=… name no file: write the URL of a Postgres database as postgres://user@host:5432/database, and a password into PGPASSWORD or ~/.pgpass")
	case !IsPostgres(where) && mistyped.MatchString(where):
		return errors.New("cache: the name looks like an address: write that of a Postgres database as postgres://user@host:5432/database, or ./ before the name of a file")
	}
	return nil
}

// Shown is the name of a cache for people and logs: that of a database is
// without its password.
func Shown(where string) string {
	switch {
	case settings.MatchString(where):
		return "settings of Postgres"
	case !IsPostgres(where) && mistyped.MatchString(where):
		return "an address"
	case !IsPostgres(where):
		return where
	}
	config, _, err := parsePostgres(where)
	if err != nil {
		return "postgres://…"
	}
	return postgresName(config.ConnConfig)
}

func newDatabase(name string, e engine, o options) *Database {
	d := &Database{name: name, engine: e}
	if !o.readOnly {
		d.group = newGroup(d.commit)
		d.claims = newClaims(o.lease, d.do)
	}
	return d
}

// String names the file, or the database without its password.
func (d *Database) String() string { return d.name }

// GoString is String.
func (d *Database) GoString() string { return d.name }

// Close ends the use of the database, once the records that are being stored
// are committed, and gives up all claims. Closing twice is no error.
func (d *Database) Close() error {
	if !d.gate.shut() {
		return nil
	}
	if d.group != nil {
		d.claims.end()
		d.group.close()
		if d.claims.made() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = d.commit(ctx, []*operation{{kind: opEnd}}) // else the lease ends by itself
		}
	}
	return d.engine.explain(context.Background(), "close", d.engine.close())
}

// enter lets a call in, unless the database is closed or ctx is done. Close
// waits until leave is called.
func (d *Database) enter(ctx context.Context) (leave func(), err error) {
	if leave, err = d.gate.enter(); err != nil {
		return nil, fmt.Errorf("cache %s: %w", d.name, err)
	}
	if ctx.Err() != nil {
		leave()
		return nil, fmt.Errorf("cache %s: %w", d.name, ctx.Err())
	}
	return leave, nil
}

// Get implements [Store], with several connections for a large number of keys.
// A value that does not agree with its checksum is a [*DamageError].
func (d *Database) Get(ctx context.Context, keys []Key) ([][]byte, error) {
	leave, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	values := make([][]byte, len(keys))
	if err := d.engine.read(ctx, keys, values); err != nil {
		return nil, d.engine.explain(ctx, "get", err)
	}
	return values, nil
}

// inParts calls f with n things in parts of a size, several at a time.
func inParts(ctx context.Context, n, size, atOnce int, f func(ctx context.Context, from, to int) error) error {
	if n <= size {
		return f(ctx, 0, n)
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(atOnce)
	for from := 0; from < n; from += size {
		all.Go(func() error { return f(ctx, from, min(from+size, n)) })
	}
	return all.Wait()
}

// Put implements [Store].
func (d *Database) Put(ctx context.Context, records ...Record) ([][]byte, error) {
	op := &operation{kind: opPut, records: records, first: make([]bool, len(records))}
	if err := d.write(ctx, "put", op); err != nil {
		return nil, err
	}
	values := make([][]byte, len(records))
	var before []Key
	for i, r := range records {
		if op.first[i] {
			values[i] = r.Value
		} else {
			before = append(before, r.Key)
		}
	}
	if len(before) == 0 {
		return values, nil
	}
	stored, err := d.Get(ctx, before)
	if err != nil {
		return nil, err
	}
	for i := range values {
		if op.first[i] {
			continue
		}
		if values[i], stored = stored[0], stored[1:]; values[i] == nil {
			return nil, fmt.Errorf("cache %s: put: record %s was deleted by another process at once", d.name, records[i].Key)
		}
	}
	return values, nil
}

// Replace implements [Store].
func (d *Database) Replace(ctx context.Context, records ...Record) error {
	return d.write(ctx, "replace", &operation{kind: opReplace, records: records})
}

// Delete implements [Store].
func (d *Database) Delete(ctx context.Context, keys []Key) error {
	return d.write(ctx, "delete", &operation{kind: opDelete, keys: keys})
}

// Claim implements [Store], among the processes that have the database open.
// The claims of a process of this machine that was killed are free at once where
// the system tells that it is gone, and else when its lease ends.
func (d *Database) Claim(ctx context.Context, keys []Key) ([]bool, error) {
	if d.group == nil {
		return nil, d.readOnly("claim")
	}
	granted, err := d.claims.claim(ctx, keys)
	return granted, d.engine.explain(ctx, "claim", err)
}

// Release implements [Store].
func (d *Database) Release(ctx context.Context, keys []Key) error {
	if d.group == nil {
		return d.readOnly("release")
	}
	return d.engine.explain(ctx, "release", d.claims.release(ctx, keys))
}

func (d *Database) readOnly(op string) error {
	return fmt.Errorf("cache %s: %s: %w: it was opened to be read only", d.name, op, ErrReadOnly)
}

// write carries an operation of a caller out.
func (d *Database) write(ctx context.Context, name string, op *operation) error {
	if d.group == nil {
		return d.readOnly(name)
	}
	if err := checkRecords(op.records); err != nil {
		return err
	}
	op.ctx = ctx
	return d.engine.explain(ctx, name, d.do(op))
}

// do waits until an operation is committed.
func (d *Database) do(op *operation) error {
	leave, err := d.enter(op.ctx)
	if err != nil {
		return err
	}
	defer leave()
	return d.group.do(op)
}

// commit carries operations out in one transaction.
func (d *Database) commit(ctx context.Context, batch []*operation) error {
	t := newTransaction(batch, d.claims, time.Now())
	if err := d.engine.commit(ctx, t); err != nil {
		return d.engine.explain(ctx, "write", err)
	}
	d.claims.committed(batch, t)
	return nil
}

// recordsPage is how many records are read at a time.
const recordsPage = 500

// Records implements [Store]. It reads pages in the order of the keys, and holds
// neither a connection nor a snapshot between them: of what is stored or deleted
// meanwhile, some is yielded. A record that cannot be read is damaged as long as
// the index has its key.
func (d *Database) Records(ctx context.Context, kind string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		leave, err := d.enter(ctx)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer leave()
		after := []byte{}
		for {
			page, err := d.page(ctx, kind, after)
			for i := range page {
				if ctx.Err() != nil {
					err, page = ctx.Err(), nil
					break
				}
				record, what := page[i].record()
				var damage error
				if what != "" {
					damage = &DamageError{Store: d.name, Key: fmt.Sprintf("%x", page[i].key), What: what}
				}
				if !yield(record, damage) {
					return
				}
			}
			if len(page) > 0 {
				after = page[len(page)-1].key
			}
			if err = d.engine.explain(ctx, "list", err); errors.Is(err, ErrCorrupt) {
				if key := d.unread(ctx, after); key != nil {
					if !yield(Record{}, &DamageError{Store: d.name, Key: fmt.Sprintf("%x", key), What: "it cannot be read"}) {
						return
					}
					after = key
					continue
				}
			}
			if err != nil {
				yield(Record{}, err)
			}
			if err != nil || len(page) < recordsPage {
				return
			}
		}
	}
}

// page reads records of a kind that come after a key. What is read before an
// error is returned beside it.
func (d *Database) page(ctx context.Context, kind string, after []byte) ([]row, error) {
	var page []row
	var r row
	err := d.engine.query(ctx, d.pageSQL(len(after) == 0),
		[]any{kind, after}, []any{&r.key, &r.kind, &r.digest, &r.value, &r.about}, func() error {
			if len(after) > 0 && bytes.Compare(r.key, after) <= 0 {
				return fmt.Errorf("cache %s: list: %w: its index gives the keys out of order: see `refract cache verify`", d.name, ErrCorrupt)
			}
			page, after = append(page, r), r.key
			r = row{}
			return ctx.Err()
		})
	return page, err
}

// unread is the key that the index has after another one, nil where it gives none:
// that of the record at which a page ended.
func (d *Database) unread(ctx context.Context, after []byte) (next []byte) {
	var key []byte
	_, source := d.engine.version()
	_ = d.engine.query(ctx, "SELECT key FROM "+source+" WHERE key > $1 ORDER BY key LIMIT 1", []any{after}, []any{&key}, func() error {
		if bytes.Compare(key, after) > 0 {
			next = key
		}
		return nil
	}) // what made the page end is said where this fails too
	return next
}

// pageSQL is the query of a page. The first one takes the empty key too, which
// only a damaged record has.
func (d *Database) pageSQL(first bool) string {
	_, source := d.engine.version()
	above := ">"
	if first {
		above = ">="
	}
	return fmt.Sprintf(`SELECT key, kind, digest, value, about FROM %s
		WHERE $1 IN ('', kind) AND key %s $2 ORDER BY key LIMIT %d`, source, above, recordsPage)
}
