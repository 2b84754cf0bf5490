package cache

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"
)

// Database is a Store that outlives the process, used at once by any number of
// goroutines and processes: a SQLite file or a Postgres database. Open one with
// [Open], [openSQLite] or [openPostgres], and close it.
//
// A record is committed before Put or Replace returns. When a call fails because
// its context is done, it may still be carried out, but for Claim. Errors wrap
// [errFull], [errLocked], [errReadOnly], [errReplaced], [ErrCorrupt],
// [errUnavailable] or [errClosed] where one of them is the reason.
type Database struct {
	name    string   // the file, or the database without its password
	secrets []string // that no message shows
	engine
	readers, writers *sql.DB // of Postgres they are one; writers is nil if read-only
	claims           *claims // nil if read-only
	// recent are answers that were read lately. Scores are not among them, as
	// they may be replaced.
	recent *lru.Cache[Key, []byte]

	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup // calls
}

var _ Store = (*Database)(nil)

const (
	mostRecent = 4096     // answers
	largeValue = 16 << 10 // bytes of a value that is not kept among them
	mostRows   = 500      // of a statement
)

// engine is what tells SQLite and Postgres apart.
type engine interface {
	// text writes a statement for the database.
	text(statement string) string
	// try carries out f, and again where the connection was lost: what it does
	// can be repeated without harm.
	try(ctx context.Context, f func(context.Context) error) error
	// lock is the statement that lets a transaction change claims while no other
	// does, "" where no other can. Unless it is durable, a crash of the server
	// may undo it.
	lock(durable bool) string
	isolation() sql.IsolationLevel
	// committed finds what makes a commit worthless.
	committed() error
	// check returns what is wrong with the structure of the database.
	check(ctx context.Context) ([]string, error)
	// classify says which of the errors of this package a failure is, if any, and
	// what to do about it.
	classify(op string, err error) (advice string, kind error)
}

// start makes the database ready once it is found to be a cache.
func (d *Database) start(o options) {
	d.recent, _ = lru.New[Key, []byte](mostRecent) // which fails below 1
	if !o.readOnly {
		d.claims = newClaims(o.lease)
		go d.renewLoop()
	}
}

// String names the file, or the database without its password.
func (d *Database) String() string { return d.name }

// GoString is String.
func (d *Database) GoString() string { return d.name }

// Close ends the use of the database once the calls that are under way have
// ended, and gives up all claims. Closing twice is no error.
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

// disconnect closes the writer last: the last connection empties SQLite's log.
func (d *Database) disconnect() error {
	var err error
	if d.readers != nil {
		err = d.readers.Close()
	}
	if d.writers != nil && d.writers != d.readers {
		if last := d.writers.Close(); err == nil {
			err = last
		}
	}
	return err
}

// enter lets a call in, unless the database is closed, ctx is done, or it writes
// and may not. Close waits until leave is called.
func (d *Database) enter(ctx context.Context, op string, writes bool) (leave func(), err error) {
	if writes && d.claims == nil {
		return nil, fmt.Errorf("cache %s: %s: %w: it was opened to be read only", d.name, op, errReadOnly)
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

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each calls f with every row of a query in dest.
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

// exec runs a statement, if there is one.
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

// query reads. It is not asked for again when the connection is lost and f has
// seen a part of what is read.
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
	if err == nil {
		err = lost
	}
	return err
}

// change carries out f in a transaction.
func (d *Database) change(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	err := d.try(ctx, func(ctx context.Context) error {
		tx, err := d.writers.BeginTx(ctx, &sql.TxOptions{Isolation: d.isolation()})
		if err != nil {
			return err
		}
		defer tx.Rollback() // without effect after Commit
		if err := f(ctx, tx); err != nil {
			return err
		}
		return tx.Commit()
	})
	if err == nil {
		err = d.committed()
	}
	return err
}

// parameters are n of a statement, of which the first has a number.
func parameters(n, first int) string {
	var b []byte
	for i := range n {
		b = strconv.AppendInt(append(b, ",$"...), int64(first+i), 10)
	}
	return string(b[1:])
}

// keyArgs are keys as arguments.
func keyArgs(keys []Key) []any {
	args := make([]any, len(keys))
	for i := range keys {
		args[i] = keys[i][:]
	}
	return args
}

// Get implements [Store], with several connections for a large number of keys.
// A value that does not agree with its checksum is a [*damageError].
func (d *Database) Get(ctx context.Context, keys []Key) ([][]byte, error) {
	leave, err := d.enter(ctx, "get", false)
	if err != nil {
		return nil, err
	}
	defer leave()
	values := make([][]byte, len(keys))
	first := make(map[Key]int, len(keys)) // the first place of a key that is to be read
	var read []Key
	for i, key := range keys {
		if v, ok := d.recent.Get(key); ok {
			values[i] = v
		} else if _, again := first[key]; !again {
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
		if at, ok := first[key]; ok {
			values[i] = values[at]
		}
	}
	return values, nil
}

// read reads the values of keys, and checks their checksums.
func (d *Database) read(ctx context.Context, keys []Key, f func(Key, []byte)) error {
	var r row
	dest := []any{(*sql.RawBytes)(&r.key), &r.kind, (*sql.RawBytes)(&r.digest), &r.value}
	return d.each(ctx, d.readers, d.readSQL(len(keys)), keyArgs(keys), dest, func() error {
		record, err := r.record(d.name)
		if err != nil {
			return err
		}
		if f(record.Key, record.Value); r.kind == answerRecord && len(record.Value) < largeValue {
			d.recent.Add(record.Key, record.Value)
		}
		return nil
	})
}

func (d *Database) readSQL(n int) string {
	return "SELECT key, kind, digest, value FROM refract_records WHERE key IN (" + parameters(n, 1) + ")"
}

// Put implements [Store].
func (d *Database) Put(ctx context.Context, records ...Record) ([][]byte, error) {
	stored := make(map[Key]bool)
	keys, values := make([]Key, len(records)), make([][]byte, len(records))
	for i := range records {
		keys[i] = records[i].Key
	}
	err := d.write(ctx, "put", records, func(ctx context.Context, tx *sql.Tx) error {
		clear(stored)
		return d.insert(ctx, tx, sorted(records), "NOTHING", stored)
	})
	if err != nil {
		return nil, err
	}
	d.claims.owe(keys) // which are of no account any more, and go in a while
	for i, key := range keys {
		if !stored[key] { // there was a value before
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
	return d.write(ctx, "replace", records, func(ctx context.Context, tx *sql.Tx) error {
		return d.insert(ctx, tx, last, "UPDATE SET kind = excluded.kind, digest = excluded.digest, value = excluded.value, about = excluded.about", map[Key]bool{})
	})
}

// write carries out f in a transaction that stores records.
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

// insert stores records, which are sorted, so that no two transactions wait for
// each other. Of those whose key is there it does something else. It notes which
// keys it has stored.
func (d *Database) insert(ctx context.Context, tx *sql.Tx, records []Record, otherwise string, stored map[Key]bool) error {
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
			sum := digest(r.Kind, r.Key, r.Value)
			args = append(args, r.Key[:], r.Kind, sum[:], r.Value, r.About)
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

// sorted are records by their keys; of equal keys the order stays.
func sorted(records []Record) []Record {
	return slices.SortedStableFunc(slices.Values(records), func(a, b Record) int { return compareKeys(a.Key, b.Key) })
}
