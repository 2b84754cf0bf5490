package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// sqliteEngine is a file.
//
// Killing the process, at any moment and in any way, loses no record that is
// committed. The log is not flushed to the disk at each commit, so a loss of
// power or a crash of the operating system can take the last records with it;
// the file stays sound. The file has companions named -wal and -shm while it
// is in use.
type sqliteEngine struct {
	file   string // as the caller named it, for messages
	abs    string
	info   fs.FileInfo // of the file that was opened
	schema int         // its version

	readers *sql.DB
	reads   [len(readSizes)]*sql.Stmt

	patience time.Duration

	// What follows is nil if read-only, and only the group's goroutine uses it.
	writers *sql.DB
	writer  *sqliteSession
}

// OpenSQLite opens the cache in a file, which is created if it does not exist
// and its folder does. A file of an older version is brought up to date, unless
// it is opened for reading only. The error is a [*VersionError] for a file of a
// newer version, or wraps [ErrForeign] for another program's database,
// [ErrCorrupt] for a damaged file or one that is no database, [ErrLocked],
// [ErrReadOnly], [ErrFull], or [fs.ErrNotExist] for a missing folder (with
// [ReadOnly], a missing file).
//
// A loss of power, not of the process, may cost the records stored last. The
// file does not belong on a network file system. No other code of the process
// may open and close it while it is in use: on Unix that drops SQLite's locks.
func OpenSQLite(ctx context.Context, path string, opts ...Option) (*Database, error) {
	if err := CheckName(path); err != nil {
		return nil, err
	}
	o := newOptions(opts)
	s := &sqliteEngine{file: path, patience: o.patience}
	if err := s.open(ctx, o); err != nil {
		_ = s.close() // err is the reason
		return nil, s.explain(ctx, "open", err)
	}
	return newDatabase(path, s, o), nil
}

func (s *sqliteEngine) open(ctx context.Context, o options) error {
	if err := checkPath(s.file, o.readOnly || o.existing); err != nil {
		return err
	}
	var err error
	if s.abs, err = filepath.Abs(s.file); err != nil {
		return err
	}
	if !o.readOnly {
		if err := prepareFile(ctx, s.abs, s.file, o); err != nil {
			return err
		}
	}
	if s.info, err = os.Stat(s.abs); err != nil {
		return err
	}

	mode := "rw"
	if o.readOnly {
		if mode, err = readOnlyMode(ctx, s.abs, o); err != nil {
			return err
		}
	}
	if s.readers, err = connect(s.abs, mode+"&_pragma=query_only(1)", o.patience, max(4, runtime.GOMAXPROCS(0))); err != nil {
		return err
	}
	if s.schema, err = inspectSQLite(ctx, s.reader(), s.file); err != nil {
		return err
	}
	if s.schema == 0 {
		return fmt.Errorf("cache %s: %w: the database is empty", s.file, ErrForeign)
	}
	for i, n := range readSizes {
		if s.reads[i], err = s.readers.PrepareContext(ctx, s.readSQL(n)); err != nil {
			return s.schemaError(ctx, err)
		}
	}
	if o.readOnly {
		return nil
	}
	return s.schemaError(ctx, s.openWriter(ctx, o))
}

func (s *sqliteEngine) openWriter(ctx context.Context, o options) (err error) {
	if s.writers, err = connect(s.abs, "rw", o.patience, 1); err != nil {
		return err
	}
	conn, err := s.writers.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = &sqliteSession{conn: conn, prepared: map[*change]*sql.Stmt{}}
	if err := conn.Raw(s.checkWritable); err != nil {
		return err
	}
	// The log grows to 32 MB before it is carried over: keys are random, so
	// that many records change the same pages of the index.
	pragmas := []string{"synchronous = NORMAL", "wal_autocheckpoint = 8000", "cache_size = -16000"}
	if o.maxPages > 0 {
		pragmas = append(pragmas, fmt.Sprintf("max_page_count = %d", o.maxPages))
	}
	for _, p := range pragmas {
		if err := run(ctx, s.writer, "PRAGMA "+p); err != nil {
			return err
		}
	}
	for _, c := range writing {
		if s.writer.prepared[c], err = conn.PrepareContext(ctx, sqliteDialect.text(c.row)); err != nil {
			return err
		}
	}
	return nil
}

// schemaError tells a database that lacks our table or columns from one that
// could not be read.
func (s *sqliteEngine) schemaError(ctx context.Context, err error) error {
	err = s.explain(ctx, "open", err)
	if err != nil && (strings.Contains(err.Error(), "no such") || strings.Contains(err.Error(), "has no column")) {
		return corrupt(s.file, "open", err)
	}
	return err
}

// checkWritable notices that SQLite has opened the file for reading only, as
// it does without a word where the file's mode asks for it.
func (s *sqliteEngine) checkWritable(driver any) error {
	asked, ok := driver.(interface {
		IsReadOnly(schema string) (bool, error)
	})
	if !ok {
		return errors.New("the SQLite driver does not tell whether a file is writable")
	}
	readOnly, err := asked.IsReadOnly("main")
	if err == nil && readOnly {
		err = notWritable(s.file, "open", fs.ErrPermission)
	}
	return err
}

// close closes the writer last: the last connection empties the log.
func (s *sqliteEngine) close() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		for _, st := range s.writer.prepared {
			if st != nil {
				errs = append(errs, st.Close())
			}
		}
		errs = append(errs, s.writer.conn.(*sql.Conn).Close())
	}
	if s.writers != nil {
		errs = append(errs, s.writers.Close())
	}
	return errors.Join(errs...)
}

func (s *sqliteEngine) version() (int, string) {
	return s.schema, sqliteDialect.source(s.schema == sqliteVersion)
}

