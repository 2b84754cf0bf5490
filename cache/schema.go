package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// applicationID marks a SQLite file as a cache of this program ("RFRC").
	applicationID = 0x52465243
	// schemaVersion is the newest that this program knows, and the one it
	// writes. A change of keyVersion or of digestVersion changes it too.
	schemaVersion = 1
)

// schema: text is NULL where the answer is missing, created (in nanoseconds
// since 1970) where it is unknown.
const schema = `
CREATE TABLE answers (
	key               BLOB NOT NULL PRIMARY KEY,
	kind              TEXT NOT NULL,
	model             TEXT NOT NULL,
	revision          TEXT NOT NULL,
	prompt            TEXT NOT NULL,
	params            TEXT NOT NULL,
	sample            INTEGER NOT NULL,
	text              TEXT,
	finish_reason     TEXT NOT NULL,
	served_model      TEXT NOT NULL,
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	created           INTEGER,
	digest            BLOB NOT NULL
) STRICT`

const (
	columns = `kind, model, revision, prompt, params, sample,
	text, finish_reason, served_model, prompt_tokens, completion_tokens, created, digest`
	insertSQL = `INSERT INTO answers (key, ` + columns + `)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (key) DO NOTHING`
	getSQL = `SELECT ` + columns + ` FROM answers WHERE key = ?`
	allSQL = `SELECT key, ` + columns + ` FROM answers ORDER BY key`
)

// querier is what the functions here need of a *sql.DB, *sql.Conn or *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// inspect says whether the database is a cache that this program can use, or
// an empty one that can become a cache.
func inspect(ctx context.Context, db querier, file string) (empty bool, err error) {
	var id, version, objects int
	// One statement is one snapshot: another process may be creating it.
	err = db.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return false, err
	case id == 0 && version == 0 && objects == 0:
		return true, nil
	case id != applicationID:
		return false, fmt.Errorf("cache %s: %w: the SQLite database belongs to something else; name another file", file, ErrForeign)
	case version > schemaVersion:
		return false, &VersionError{File: file, Version: version, Known: schemaVersion}
	case version < 1:
		return false, corrupt(file, "reading its header", fmt.Errorf("schema version %d", version))
	default:
		return false, nil
	}
}

// create makes a cache of an empty database. Another process may be doing
// the same: whoever comes second finds it done.
func create(ctx context.Context, db *sql.DB, file string, patience time.Duration) error {
	if err := setWAL(ctx, db, patience); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	empty, err := inspect(ctx, tx, file)
	if err != nil || !empty {
		return err
	}
	for _, statement := range []string{
		schema,
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
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
