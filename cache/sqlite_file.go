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
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// checkPath finds what SQLite would report badly, or would answer by creating
// a file that nobody meant.
func checkPath(path string, existing bool) error {
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

// prepareFile makes the file a cache, brings one up to date, or finds that it
// is. It uses a connection of its own, so that no later one can create a file.
func prepareFile(ctx context.Context, abs, file string, o options) (err error) {
	db, err := connect(abs, "rwc", o.patience, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	version, err := inspectSQLite(ctx, &sqliteSession{conn: db}, file)
	if err != nil || version == sqliteVersion {
		return err
	}
	if version == 0 {
		if err := setWAL(ctx, db, o.patience); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	if err := migrateSQLite(ctx, &sqliteSession{conn: tx}, file); err != nil {
		return err
	}
	return tx.Commit()
}

// setWAL turns the write-ahead log on. SQLite does not wait for a lock here,
// so this does. Where the file system allows no such log, the rollback journal
// stays, which is as safe and slower.
func setWAL(ctx context.Context, db *sql.DB, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		var failure *sqlite.Error
		if !errors.As(err, &failure) || failure.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
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
func readOnlyMode(ctx context.Context, abs string, o options) (string, error) {
	wal, err := os.Stat(abs + "-wal")
	if err == nil && wal.Size() > 0 {
		return "ro", nil // another process is at work, or was killed
	}
	// A connection that may write cleans the companions away when it closes,
	// and one that may not leaves them behind.
	db, err := connect(abs, "rw", o.patience, 1)
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

// connect returns a pool of at most so many connections. It opens none yet.
func connect(abs, mode string, patience time.Duration, connections int) (*sql.DB, error) {
	path := filepath.ToSlash(abs)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows volume
	}
	// A pragma that may wait for a lock does not stand here, where it would not
	// be given the caller's context.
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?mode=%s&_txlock=immediate&_error_rc=1&_pragma=busy_timeout(%d)&_pragma=trusted_schema(0)",
		&url.URL{Scheme: "file", OmitHost: true, Path: path}, mode, patience.Milliseconds()))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
