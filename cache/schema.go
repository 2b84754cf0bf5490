package cache

import (
	"context"
	"fmt"
	"strings"
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
// end of its lease. A claim is live while its owner's lease is. What is read
// often stands before what may be long.
var schema = []string{`
CREATE TABLE refract_records (
	key    bytea NOT NULL PRIMARY KEY,
	kind   TEXT NOT NULL,
	digest bytea NOT NULL,
	value  bytea NOT NULL,
	about  bytea
){strict}`, `
CREATE TABLE refract_owners (
	id      bigint NOT NULL PRIMARY KEY,
	process TEXT NOT NULL,
	expires timestamptz NOT NULL
){strict}`, `
CREATE TABLE refract_claims (
	key   bytea NOT NULL PRIMARY KEY,
	owner bigint NOT NULL
){rowless}`}

// olderRecords is a query that makes records of the answers of older versions,
// which have a column for each field. Their checksums are still those of the
// records.
func (d *dialect) olderRecords() string {
	number := func(expression any) string { return fmt.Sprintf(d.number, fmt.Sprint(expression)) }
	join := func(parts ...string) string { return "CAST(" + strings.Join(parts, " || ") + " AS bytea)" }
	text := func(column string) string { return number("octet_length("+column+")") + " || " + column }
	optional := func(column, present string) string {
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s || %s END", column, number(0), number(1), present)
	}
	about := join(number(len(keyVersion)), fmt.Sprintf(d.literal, keyVersion),
		text("kind"), text("model"), text("revision"), text("prompt"), text("params"), number("sample"))
	value := join(optional("text", text("text")), text("finish_reason"), text("served_model"),
		number("prompt_tokens"), number("completion_tokens"), optional("created", number("created")))
	return fmt.Sprintf("SELECT key, '%s' AS kind, digest, %s AS value, %s AS about FROM refract_answers", AnswerRecord, value, about)
}

// source is what records are read from, of the newest version or of an older one.
func (d *dialect) source(newest bool) string {
	if newest {
		return "refract_records"
	}
	return "(" + d.olderRecords() + ") AS refract_records"
}

// run runs statements without arguments.
func run(ctx context.Context, s session, statements ...string) error {
	for _, statement := range statements {
		if err := s.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// migrate brings the tables of any older version, or of none, to the newest
// one, in the transaction that s is.
func (d *dialect) migrate(ctx context.Context, s session, name string, version, newest int) error {
	if version == 0 {
		return run(ctx, s, schema...)
	}
	if version == newest-1 { // the one before has owners too
		var live int
		err := s.query(ctx, "SELECT count(*) FROM refract_owners WHERE expires > {now}", nil, []any{&live}, func() error { return nil })
		if err == nil && live > 0 {
			// It claims answers, which it could not store any more.
			err = fmt.Errorf("cache %s: open: %w of an older version: wait for it to end", name, ErrLocked)
		}
		if err != nil {
			return err
		}
	}
	err := run(ctx, s, "DROP TABLE IF EXISTS refract_owners", "DROP TABLE IF EXISTS refract_claims")
	if err == nil {
		err = run(ctx, s, schema...)
	}
	if err != nil {
		return err
	}
	return run(ctx, s, "INSERT INTO refract_records (key, kind, digest, value, about) "+d.olderRecords()+d.order, "DROP TABLE refract_answers")
}

// inspectSQLite returns the version of a cache that this program can use, or 0
// for an empty database, which can become one.
func inspectSQLite(ctx context.Context, s session, file string) (version int, err error) {
	var id, objects int
	// One statement is one snapshot: another process may be creating it.
	err = s.query(ctx, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`, nil, []any{&id, &version, &objects}, func() error { return nil })
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

// migrateSQLite migrates in the transaction that s is. Another process may have
// been first: then it finds it done.
func migrateSQLite(ctx context.Context, s session, file string) error {
	version, err := inspectSQLite(ctx, s, file)
	if err != nil || version == sqliteVersion {
		return err
	}
	if err := sqliteDialect.migrate(ctx, s, file, version, sqliteVersion); err != nil {
		return err
	}
	return run(ctx, s, fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", sqliteVersion))
}

// inspectPostgres returns the version of the tables, or 0 if there are none.
func inspectPostgres(ctx context.Context, s session, name string) (version int, err error) {
	var marked, others bool
	// As a query it sees one snapshot, in which to_regclass does not look.
	err = s.query(ctx, `SELECT count(*) FILTER (WHERE relname = 'refract_cache') > 0, count(*) FILTER (WHERE relname <> 'refract_cache') > 0
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE nspname = ANY (current_schemas(false)) AND relname IN ('refract_cache', 'refract_answers', 'refract_records')`,
		nil, []any{&marked, &others}, func() error { return nil })
	switch {
	case err != nil:
		return 0, err
	case !marked && others:
		return 0, fmt.Errorf("cache %s: %w: there are tables named refract_, but none named refract_cache that tells their version; name another database or search_path", name, ErrForeign)
	case !marked:
		return 0, nil
	}
	rows := 0
	err = s.query(ctx, `SELECT version FROM refract_cache`, nil, []any{&version}, func() error {
		rows++
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case rows == 0:
		return 0, fmt.Errorf("cache %s: %w: the table refract_cache is empty and tells no version; name another database or search_path", name, ErrForeign)
	case version > postgresVersion:
		return 0, &VersionError{File: name, Version: version, Known: postgresVersion}
	case version < 1:
		return 0, fmt.Errorf("cache %s: %w: schema version %d; name another database or search_path", name, ErrCorrupt, version)
	}
	return version, nil
}

// migratePostgres does as migrateSQLite does.
func migratePostgres(ctx context.Context, s session, name string) error {
	err := run(ctx, s, fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, applicationID))
	var version int
	if err == nil {
		version, err = inspectPostgres(ctx, s, name)
	}
	if err != nil || version == postgresVersion {
		return err
	}
	if version == 0 {
		err = run(ctx, s, `CREATE TABLE refract_cache (version integer NOT NULL)`, `INSERT INTO refract_cache (version) VALUES (0)`)
	}
	if err == nil {
		err = postgresDialect.migrate(ctx, s, name, version, postgresVersion)
	}
	if err != nil {
		return err
	}
	return run(ctx, s, fmt.Sprintf("UPDATE refract_cache SET version = %d", postgresVersion))
}
