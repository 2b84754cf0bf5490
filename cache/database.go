package cache

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Database is a persistent Store: a SQLite file or a Postgres database. Any number of
// goroutines and processes can use it at once. Open one with [Open], [openSQLite] or
// [openPostgres], and close it.
//
// A record is committed before Put or Replace returns. When a call other than Claim fails
// because its context is done, it may still take effect. If one of [errFull],
// [errLocked], [errReadOnly], [errReplaced], [ErrCorrupt], [errUnavailable] and
// [errClosed] is the reason of an error, the error wraps it.
type Database struct {
	name    string   // the file, or the database without its password
	secrets []string // never shown in messages
	engine
	readers, writers *sql.DB // the same for Postgres; writers is nil if read-only
	claims           *claims // nil if read-only

	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup // waits for running calls
}

var _ Store = (*Database)(nil)

const mostRows = 500 // per statement

// engine holds the differences between SQLite and Postgres.
type engine interface {
	// text adapts a statement to the database.
	text(statement string) string
	// try calls f, and again if the connection was lost. f must be safe to repeat.
	try(ctx context.Context, f func(context.Context) error) error
	// lock returns the statement that keeps other transactions from changing claims, ""
	// if none can anyway. If durable is false, a crash of the server may undo the
	// transaction.
	lock(durable bool) string
	// committed returns an error if a commit was in vain.
	committed() error
	// classify returns the error of this package that a failure belongs to, if any, and
	// advice about it.
	classify(op string, err error) (advice string, kind error)
}

// start makes the database ready for use after it was found to be a cache.
func (d *Database) start(o options) {
	if !o.readOnly {
		d.claims = newClaims(o.lease)
		go d.renewLoop()
	}
}

// String returns the name of the file, or of the database without its password.
func (d *Database) String() string { return d.name }

// GoString returns String.
func (d *Database) GoString() string { return d.name }

// Close waits for running calls, releases all claims and closes the database. Closing
// twice is not an error.
func (d *Database) Close() error {
	d.mu.Lock()
	before := d.closed
	d.closed = true
	d.mu.Unlock()
	if before {
		return nil
	}
	d.inside.Wait()
	d.giveUp()
	return d.explain(context.Background(), "close", d.disconnect())
}

// disconnect closes the writer last, because the last connection empties SQLite's log.
func (d *Database) disconnect() error {
	var err error
	if d.readers != nil {
		err = d.readers.Close()
	}
	if d.writers != nil && d.writers != d.readers {
		err = cmp.Or(err, d.writers.Close())
	}
	return err
}

// enter begins a call. It returns an error if the database is closed, ctx is done, or the
// call writes to a read-only database. Close waits until leave is called.
func (d *Database) enter(ctx context.Context, op string, writes bool) (leave func(), err error) {
	if writes && d.claims == nil {
		return nil, fmt.Errorf("cache %s: %s: %w: it was opened read-only", d.name, op, errReadOnly)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, fmt.Errorf("cache %s: %w", d.name, errClosed)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("cache %s: %s: %w", d.name, op, ctx.Err())
	}
	d.inside.Add(1)
	return d.inside.Done, nil
}

