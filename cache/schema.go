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
	schemaVersion = 2
)

// migrations[v] brings version v to v+1; version 0 is an empty database. What
// a released version ran does not change.
var migrations = [schemaVersion][]string{
	{answersSchema},
	{ownersSchema, claimsSchema},
}

// answersSchema: text is NULL where the answer is missing, created (in nanoseconds
// since 1970) where it is unknown.
const answersSchema = `
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

// An owner is an open store that claims answers: process tells that its
// process is gone (see processGone), and expires, in milliseconds since 1970,
// is the end of its lease. A claim is live while its owner's lease is.
const (
	ownersSchema = `
CREATE TABLE owners (
	id      INTEGER NOT NULL PRIMARY KEY,
	process TEXT NOT NULL,
	expires INTEGER NOT NULL
) STRICT`
	claimsSchema = `
CREATE TABLE claims (
	key   BLOB NOT NULL PRIMARY KEY,
	owner INTEGER NOT NULL
) STRICT, WITHOUT ROWID`
)

const (
	columns = `kind, model, revision, prompt, params, sample,
	text, finish_reason, served_model, prompt_tokens, completion_tokens, created, digest`
	getSQL = `SELECT ` + columns + ` FROM answers WHERE key = ?`
	allSQL = `SELECT key, ` + columns + ` FROM answers ORDER BY key`
)

// querier is what the functions here need of a *sql.DB, *sql.Conn or *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// inspect returns the version of a cache that this program can use, or 0 for
// an empty database, which can become one.
func inspect(ctx context.Context, db querier, file string) (version int, err error) {
	var id, objects int
	// One statement is one snapshot: another process may be creating it.
	err = db.QueryRowContext(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return 0, err
	case id == 0 && version == 0 && objects == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("cache %s: %w: the SQLite database belongs to something else; name another file", file, ErrForeign)
	case version > schemaVersion:
		return 0, &VersionError{File: file, Version: version, Known: schemaVersion}
	case version < 1:
		return 0, corrupt(file, "reading its header", fmt.Errorf("schema version %d", version))
	default:
		return version, nil
	}
}

// migrate brings a database from any older version, or from nothing, to this
// one, in one transaction. Another process may be doing the same: whoever
// comes second finds it done.
func migrate(ctx context.Context, db *sql.DB, file string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	version, err := inspect(ctx, tx, file)
	if err != nil || version == schemaVersion {
		return err
	}
	var statements []string
	for _, step := range migrations[version:] {
		statements = append(statements, step...)
	}
	statements = append(statements,
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
	for _, statement := range statements {
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
