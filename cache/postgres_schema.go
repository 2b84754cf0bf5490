package cache

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// postgresVersion is the newest schema that this program knows, and the one
// that it makes.
const postgresVersion = 1

// postgresLock is the number of the advisory lock under which tables are made
// and changed.
const postgresLock = 0x52465243

// postgresMigrations[v] brings version v to v+1; version 0 is a schema without
// our tables. What a released version ran does not change.
var postgresMigrations = [postgresVersion][]string{{
	`CREATE TABLE refract_cache (version integer NOT NULL)`,
	`INSERT INTO refract_cache (version) VALUES (0)`,
	`CREATE TABLE refract_answers (
	key               bytea NOT NULL PRIMARY KEY,
	kind              bytea NOT NULL,
	model             bytea NOT NULL,
	revision          bytea NOT NULL,
	prompt            bytea NOT NULL,
	params            bytea NOT NULL,
	sample            bigint NOT NULL,
	text              bytea,
	finish_reason     bytea NOT NULL,
	served_model      bytea NOT NULL,
	prompt_tokens     bigint NOT NULL,
	completion_tokens bigint NOT NULL,
	created           bigint,
	digest            bytea NOT NULL
)`,
	`CREATE TABLE refract_owners (
	id      bigint NOT NULL PRIMARY KEY,
	process text NOT NULL,
	expires timestamptz NOT NULL
)`,
	`CREATE TABLE refract_claims (
	key   bytea NOT NULL PRIMARY KEY,
	owner bigint NOT NULL
)`,
}}

// prepare finds the tables, makes them or brings them up to date.
func (s *Postgres) prepare(ctx context.Context) error {
	err := s.again(ctx, func(ctx context.Context) error {
		var err error
		s.version, err = s.inspect(ctx, s.pool)
		return err
	})
	switch {
	case err != nil:
		return err
	case s.version == postgresVersion:
	case s.version == 0 && s.readOnly:
		return fmt.Errorf("cache %s: %w: there are no tables of a cache, and it was opened to be read only: check the name, and the search_path", s.name, ErrForeign)
	case !s.readOnly:
		if err := s.again(ctx, s.migrate); err != nil {
			return err
		}
		s.version = postgresVersion
	}
	// A column that is missing shows here, and not in the middle of the work.
	return s.again(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `SELECT key, `+columns+` FROM refract_answers LIMIT 0`)
		return err
	})
}

// postgresQuerier is what inspect needs of a pool or a transaction.
type postgresQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// inspect returns the version of the tables, or 0 if there are none.
func (s *Postgres) inspect(ctx context.Context, db postgresQuerier) (int, error) {
	var marked, answers bool
	// As a query it sees one snapshot, in which to_regclass does not look.
	err := db.QueryRow(ctx, `SELECT count(*) FILTER (WHERE relname = 'refract_cache') > 0, count(*) FILTER (WHERE relname = 'refract_answers') > 0
		FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
		WHERE nspname = ANY (current_schemas(false)) AND relname IN ('refract_cache', 'refract_answers')`).Scan(&marked, &answers)
	switch {
	case err != nil:
		return 0, err
	case !marked && answers:
		return 0, fmt.Errorf("cache %s: %w: there is a table refract_answers, but none named refract_cache that tells its version; name another database or search_path", s.name, ErrForeign)
	case !marked:
		return 0, nil
	}
	var version int
	err = db.QueryRow(ctx, `SELECT version FROM refract_cache`).Scan(&version)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("cache %s: %w: the table refract_cache is empty and tells no version; name another database or search_path", s.name, ErrForeign)
	case err != nil:
		return 0, err
	case version > postgresVersion:
		return 0, &VersionError{File: s.name, Version: version, Known: postgresVersion}
	case version < 1:
		return 0, fmt.Errorf("cache %s: %w: schema version %d; name another database or search_path", s.name, ErrCorrupt, version)
	}
	return version, nil
}

// migrate brings the tables from any older version to this one, in one
// transaction. Another process may be doing the same: whoever comes second
// finds it done.
func (s *Postgres) migrate(ctx context.Context) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(postgresLock)); err != nil {
			return err
		}
		version, err := s.inspect(ctx, tx)
		if err != nil || version == postgresVersion {
			return err
		}
		for _, step := range postgresMigrations[version:] {
			for _, statement := range step {
				if _, err := tx.Exec(ctx, statement); err != nil {
					return err
				}
			}
		}
		_, err = tx.Exec(ctx, `UPDATE refract_cache SET version = $1`, postgresVersion)
		return err
	})
}