// queryer is implemented by *sql.DB and *sql.Tx.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each runs a query and calls f for every row, after scanning it into dest.
func (d *Database) each(ctx context.Context, in queryer, query string, args, dest []any, f func() error) error {
	rows, err := in.QueryContext(ctx, d.text(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exec runs a statement unless it is "".
func (d *Database) exec(ctx context.Context, in queryer, statement string, args ...any) error {
	if statement == "" {
		return nil
	}
	_, err := in.ExecContext(ctx, d.text(statement), args...)
	return err
}

// run runs statements without arguments.
func (d *Database) run(ctx context.Context, in queryer, statements ...string) error {
	for _, s := range statements {
		if err := d.exec(ctx, in, s); err != nil {
			return err
		}
	}
	return nil
}

// query runs a reading query. If the connection is lost, the query is repeated only if f
// has not been called yet.
func (d *Database) query(ctx context.Context, statement string, args, dest []any, f func() error) error {
	begun := false
	var lost error
	err := d.try(ctx, func(ctx context.Context) error {
		err := d.each(ctx, d.readers, statement, args, dest, func() error {
			begun = true
			return f()
		})
		if begun {
			lost, err = err, nil
		}
		return err
	})
	return cmp.Or(err, lost)
}

// change calls f in a transaction.
func (d *Database) change(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	err := d.try(ctx, func(ctx context.Context) error { return transact(ctx, d.writers, f) })
	if err == nil {
		err = d.committed()
	}
	return err
}

// transact calls f in a transaction of some connections.
func transact(ctx context.Context, in *sql.DB, f func(ctx context.Context, tx *sql.Tx) error) error {
	tx, err := in.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // SQLite's are stricter
	if err != nil {
		return err
	}
	defer tx.Rollback() // has no effect after Commit
	if err := f(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// parameters returns n placeholders of a statement, numbered from first.
func parameters(n, first int) string {
	var b []byte
	for i := range n {
		b = strconv.AppendInt(append(b, ",$"...), int64(first+i), 10)
	}
	return string(b[1:])
}

// keyArgs returns keys as arguments of a statement.
func keyArgs(keys []Key) []any {
	args := make([]any, len(keys))
	for i := range keys {
		args[i] = keys[i][:]
	}
	return args
}

// Get implements [Store], with several connections for many keys. A value that does not
// match its checksum is a [*Problem].
func (d *Database) Get(ctx context.Context, keys []Key) ([][]byte, error) {
	leave, err := d.enter(ctx, "get", false)
	if err != nil {
		return nil, err
	}
	defer leave()
	values := make([][]byte, len(keys))
	first := make(map[Key]int, len(keys)) // first index of each key to read
	var read []Key
	for i, key := range keys {
		if _, again := first[key]; !again {
			first[key] = i
			read = append(read, key)
		}
	}
	all, inner := errgroup.WithContext(ctx)
	all.SetLimit(max(1, d.readers.Stats().MaxOpenConnections))
	part := min(mostRows, max(64, len(read)/runtime.GOMAXPROCS(0)))
	for part := range slices.Chunk(read, part) {
		all.Go(func() error {
			return d.try(inner, func(ctx context.Context) error {
				return d.read(ctx, part, func(key Key, value []byte) { values[first[key]] = value })
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, d.explain(ctx, "get", err)
	}
	for i, key := range keys {
		values[i] = values[first[key]]
	}
	return values, nil
}

// read reads the values of keys and verifies their checksums.
func (d *Database) read(ctx context.Context, keys []Key, f func(Key, []byte)) error {
	var r row
	dest := []any{(*sql.RawBytes)(&r.key), &r.kind, (*sql.RawBytes)(&r.digest), &r.value}
	query := "SELECT key, kind, digest, value FROM refract_records WHERE key IN (" + parameters(len(keys), 1) + ")"
	return d.each(ctx, d.readers, query, keyArgs(keys), dest, func() error {
		record, err := r.record(d.name)
		if err != nil {
			return err
		}
		f(record.Key, record.Value)
		return nil
	})
}

// Put implements [Store].
func (d *Database) Put(ctx context.Context, records ...Record) ([][]byte, error) {
	stored := make(map[Key]bool)
	keys, values := make([]Key, len(records)), make([][]byte, len(records))
	for i := range records {
		keys[i] = records[i].Key
	}
	rows := rowsOf(sorted(records))
	err := d.write(ctx, "put", records, func(ctx context.Context, tx *sql.Tx) error {
		clear(stored)
		return d.insert(ctx, tx, rows, "NOTHING", stored)
	})
	if err != nil {
		return nil, err
	}
	d.claims.owe(keys) // they have no effect any more, and are released later
	for i, key := range keys {
		if !stored[key] { // there was a value already
			if values, err = d.Get(ctx, keys); err != nil {
				return nil, err
			}
			break
		}
		values[i] = records[slices.Index(keys, key)].Value
	}
	for i := range values {
		if values[i] == nil {
			return nil, fmt.Errorf("cache %s: put: record %s was deleted by another process at once", d.name, keys[i])
		}
	}
	return values, nil
}

// Replace implements [Store].
func (d *Database) Replace(ctx context.Context, records ...Record) error {
	last := sorted(records)
	slices.Reverse(last)
	last = slices.CompactFunc(last, func(a, b Record) bool { return a.Key == b.Key })
	slices.Reverse(last)
	rows := rowsOf(last)
	return d.write(ctx, "replace", records, func(ctx context.Context, tx *sql.Tx) error {
		return d.insert(ctx, tx, rows, "UPDATE SET kind = excluded.kind, digest = excluded.digest, value = excluded.value, about = excluded.about", map[Key]bool{})
	})
}

// write calls f in a transaction that stores records.
func (d *Database) write(ctx context.Context, op string, records []Record, f func(ctx context.Context, tx *sql.Tx) error) error {
	leave, err := d.enter(ctx, op, true)
	if err != nil {
		return err
	}
	defer leave()
	if err := checkRecords(records); err != nil {
		return err
	}
	return d.explain(ctx, op, d.change(ctx, f))
}

// rowsOf returns records as rows. The checksums are made before a transaction begins, because
// it keeps all others from writing.
func rowsOf(records []Record) []row {
	rows := make([]row, len(records))
	for i, r := range records {
		sum := digest(r.Kind, r.Key, r.Value)
		rows[i] = row{r.Kind, r.Key[:], sum[:], r.Value, r.About}
	}
	return rows
}

// insert stores rows, which must be sorted, so that no two transactions wait for each
// other. If a key exists, it does what otherwise says. It notes the stored keys in stored.
func (d *Database) insert(ctx context.Context, tx *sql.Tx, records []row, otherwise string, stored map[Key]bool) error {
	for part := range slices.Chunk(records, mostRows) {
		const columns = 5
		var rows strings.Builder
		args := make([]any, 0, columns*len(part))
		for i := range part {
			if i > 0 {
				rows.WriteByte(',')
			}
			rows.WriteString("(" + parameters(columns, 1+len(args)) + ")")
			r := &part[i]
			args = append(args, r.key, r.kind, r.digest, r.value, r.about)
		}
		var key []byte
		if err := d.each(ctx, tx, "INSERT INTO refract_records (key, kind, digest, value, about) VALUES "+rows.String()+" ON CONFLICT (key) DO "+otherwise+" RETURNING key",
			args, []any{&key}, func() error {
				stored[Key(key)] = true
				return nil
			}); err != nil {
			return err
		}
	}
	return nil
}

func compareKeys(a, b Key) int { return bytes.Compare(a[:], b[:]) }

func distinct(keys []Key) []Key {
	keys = slices.SortedFunc(slices.Values(keys), compareKeys)
	return slices.Compact(keys)
}

// sorted returns the records sorted by key; records with equal keys keep their order.
func sorted(records []Record) []Record {
	return slices.SortedStableFunc(slices.Values(records), func(a, b Record) int { return compareKeys(a.Key, b.Key) })
}
