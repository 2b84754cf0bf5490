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
	"sync"
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
	writer  *sql.DB // nil if read-only
	insert  *sql.Stmt

	mu       sync.Mutex
	closed   bool
	inFlight sync.WaitGroup // Puts
	queue    chan *write
	drained  chan struct{} // closed when the writer has ended
}

var (
	_ Store  = (*SQLite)(nil)
	_ Lister = (*SQLite)(nil)
)

// Option changes how OpenSQLite opens a file.
type Option func(*options)

type options struct {
	readOnly bool
	patience time.Duration
	maxPages int // for tests of a full disk; 0 sets no limit
}

// ReadOnly opens an existing file, be it writable or not, to read it: Put
// fails with [ErrReadOnly].
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// BusyTimeout is how long to wait for another process that holds the file
// locked, before failing with [ErrLocked]. It is 10 seconds by default.
func BusyTimeout(d time.Duration) Option { return func(o *options) { o.patience = d } }

// OpenSQLite opens the cache in a file, which is created if it does not exist
// and its folder does. The error is a [*VersionError] for a file of a newer
// version, or wraps [ErrForeign] for another program's database, [ErrCorrupt]
// for a damaged file or one that is no database, [ErrLocked], [ErrReadOnly],
// [ErrFull], or [fs.ErrNotExist] for a missing folder (with [ReadOnly], a
// missing file).
func OpenSQLite(ctx context.Context, path string, opts ...Option) (*SQLite, error) {
	o := options{patience: 10 * time.Second}
	for _, opt := range opts {
		opt(&o)
	}
	s := &SQLite{file: path}
	if err := s.open(ctx, o); err != nil {
		s.closePools()
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
	if s.readers, err = pool(s.abs, mode, o.patience, "PRAGMA query_only = 1"); err != nil {
		return err
	}
	connections := max(4, runtime.GOMAXPROCS(0))
	s.readers.SetMaxOpenConns(connections)
	s.readers.SetMaxIdleConns(connections)
	empty, err := inspect(ctx, s.readers, s.file)
	if err != nil {
		return err
	}
	if empty {
		return fmt.Errorf("cache %s: %w: the database is empty", s.file, ErrForeign)
	}
	if s.get, err = s.readers.PrepareContext(ctx, getSQL); err != nil {
		return s.schemaError(ctx, err)
	}
	if o.readOnly {
		return nil
	}

	pragmas := []string{"PRAGMA synchronous = NORMAL"}
	if o.maxPages > 0 {
		pragmas = append(pragmas, fmt.Sprintf("PRAGMA max_page_count = %d", o.maxPages))
	}
	if s.writer, err = pool(s.abs, "rw", o.patience, pragmas...); err != nil {
		return err
	}
	s.writer.SetMaxOpenConns(1)
	if err := checkWritable(ctx, s.writer, s.file); err != nil {
		return err
	}
	if s.insert, err = s.writer.PrepareContext(ctx, insertSQL); err != nil {
		return s.schemaError(ctx, err)
	}
	s.queue = make(chan *write)
	s.drained = make(chan struct{})
	go s.writeLoop()
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
func checkWritable(ctx context.Context, db *sql.DB, file string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
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
	})
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

// prepareFile makes the file a cache, or finds that it is one. It uses a
// connection of its own, so that no later one can create a file.
func prepareFile(ctx context.Context, abs, file string, o options) (err error) {
	db, err := pool(abs, "rwc", o.patience, "PRAGMA synchronous = NORMAL")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	empty, err := inspect(ctx, db, file)
	if err != nil || !empty {
		return err
	}
	return create(ctx, db, file, o.patience)
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
	return sql.OpenDB(connector{c, pragmas}), nil
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
// committed. Closing twice is no error.
func (s *SQLite) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.inFlight.Wait()
	if s.queue != nil {
		close(s.queue)
		<-s.drained
	}
	return fileError(context.Background(), s.file, "close", s.closePools())
}

// closePools closes the writer last: the last connection empties the log.
func (s *SQLite) closePools() error {
	var errs []error
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// use fails after Close.
func (s *SQLite) use() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("cache %s: %w", s.file, ErrClosed)
	}
	return nil
}
