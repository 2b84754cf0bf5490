package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// applicationID marks a SQLite file as a cache of this program ("RFRC"),
	// and is the number of the advisory lock under which Postgres tables are
	// made and changed.
	applicationID = 0x52465243
	// sqliteVersion and postgresVersion are the newest schemas that this
	// program knows, and the ones that it writes. A change of keyVersion or of
	// digest changes them too.
	sqliteVersion   = 3
	postgresVersion = 2
)

// An owner is an open store that claims keys: process tells that its process is
// gone (see processGone), and expires (in SQLite milliseconds since 1970) is the
// end of its lease. A claim is live while its owner's lease is. What is read often stands before what may be long.
var (
	sqliteSchema = []string{`
CREATE TABLE records (
	key    BLOB NOT NULL PRIMARY KEY,
	kind   TEXT NOT NULL,
	digest BLOB NOT NULL,
	value  BLOB NOT NULL,
	about  BLOB
) STRICT`, `
CREATE TABLE owners (
	id      INTEGER NOT NULL PRIMARY KEY,
	process TEXT NOT NULL,
	expires INTEGER NOT NULL
) STRICT`, `
CREATE TABLE claims (
	key   BLOB NOT NULL PRIMARY KEY,
	owner INTEGER NOT NULL
) STRICT, WITHOUT ROWID`}

	postgresSchema = []string{`
CREATE TABLE refract_records (
	key    bytea NOT NULL PRIMARY KEY,
	kind   text NOT NULL,
	digest bytea NOT NULL,
	value  bytea NOT NULL,
	about  bytea
)`, `
CREATE TABLE refract_owners (
	id      bigint NOT NULL PRIMARY KEY,
	process text NOT NULL,
	expires timestamptz NOT NULL
)`, `
CREATE TABLE refract_claims (
	key   bytea NOT NULL PRIMARY KEY,
	owner bigint NOT NULL
)`}
)

// dialect is how a database writes bytes in SQL.
type dialect struct {
	number  string // format of 8 bytes, the highest first
	literal string // format of a constant
	bytes   string // type
}

var (
	sqliteDialect   = dialect{number: "unhex(format('%%016x', %s))", literal: "x'%x'", bytes: "BLOB"}
	postgresDialect = dialect{number: "int8send((%s)::bigint)", literal: `'\x%x'::bytea`, bytes: "bytea"}
)

// olderRecords is a query that makes records of the answers of older versions,
// which have a column for each field. Their checksums are still those of the
// records.
func (d dialect) olderRecords(table string) string {
	number := func(expression any) string { return fmt.Sprintf(d.number, fmt.Sprint(expression)) }
	join := func(parts ...string) string {
		return "CAST(" + strings.Join(parts, " || ") + " AS " + d.bytes + ")"
	}
	text := func(column string) string { return number("octet_length("+column+")") + " || " + column }
	optional := func(column, present string) string {
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s || %s END", column, number(0), number(1), present)
	}
	about := join(number(len(keyVersion)), fmt.Sprintf(d.literal, keyVersion),
		text("kind"), text("model"), text("revision"), text("prompt"), text("params"), number("sample"))
	value := join(optional("text", text("text")), text("finish_reason"), text("served_model"),
		number("prompt_tokens"), number("completion_tokens"), optional("created", number("created")))
	return fmt.Sprintf("SELECT key, '%s' AS kind, digest, %s AS value, %s AS about FROM %s", AnswerRecord, value, about, table)
}

// sqliteSource is what records of a version are read from.
func sqliteSource(version int) string {
	if version == sqliteVersion {
		return "records"
	}
	return "(" + sqliteDialect.olderRecords("answers") + ") AS records"
}

func postgresSource(version int) string {
	if version == postgresVersion {
		return "refract_records"
	}
	return "(" + postgresDialect.olderRecords("refract_answers") + ") AS refract_records"
}

// errOlderAtWork says that a process of an older version claims answers, which
// it could not store any more.
func errOlderAtWork(name string) error {
	return fmt.Errorf("cache %s: open: %w of an older version: wait for it to end", name, ErrLocked)
}

