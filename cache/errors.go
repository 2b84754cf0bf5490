package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors of a store, for errors.Is. The message around them names the file or
// the database, and what to do.
var (
	ErrFull     = errors.New("disk full")
	ErrLocked   = errors.New("locked by another process")
	ErrCorrupt  = errors.New("damaged")
	ErrForeign  = errors.New("not a cache of this program")
	ErrReadOnly = errors.New("not writable")
	ErrReplaced = errors.New("removed or replaced while in use")
	ErrClosed   = errors.New("closed")

	ErrUnavailable = errors.New("the database cannot be reached")
)

// VersionError says that a cache was written by a newer version of the program.
type VersionError struct {
	File    string // or the database, without the password
	Version int    // of its schema
	Known   int    // the newest that this program knows
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("cache %s has schema version %d, and this program knows %d: upgrade the program, or name another cache",
		e.File, e.Version, e.Known)
}

// explained is what there is to say of a failure without a look at the engine's own
// errors: nothing if there is none, that ctx is done, or what was said of it before.
func explained(ctx context.Context, name, op string, err error) (said error, done bool) {
	if err == nil {
		return nil, true
	}
	if ctx.Err() != nil {
		return fmt.Errorf("cache %s: %s: %w", name, op, ctx.Err()), true
	}
	var version *VersionError
	if errors.As(err, &version) {
		return err, true
	}
	for _, kind := range []error{ErrFull, ErrLocked, ErrCorrupt, ErrForeign, ErrReadOnly, ErrReplaced, ErrClosed} {
		if errors.Is(err, kind) {
			return err, true
		}
	}
	return nil, false
}

// fileError says what a failed operation on a cache file means and what to do
// about it. Once ctx is done, that is the cause.
func fileError(ctx context.Context, file, op string, err error) error {
	if said, done := explained(ctx, file, op, err); done {
		return said
	}
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		if strings.Contains(err.Error(), "sql: Scan error") { // a value that no row of ours has
			return corrupt(file, op, err)
		}
		return fmt.Errorf("cache %s: %s: %w", file, op, err)
	}
	switch failure.Code() {
	case sqlite3.SQLITE_IOERR_SHORT_READ:
		return corrupt(file, op, err)
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the shared-memory file could not grow
		return full(file, op, err)
	}
	switch failure.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_FULL:
		return full(file, op, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("cache %s: %s: %w: wait for it to end, or name another file: %w", file, op, ErrLocked, err)
	case sqlite3.SQLITE_CORRUPT:
		return corrupt(file, op, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("cache %s: %s: %w, or no SQLite database at all: move it away (with %[4]s-wal and %[4]s-shm, if present), or name another file: %[5]w",
			file, op, ErrCorrupt, filepath.Base(file), err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return notWritable(file, op, err)
	case sqlite3.SQLITE_CANTOPEN:
		return cannotOpen(file, op, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("cache %s: %s: the disk failed, is full, or is a network file system without locks; what was stored before is kept: %w", file, op, err)
	default:
		return fmt.Errorf("cache %s: %s: %w", file, op, err)
	}
}

func full(file, op string, err error) error {
	return fmt.Errorf("cache %s: %s: %w; nothing stored before is lost: free some space, then run again: %w", file, op, ErrFull, err)
}

func corrupt(file, op string, err error) error {
	if op != "open" { // what opens can be read in part
		return fmt.Errorf("cache %s: %s: %w: see `refract cache verify %[1]s`; `refract cache export %[1]s -o sound.jsonl` saves what is sound, and `refract cache import NEW sound.jsonl` makes a new cache of it: %[4]w",
			file, op, ErrCorrupt, err)
	}
	return fmt.Errorf("cache %s: %s: %w: see `refract cache verify %[1]s`, or move it away (with %[4]s-wal and %[4]s-shm, if present): %[5]w",
		file, op, ErrCorrupt, filepath.Base(file), err)
}

func notWritable(file, op string, err error) error {
	return fmt.Errorf("cache %s: %s: %w: the file, its -wal and -shm files and its folder must be writable: %w", file, op, ErrReadOnly, err)
}

// cannotOpen looks at the file system for what SQLite does not tell.
func cannotOpen(file, op string, err error) error {
	_, statErr := os.Stat(file)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return fmt.Errorf("cache %s: %s: %w: cannot create a file in %s: %w", file, op, ErrReadOnly, filepath.Dir(file), err)
	case statErr != nil:
		return fmt.Errorf("cache %s: %s: %w: %w", file, op, statErr, err)
	default:
		return notWritable(file, op, err)
	}
}
