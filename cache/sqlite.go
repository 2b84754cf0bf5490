package cache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// SQLite is a Store in a file, used at once by any number of goroutines and
// processes of one machine.
//
// An answer is committed before Put returns: killing the process, at any
// moment and in any way, loses none. The log is not flushed to the disk at
// each commit, so a loss of power or a crash of the operating system can take
// the last answers with it; the file stays sound, and what was lost is asked
// for again. The file has companions named -wal and -shm while it is in use.
// It does not belong on a network file system.
//
// No other code of the process may open and close the file while it is in
// use: on Unix that drops SQLite's locks.
type SQLite struct {
	file string // as the caller named it, for messages
	abs  string
	info fs.FileInfo // of the file that was opened

	readers *sql.DB
	get     *sql.Stmt
	many    *manyPool
	writer  *sqliteWriter // nil if read-only
	claims  *claims
	group   *group // carries out what is to be written

	patience time.Duration
	known    knownParams

	gate gate // reads of many are inside
}

// OpenSQLite opens the cache in a file, which is created if it does not exist
// and its folder does. A file of an older version is brought up to date, unless
// it is opened for reading only. The error is a [*VersionError] for a file of a newer
// version, or wraps [ErrForeign] for another program's database, [ErrCorrupt]
// for a damaged file or one that is no database, [ErrLocked], [ErrReadOnly],
// [ErrFull], or [fs.ErrNotExist] for a missing folder (with [ReadOnly], a
// missing file).
func OpenSQLite(ctx context.Context, path string, opts ...Option) (*SQLite, error) {
	o := newOptions(opts)
	s := &SQLite{file: path, patience: o.patience}
	if err := s.open(ctx, o); err != nil {
		s.closeConnections()
		return nil, fileError(ctx, path, "open", err)
	}
	return s, nil
}

// File returns the path given to OpenSQLite.
func (s *SQLite) File() string { return s.file }