// querier is what the functions here need of a *sql.DB or *sql.Tx.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// inspectSQLite returns the version of a cache that this program can use, or 0
// for an empty database, which can become one.
func inspectSQLite(ctx context.Context, db querier, file string) (version int, err error) {
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
	case version > sqliteVersion:
		return 0, &VersionError{File: file, Version: version, Known: sqliteVersion}
	case version < 1:
		return 0, corrupt(file, "reading its header", fmt.Errorf("schema version %d", version))
	default:
		return version, nil
	}
}

// migrateSQLite brings a database from any older version, or from nothing, to
// this one, in one transaction. Another process may be doing the same: whoever
// comes second finds it done.
func migrateSQLite(ctx context.Context, db *sql.DB, file string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // without effect after Commit
	version, err := inspectSQLite(ctx, tx, file)
	if err != nil || version == sqliteVersion {
		return err
	}
	if version == 2 {
		var live int
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM owners WHERE expires > ?", time.Now().UnixMilli()).Scan(&live)
		if err == nil && live > 0 {
			err = errOlderAtWork(file)
		}
		if err != nil {
			return err
		}
	}
	var statements []string
	if version > 0 {
		statements = append(statements, "DROP TABLE IF EXISTS owners", "DROP TABLE IF EXISTS claims")
	}
	statements = append(statements, sqliteSchema...)
	if version > 0 {
		statements = append(statements,
			"INSERT INTO records (key, kind, digest, value, about) "+sqliteDialect.olderRecords("answers")+" ORDER BY rowid",
			"DROP TABLE answers")
	}
	statements = append(statements,
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", sqliteVersion))
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

// postgresQuerier is what inspectPostgres needs of a pool or a transaction.
type postgresQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// inspectPostgres returns the version of the tables, or 0 if there are none.
func inspectPostgres(ctx context.Context, db postgresQuerier, name string) (int, error) {
	var marked, others bool
	// As a query it sees one snapshot, in which to_regclass does not look.
	err := db.QueryRow(ctx, `SELECT count(*) FILTER (WHERE relname = 'refract_cache') > 0, count(*) FILTER (WHERE relname <> 'refract_cache') > 0
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE nspname = ANY (current_schemas(false)) AND relname IN ('refract_cache', 'refract_answers', 'refract_records')`).Scan(&marked, &others)
	switch {
	case err != nil:
		return 0, err
	case !marked && others:
		return 0, fmt.Errorf("cache %s: %w: there are tables named refract_, but none named refract_cache that tells their version; name another database or search_path", name, ErrForeign)
	case !marked:
		return 0, nil
	}
	var version int
	err = db.QueryRow(ctx, `SELECT version FROM refract_cache`).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("cache %s: %w: the table refract_cache is empty and tells no version; name another database or search_path", name, ErrForeign)
	case err != nil:
		return 0, err
	case version > postgresVersion:
		return 0, &VersionError{File: name, Version: version, Known: postgresVersion}
	case version < 1:
		return 0, fmt.Errorf("cache %s: %w: schema version %d; name another database or search_path", name, ErrCorrupt, version)
	}
	return version, nil
}

// migratePostgres does as migrateSQLite does.
func migratePostgres(ctx context.Context, tx pgx.Tx, name string) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(applicationID)); err != nil {
		return err
	}
	version, err := inspectPostgres(ctx, tx, name)
	if err != nil || version == postgresVersion {
		return err
	}
	statements := []string{`CREATE TABLE refract_cache (version integer NOT NULL)`, `INSERT INTO refract_cache (version) VALUES (0)`}
	if version > 0 {
		var live int
		err := tx.QueryRow(ctx, "SELECT count(*) FROM refract_owners WHERE expires > clock_timestamp()").Scan(&live)
		if err == nil && live > 0 {
			err = errOlderAtWork(name)
		}
		if err != nil {
			return err
		}
		statements = []string{"DROP TABLE refract_owners", "DROP TABLE refract_claims"}
	}
	statements = append(statements, postgresSchema...)
	if version > 0 {
		statements = append(statements,
			"INSERT INTO refract_records (key, kind, digest, value, about) "+postgresDialect.olderRecords("refract_answers"),
			"DROP TABLE refract_answers")
	}
	statements = append(statements, fmt.Sprintf("UPDATE refract_cache SET version = %d", postgresVersion))
	for _, statement := range statements {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
