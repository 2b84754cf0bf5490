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

	"github.com/refract-eval/refract/internal/redact"
)

// Errors of a store, for errors.Is. The messages that wrap them name the file or the
// database, and say what to do.
const (
	errFull     = storeError("disk full")
	errLocked   = storeError("locked by another process")
	ErrCorrupt  = storeError("damaged")
	errForeign  = storeError("not a cache of this program")
	errVersion  = storeError("of another version of the program")
	errReadOnly = storeError("not writable")
	errReplaced = storeError("removed or replaced while in use")
	errClosed   = storeError("closed")
)

// errUnavailable needs advice, which the others have where they are returned.
var errUnavailable = errors.New("the database cannot be reached")

type storeError string

func (e storeError) Error() string { return string(e) }

// failure is a message without secrets. Its causes are for errors.Is and errors.As.
type failure struct {
	message string
	causes  []error
}

func (f *failure) Error() string    { return f.message }
func (f *failure) GoString() string { return f.message }
func (f *failure) Unwrap() []error  { return f.causes }

// explain adds to the error of an operation what it means and what to do. If ctx is done,
// that is the cause. It returns errors that were explained before unchanged.
func (d *Database) explain(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("cache %s: %s: %w", d.name, op, ctx.Err())
	case errors.As(err, new(*failure)), errors.As(err, new(storeError)):
		return err
	}
	advice, kind := d.classify(op, err)
	causes, what := []error{err}, op
	if kind != nil {
		causes, what = append(causes, kind), kind.Error()
	}
	if advice != "" {
		what += ": " + advice
	}
	message := strings.TrimPrefix(redact.Values(d.secrets)(err.Error()), errUnavailable.Error()+": ")
	if what == "open" {
		return &failure{fmt.Sprintf("cache %s: %s", d.name, message), causes}
	}
	return &failure{fmt.Sprintf("cache %s: %s (%s)", d.name, what, message), causes}
}

const unwritable = "the file, its -wal and -shm files and its folder must be writable"

// classify implements engine.
func (s *sqliteFile) classify(op string, err error) (advice string, kind error) {
	const full = "nothing stored before is lost; free some space, then run again"
	away := fmt.Sprintf("move it away (with %[1]s-wal and %[1]s-shm, if present)", filepath.Base(s.name))
	damaged := salvage(s.name)
	if op == "open" {
		damaged = fmt.Sprintf("see `refract cache verify %s`, or %s", s.name, away)
	}
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		if strings.Contains(err.Error(), "sql: Scan error") { // a value that we never write
			return damaged, ErrCorrupt
		}
		return "", nil
	}
	switch code := failure.Code(); {
	case code == sqlite3.SQLITE_IOERR_SHORT_READ:
		return damaged, ErrCorrupt
	case code == sqlite3.SQLITE_IOERR_SHMSIZE: // the shared-memory file could not grow
		return full, errFull
	case code == sqlite3.SQLITE_ERROR && op == "open" && strings.Contains(err.Error(), "no such"): // table or column
		return damaged, ErrCorrupt
	}
	switch failure.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_FULL:
		return full, errFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return "wait for it to end, or name another file", errLocked
	case sqlite3.SQLITE_CORRUPT:
		return damaged, ErrCorrupt
	case sqlite3.SQLITE_NOTADB:
		return away + ", or name another file", fmt.Errorf("no SQLite database, or %w", ErrCorrupt)
	case sqlite3.SQLITE_CANTOPEN:
		if _, gone := os.Stat(s.name); errors.Is(gone, fs.ErrNotExist) {
			return "cannot create a file in " + filepath.Dir(s.abs) + ": make the folder writable, or name another file", errReadOnly
		}
		fallthrough
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return unwritable, errReadOnly
	case sqlite3.SQLITE_IOERR:
		return "the disk failed, is full, or is a network file system without locks; what was stored before is kept", nil
	}
	return "", nil
}
