package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteFile is the engine of a SQLite file.
//
// Killing the process, at any moment and in any way, loses no committed record. The log is
// not flushed to the disk at each commit, so a loss of power or a crash of the operating
// system can lose the last records, but does not damage the file. While the file is in
// use, it has companions named -wal and -shm.
type sqliteFile struct {
	*Database
	abs      string
	info     fs.FileInfo // identifies the opened file
	patience time.Duration
}

// openSQLite opens the cache in a file. It creates a missing file, but not its folder. The
// error wraps [errVersion] for a file of another version, [errForeign] for another
// program's database, [ErrCorrupt] for a file that is damaged or not a database,
// [errLocked], [errReadOnly], [errFull], or [fs.ErrNotExist] for a missing folder (with
// [ReadOnly], a missing file).
//
// A loss of power, but not a killed process, may lose the last records. The file should not
// be on a network file system. No other code of the process may open and close it while it
// is in use: on Unix that drops SQLite's locks.
func openSQLite(ctx context.Context, path string, opts ...Option) (*Database, error) {
	if err := CheckName(path); err != nil {
		return nil, err
	}
	o := newOptions(opts)
	d := &Database{name: path}
	s := &sqliteFile{Database: d, patience: o.patience}
	d.engine = s
	if err := s.open(ctx, o); err != nil {
		_ = d.disconnect() // err is the reason
		return nil, d.explain(ctx, "open", err)
	}
	d.start(o)
	return d, nil
}

func (s *sqliteFile) open(ctx context.Context, o options) (err error) {
	if err := checkPath(s.name, o.readOnly); err != nil {
		return err
	}
	if s.abs, err = filepath.Abs(s.name); err != nil {
		return err
	}
	mode := "rw"
	if o.readOnly {
		mode, err = s.readOnlyMode(ctx)
	} else {
		err = s.prepare(ctx)
	}
	if err != nil {
		return err
	}
	if s.info, err = os.Stat(s.abs); err != nil {
		return err
	}
	if s.readers, err = s.connect(mode+"&_pragma=query_only(1)", max(4, runtime.GOMAXPROCS(0))); err != nil {
		return err
	}
	made, err := s.inspectSQLite(ctx, s.readers)
	if err == nil && !made {
		err = fmt.Errorf("cache %s: %w: the database is empty", s.name, errForeign)
	}
	if err == nil {
		// Find a missing column now, and not in the middle of the work.
		err = s.run(ctx, s.readers, "SELECT key, kind, digest, value, about FROM refract_records LIMIT 0")
	}
	if err != nil || o.readOnly {
		return err
	}
	// The log is checkpointed at 2 MB: not later, so that it fits on a small disk, and not
	// earlier, because records with random keys change the same index pages again.
	mode = "rw&_pragma=synchronous(NORMAL)&_pragma=wal_autocheckpoint(500)&_pragma=cache_size(-16000)"
	if o.maxPages > 0 {
		mode += fmt.Sprintf("&_pragma=max_page_count(%d)", o.maxPages)
	}
	if s.writers, err = s.connect(mode, 1); err != nil {
		return err
	}
	// SQLite may silently have opened the file read-only.
	tx, err := s.writers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // this only tests whether writing is possible
	return s.run(ctx, tx, fmt.Sprintf("PRAGMA user_version = %d", sqliteVersion))
}

// checkPath returns an error for paths that SQLite would report badly, or for which it
// would create a file by mistake.
func checkPath(path string, existing bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder: name a file")
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is not a regular file: name another one")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case existing:
		return fmt.Errorf("%w: check the path", err)
	case os.IsPathSeparator(path[len(path)-1]):
		return fmt.Errorf("the folder does not exist, and a cache is a file: check the path: %w", fs.ErrNotExist)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("its folder: %w: check the path, or create the folder", err)
	}
	return nil
}