func (s *SQLite) open(ctx context.Context, o options) error {
	if err := checkPath(s.file, o.readOnly); err != nil {
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
	reading, err := connect(s.abs, mode, o.patience, "PRAGMA query_only = 1")
	if err != nil {
		return err
	}
	s.readers = sql.OpenDB(reading)
	s.many = newManyPool(reading, runtime.GOMAXPROCS(0))
	connections := max(4, runtime.GOMAXPROCS(0))
	s.readers.SetMaxOpenConns(connections)
	s.readers.SetMaxIdleConns(connections)
	version, err := inspect(ctx, s.readers, s.file)
	if err != nil {
		return err
	}
	if version == 0 {
		return fmt.Errorf("cache %s: %w: the database is empty", s.file, ErrForeign)
	}
	if s.get, err = s.readers.PrepareContext(ctx, getSQL); err != nil {
		return s.schemaError(ctx, err)
	}
	if o.readOnly {
		return nil
	}

	if s.writer, err = newSQLiteWriter(ctx, s, o); err != nil {
		return s.schemaError(ctx, err)
	}
	s.claims = s.writer.claims
	s.group = newGroup(s.writer.commit, func(err error) bool { return errors.Is(err, ErrLocked) || errors.Is(err, ErrReplaced) })
	s.claims.group = s.group
	return nil
}

// schemaError tells a database that lacks our table or columns from one that
// could not be read.
func (s *SQLite) schemaError(ctx context.Context, err error) error {
	err = fileError(ctx, s.file, "open", err)
	if strings.Contains(err.Error(), "no such") || strings.Contains(err.Error(), "has no column") {
		return corrupt(s.file, "open", err)
	}
	return err
}

// checkWritable notices that SQLite has opened the file for reading only, as
// it does without a word where the file's mode asks for it.
func checkWritable(c driver.Conn, file string) error {
	asked, ok := c.(interface {
		IsReadOnly(schema string) (bool, error)
	})
	if !ok {
		return errors.New("the SQLite driver does not tell whether a file is writable")
	}
	readOnly, err := asked.IsReadOnly("main")
	if err != nil {
		return err
	}
	if readOnly {
		return notWritable(file, "open", fs.ErrPermission)
	}
	return nil
}

// checkPath finds what SQLite would report badly, or would answer by creating
// a file that nobody meant.
func checkPath(path string, readOnly bool) error {
	if path == "" {
		return errors.New("no file is named")
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder: name a file")
	case err == nil && !info.Mode().IsRegular():
		return errors.New("it is no regular file: name another one")
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case readOnly:
		return fmt.Errorf("%w: check the path", err)
	case os.IsPathSeparator(path[len(path)-1]):
		return fmt.Errorf("the folder does not exist, and a cache is a file: check the path: %w", fs.ErrNotExist)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("its folder: %w: check the path, or create the folder", err)
	}
	return nil
}

// prepareFile makes the file a cache, brings one up to date, or finds that it
// is. It uses a connection of its own, so that no later one can create a file.
func prepareFile(ctx context.Context, abs, file string, o options) (err error) {
	db, err := pool(abs, "rwc", o.patience, "PRAGMA synchronous = NORMAL")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	version, err := inspect(ctx, db, file)
	if err != nil || version == schemaVersion {
		return err
	}
	if version == 0 {
		if err := setWAL(ctx, db, o.patience); err != nil {
			return err
		}
	}
	return migrate(ctx, db, file)
}

// readOnlyMode returns the mode in which to read an existing file.
func readOnlyMode(ctx context.Context, abs string, o options) (string, error) {
	wal, err := os.Stat(abs + "-wal")
	if err == nil && wal.Size() > 0 {
		return "ro", nil // another process is at work, or was killed
	}
	// A connection that may write cleans the companions away when it closes,
	// and one that may not leaves them behind.
	db, err := pool(abs, "rw", o.patience)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var n int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
	if errors.Is(fileError(ctx, abs, "open", err), ErrReadOnly) {
		// The companions cannot be created. Without a log nothing is amiss,
		// but SQLite reads the file only if told that nobody changes it.
		return "ro&immutable=1", nil
	}
	return "rw", err
}

// pool returns a pool of connections on which the pragmas were run. It opens
// none yet.
func pool(abs, mode string, patience time.Duration, pragmas ...string) (*sql.DB, error) {
	c, err := connect(abs, mode, patience, pragmas...)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// connect returns what opens connections on which the pragmas were run.
func connect(abs, mode string, patience time.Duration, pragmas ...string) (driver.Connector, error) {
	path := filepath.ToSlash(abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows volume
	}
	name := fmt.Sprintf("%s?mode=%s&_txlock=immediate&_error_rc=1&_pragma=busy_timeout(%d)&_pragma=trusted_schema(0)",
		&url.URL{Scheme: "file", OmitHost: true, Path: path}, mode, patience.Milliseconds())
	c, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, err
	}
	return connector{c, pragmas}, nil
}

// connector runs pragmas that may wait for a lock with the caller's context,
// which those in the name of the database are not given.
type connector struct {
	driver.Connector
	pragmas []string
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver cannot run a pragma"), conn.Close())
	}
	for _, p := range c.pragmas {
		if _, err := execer.ExecContext(ctx, p, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// Close ends the use of the file, once the answers that are being stored are
// committed, and gives up all claims. Closing twice is no error.
func (s *SQLite) Close() error {
	if !s.gate.shut() {
		return nil
	}
	var err error
	if s.group != nil {
		s.claims.end()
		s.group.close()
		err = s.writer.forget()
	}
	return fileError(context.Background(), s.file, "close", errors.Join(err, s.closeConnections()))
}

// closeConnections closes the writer last: the last connection empties the
// log.
func (s *SQLite) closeConnections() error {
	var errs []error
	if s.many != nil {
		errs = append(errs, s.many.close())
	}
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	return errors.Join(errs...)
}

// use fails after Close.
func (s *SQLite) use() error {
	if err := s.gate.open(); err != nil {
		return fmt.Errorf("cache %s: %w", s.file, err)
	}
	return nil
}

// enter is use for what Close waits for, until leave is called.
func (s *SQLite) enter() (leave func(), err error) {
	if leave, err = s.gate.enter(); err != nil {
		return nil, fmt.Errorf("cache %s: %w", s.file, err)
	}
	return leave, nil
}
