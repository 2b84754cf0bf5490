package cache

import (
	"context"
	"database/sql"
	"fmt"
)

const (
	// applicationID marks a SQLite file as a cache of this program ("RFRC"), and is the
	// number of the advisory lock under which Postgres tables are created.
	applicationID = 0x52465243
	// sqliteVersion and postgresVersion are the versions of the schemas that this program
	// reads and writes. They must change if keyVersion or digest changes.
	sqliteVersion   = 3
	postgresVersion = 2
)

// An owner is an open store that claims keys. process names its process, and expires (in SQLite
// milliseconds since 1970) changes with every renewal of its lease. A claim is live as long as its
// owner's lease. Columns that are read often come before those that may be long.
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

// checkVersion returns an error if the schema version of a cache is not the known one.
func checkVersion(name string, version, known int) error {
	switch {
	case version < 1:
		return fmt.Errorf("cache %s: open: %w: it has the schema version %d; name another cache", name, ErrCorrupt, version)
	case version != known:
		advice := "upgrade the program"
		if version < known {
			advice = "export it with the program that wrote it, and import that"
		}
		return fmt.Errorf("cache %s: %w: it has schema version %d, and this program knows %d: %s, or name another cache", name, errVersion, version, known, advice)
	}
	return nil
}

// inspectSQLite reports whether a file is a cache that this program can use. For an empty
// database, which can become a cache, it returns false without an error.
func (d *Database) inspectSQLite(ctx context.Context, in queryer) (made bool, err error) {
	var id, version, objects int
	// One statement reads one snapshot, in case another process is creating the cache.
	err = d.each(ctx, in, `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id AS a, pragma_user_version AS v`, nil, []any{&id, &version, &objects}, func() error { return nil })
	switch {
	case err != nil:
		return false, err
	case id == 0 && version == 0 && objects == 0:
		return false, nil
	case id != applicationID:
		return false, fmt.Errorf("cache %s: %w: the SQLite database belongs to something else; name another file", d.name, errForeign)
	}
	return true, checkVersion(d.name, version, sqliteVersion)
}

// makeSQLite creates the tables in a transaction, unless another process was first.
func (d *Database) makeSQLite(ctx context.Context, tx *sql.Tx) error {
	made, err := d.inspectSQLite(ctx, tx)
	if err != nil || made {
		return err
	}
	return d.run(ctx, tx, append(schema, fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", sqliteVersion))...)
}

// inspectPostgres reports whether there are tables of a cache that this program can use.
func (d *Database) inspectPostgres(ctx context.Context, in queryer) (made bool, err error) {
	var marked, others bool
	// A query reads one snapshot; to_regclass would not.
	err = d.each(ctx, in, `SELECT count(*) FILTER (WHERE relname = 'refract_cache') > 0, count(*) FILTER (WHERE relname <> 'refract_cache') > 0
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE nspname = ANY (current_schemas(false)) AND relname IN ('refract_cache', 'refract_answers', 'refract_records')`,
		nil, []any{&marked, &others}, func() error { return nil })
	switch {
	case err != nil:
		return false, err
	case !marked && others:
		return false, fmt.Errorf("cache %s: %w: there are tables named refract_, but none named refract_cache that tells their version; name another database or search_path", d.name, errForeign)
	case !marked:
		return false, nil
	}
	var version, rows int
	if err := d.each(ctx, in, `SELECT version FROM refract_cache`, nil, []any{&version}, func() error {
		rows++
		return nil
	}); err != nil {
		return false, err
	}
	if rows == 0 {
		return false, fmt.Errorf("cache %s: %w: the table refract_cache is empty and tells no version; name another database or search_path", d.name, errForeign)
	}
	return true, checkVersion(d.name, version, postgresVersion)
}

// makePostgres creates the tables in a transaction, unless another process was first.
func (d *Database) makePostgres(ctx context.Context, tx *sql.Tx) error {
	if err := d.run(ctx, tx, fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, applicationID)); err != nil {
		return err
	}
	made, err := d.inspectPostgres(ctx, tx)
	if err != nil || made {
		return err
	}
	return d.run(ctx, tx, append(schema, `CREATE TABLE refract_cache (version integer NOT NULL)`,
		fmt.Sprintf(`INSERT INTO refract_cache (version) VALUES (%d)`, postgresVersion))...)
}