// prepare checks that the file is a cache, or makes it one. It uses a separate connection, so
// that later connections cannot create a file.
func (s *sqliteFile) prepare(ctx context.Context) (err error) {
	// SQLite would make the file readable to all, and its companions like the file. Answers
	// may be private.
	if f, err := os.OpenFile(s.abs, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
		if err := f.Close(); err != nil {
			return err
		}
	} // else it exists, or SQLite says what is wrong
	db, err := s.connect("rwc", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	made, err := s.inspectSQLite(ctx, db)
	if err != nil || made {
		return err
	}
	if err := s.setWAL(ctx, db); err != nil {
		return err
	}
	if err := s.run(ctx, db, "PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	return transact(ctx, db, s.makeSQLite)
}

// setWAL turns on the write-ahead log. SQLite does not wait for a lock here, so setWAL does.
// If the file system allows no such log, the rollback journal stays, which is as safe but
// slower.
func (s *sqliteFile) setWAL(ctx context.Context, db *sql.DB) error {
	for deadline := time.Now().Add(s.patience); ; {
		err := s.run(ctx, db, "PRAGMA journal_mode = WAL")
		if failure, ok := errors.AsType[*sqlite.Error](err); !ok || failure.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// readOnlyMode returns the mode in which to read an existing file.
func (s *sqliteFile) readOnlyMode(ctx context.Context) (string, error) {
	wal, err := os.Stat(s.abs + "-wal")
	if err == nil && wal.Size() > 0 {
		return "ro", nil // another process is at work, or was killed
	}
	// A writable connection removes the companion files when it closes; a read-only one
	// leaves them.
	db, err := s.connect("rw", 1)
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = s.run(ctx, db, "SELECT count(*) FROM sqlite_schema")
	if errors.Is(s.explain(ctx, "open", err), errReadOnly) {
		// The companion files cannot be created. The file is complete without a log, but
		// SQLite reads it only if told that nobody changes it.
		return "ro&immutable=1", nil
	}
	return "rw", err
}

// connect returns a pool with at most this number of connections. It opens none yet.
func (s *sqliteFile) connect(mode string, connections int) (*sql.DB, error) {
	path := filepath.ToSlash(s.abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows volume
	}
	// Pragmas that may wait for a lock are not set here, because they would not get the
	// caller's context.
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?mode=%s&_txlock=immediate&_error_rc=1&_pragma=busy_timeout(%d)&_pragma=trusted_schema(0)",
		&url.URL{Scheme: "file", OmitHost: true, Path: path}, mode, s.patience.Milliseconds()))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

func (s *sqliteFile) text(statement string) string {
	return numbered.ReplaceAllLiteralString(sqliteWords.Replace(statement), "?")
}

// numbered are parameters. They come in the order of their numbers, which SQLite counts
// itself: it would look for each that has one in a list of all.
var numbered = regexp.MustCompile(`\$[0-9]+`)

var sqliteWords = strings.NewReplacer("refract_", "", "bytea", "BLOB", "bigint", "INTEGER", "timestamptz", "INTEGER",
	"{strict}", " STRICT", "{rowless}", " STRICT, WITHOUT ROWID",
	"{later}", "CAST((unixepoch('subsec') + ?) * 1000 AS INTEGER)")

func (s *sqliteFile) try(ctx context.Context, f func(context.Context) error) error { return f(ctx) }
func (s *sqliteFile) lock(bool) string                                             { return "" }

// committed returns an error if the file was removed or replaced: its records would be lost
// when this process ends.
func (s *sqliteFile) committed() error {
	info, err := os.Stat(s.abs)
	switch {
	case err != nil:
		return fmt.Errorf("cache %s: %w: answers cannot be kept; run again: %w", s.name, errReplaced, err)
	case !os.SameFile(s.info, info):
		return fmt.Errorf("cache %s: %w: answers cannot be kept; run again", s.name, errReplaced)
	}
	return nil
}

// check returns the faults in the structure of the file.
func (s *sqliteFile) check(ctx context.Context) (problems []string, err error) {
	var what string
	err = s.query(ctx, "PRAGMA integrity_check", nil, []any{&what}, func() error {
		if what != "ok" {
			problems = append(problems, "SQLite: "+what)
		}
		return nil
	})
	return problems, err
}