func (s *sqliteEngine) explain(ctx context.Context, op string, err error) error {
	return fileError(ctx, s.file, op, err)
}

// readSizes are the numbers of keys for which statements are prepared, from
// large to small. A part that is smaller than the last is filled with NULL,
// which no key equals.
var readSizes = [...]int{256, 32, 4}

// readPart is the least number of keys worth a connection of their own.
const readPart = 64

// readSQL reads n values in the order of the keys, each with its place among
// them.
func (s *sqliteEngine) readSQL(n int) string {
	var b strings.Builder
	b.WriteString("WITH asked (place, key) AS (VALUES ")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,?)", i)
	}
	// CROSS keeps SQLite from reading the table first.
	_, source := s.version()
	b.WriteString(") SELECT place, kind, digest, value FROM asked CROSS JOIN " + source + " ON refract_records.key = asked.key")
	return sqliteDialect.text(b.String())
}

// read uses all cores for a large number of keys.
func (s *sqliteEngine) read(ctx context.Context, keys []Key, values [][]byte) error {
	cores := runtime.GOMAXPROCS(0)
	part := max(readPart, (len(keys)+cores-1)/cores)
	return inParts(ctx, len(keys), part, cores, func(ctx context.Context, from, to int) error {
		return s.readPart(ctx, keys[from:to], values[from:to])
	})
}

func (s *sqliteEngine) readPart(ctx context.Context, keys []Key, values [][]byte) error {
	var args []any
	var r valueRow
	for len(keys) > 0 {
		which := 0
		for which < len(readSizes)-1 && readSizes[which] > len(keys) {
			which++
		}
		n := min(readSizes[which], len(keys))
		args = append(args[:0], make([]any, readSizes[which])...)
		for i := range n {
			args[i] = keys[i][:]
		}
		rows, err := s.reads[which].QueryContext(ctx, args...)
		if err := eachRow(rows, err, []any{&r.place, &r.kind, (*sql.RawBytes)(&r.digest), (*sql.RawBytes)(&r.value)}, func() error {
			return r.accept(s.file, keys[:n], values)
		}); err != nil {
			return err
		}
		keys, values = keys[n:], values[n:]
	}
	return nil
}

// eachRow calls f with every row of a query in dest.
func eachRow(rows *sql.Rows, err error, dest []any, f func() error) error {
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

// sqliteConn is a *sql.DB, *sql.Conn or *sql.Tx.
type sqliteConn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// sqliteSession implements session.
type sqliteSession struct {
	conn     sqliteConn
	prepared map[*change]*sql.Stmt // of a writer
}

func (s *sqliteSession) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.conn.ExecContext(ctx, sqliteDialect.text(statement), args...)
	return err
}

func (s *sqliteSession) each(ctx context.Context, c *change, rows [][]any) ([]bool, error) {
	changed := make([]bool, len(rows))
	for i, args := range rows {
		done, err := s.prepared[c].ExecContext(ctx, args...)
		if err != nil {
			return nil, err
		}
		n, err := done.RowsAffected()
		if err != nil {
			return nil, err
		}
		changed[i] = n > 0
	}
	return changed, nil
}

func (s *sqliteSession) query(ctx context.Context, statement string, args, dest []any, f func() error) error {
	rows, err := s.conn.QueryContext(ctx, sqliteDialect.text(statement), args...)
	return eachRow(rows, err, dest, f)
}

func (s *sqliteEngine) reader() *sqliteSession { return &sqliteSession{conn: s.readers} }

func (s *sqliteEngine) query(ctx context.Context, statement string, args, dest []any, f func() error) error {
	return s.reader().query(ctx, statement, args, dest, f)
}

// bytes is the size of the file and its log.
func (s *sqliteEngine) bytes(context.Context) (int64, error) {
	var n int64
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(s.abs + suffix)
		switch {
		case err == nil:
			n += info.Size()
		case suffix == "" || !errors.Is(err, os.ErrNotExist):
			return 0, err
		}
	}
	return n, nil
}

func (s *sqliteEngine) check(ctx context.Context) (problems []string, err error) {
	var what string
	err = s.query(ctx, "PRAGMA integrity_check", nil, []any{&what}, func() error {
		if what != "ok" {
			problems = append(problems, "SQLite: "+what)
		}
		return nil
	})
	return problems, err
}

// compact makes the file smaller, for which it needs as much space again for
// a while.
func (s *sqliteEngine) compact(ctx context.Context) (err error) {
	// A connection of its own leaves the writer free for others meanwhile.
	db, err := connect(s.abs, "rw", s.patience, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The log holds the whole file after VACUUM. Where others read, it is
	// emptied later.
	return run(ctx, &sqliteSession{conn: db}, "PRAGMA synchronous = NORMAL", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
}

func (s *sqliteEngine) commit(ctx context.Context, t *transaction) error {
	// Only the start of the transaction waits for others, so the rest does
	// not watch ctx. It may have begun although ctx is done.
	err := run(ctx, s.writer, "BEGIN IMMEDIATE")
	all := context.WithoutCancel(ctx)
	if err == nil {
		err = t.carryOut(all, s.writer, &sqliteDialect)
	}
	if err == nil {
		err = run(all, s.writer, "COMMIT")
	}
	if err == nil {
		return s.checkFile()
	}
	// SQLite may have ended the transaction itself.
	if rollback := run(all, s.writer, "ROLLBACK"); rollback != nil && !strings.Contains(rollback.Error(), "no transaction is active") {
		err = errors.Join(err, rollback)
	}
	return err
}

// checkFile notices that records are written to a file that has lost its
// name, and would be gone with this process.
func (s *sqliteEngine) checkFile() error {
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
