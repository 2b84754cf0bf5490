package cache

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"time"
)

// Prune says which entries to delete: those of which all that is set holds.
type Prune struct {
	// Before selects answers that arrived before this time. One whose time
	// is unknown is not selected.
	Before time.Time
	// Model selects answers that this model was asked for; "" any.
	Model string
	// Missing selects answers that are withheld or cut: without a text, or
	// with "length" as the reason of their end.
	Missing bool

	// DryRun only counts.
	DryRun bool
}

// Pruned is what Prune did, or would do.
type Pruned struct {
	Entries int64 `json:"entries"` // before
	Pruned  int64 `json:"pruned"`
	// Bytes of the store before and after; equal after a dry run.
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
}

// condition returns the condition as SQL with ? for its arguments.
func (p Prune) condition() (where string, args []any, err error) {
	var all []string
	if !p.Before.IsZero() {
		all, args = append(all, "created < ?"), append(args, p.Before.UnixNano())
	}
	if p.Model != "" {
		all, args = append(all, "model = ?"), append(args, p.Model)
	}
	if p.Missing {
		all, args = append(all, "(text IS NULL OR finish_reason = ?)"), append(args, "length")
	}
	if len(all) == 0 {
		return "", nil, errors.New("cache: prune: nothing says which entries: name an age, a model, or those that are missing")
	}
	return strings.Join(all, " AND "), args, nil
}

// Prune deletes entries and then makes the file smaller, for which it needs as
// much space again for a while. If that fails, the entries are deleted
// nevertheless, and the error says so.
func (s *SQLite) Prune(ctx context.Context, p Prune) (Pruned, error) {
	where, args, err := p.condition()
	if err != nil {
		return Pruned{}, err
	}
	leave, err := s.enter()
	if err != nil {
		return Pruned{}, err
	}
	defer leave()
	if s.writer == nil && !p.DryRun {
		return Pruned{}, notWritable(s.file, "prune", errors.New("it was opened to be read only"))
	}
	done, err := s.prune(ctx, p, where, args)
	return done, fileError(ctx, s.file, "prune", err)
}

func (s *SQLite) prune(ctx context.Context, p Prune, where string, args []any) (Pruned, error) {
	var done Pruned
	var err error
	if done.BytesBefore, err = s.bytes(); err != nil {
		return Pruned{}, err
	}
	done.BytesAfter = done.BytesBefore
	if p.DryRun {
		err := s.readers.QueryRowContext(ctx, "SELECT count(*), count(CASE WHEN "+where+" THEN 1 END) FROM answers", args...).
			Scan(&done.Entries, &done.Pruned)
		return done, err
	}
	// A connection of its own leaves the writer free for others meanwhile.
	db, err := pool(s.abs, "rw", s.patience, "PRAGMA synchronous = NORMAL")
	if err != nil {
		return Pruned{}, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if done.Entries, done.Pruned, err = remove(ctx, db, where, args); err != nil {
		return Pruned{}, err
	}
	if err := s.shrink(ctx, db); err != nil {
		return done, err
	}
	done.BytesAfter, err = s.bytes()
	return done, err
}

// remove deletes in one transaction, so that a failure deletes nothing.
func remove(ctx context.Context, db *sql.DB, where string, args []any) (before, removed int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	defer tx.Rollback() // without effect after Commit
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM answers").Scan(&before); err != nil {
		return 0, 0, err
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM answers WHERE "+where, args...)
	if err != nil {
		return 0, 0, err
	}
	if removed, err = result.RowsAffected(); err != nil {
		return 0, 0, err
	}
	return before, removed, tx.Commit()
}

// shrink gives the space of deleted entries back to the file system.
func (s *SQLite) shrink(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
		return &shrinkError{err}
	}
	// The log holds the whole file now. Where others read, it is emptied
	// later.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return &shrinkError{err}
	}
	return nil
}

// shrinkError says that the entries are gone and the file is as large as
// before.
type shrinkError struct{ err error }

func (e *shrinkError) Error() string {
	return "the entries are deleted, but the file could not be made smaller: " + e.err.Error()
}

func (e *shrinkError) Unwrap() error { return e.err }

// bytes is the size of the file and its log.
func (s *SQLite) bytes() (int64, error) {
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
