package cache

import (
	"context"
	"strings"
)

// Backend is a store that outlives the process: [SQLite] or [Postgres].
type Backend interface {
	Store
	// Stats counts what the store holds.
	Stats(ctx context.Context) (Stats, error)
	// Verify computes every key and checksum again. A damaged store is
	// reported as problems; an error means that the check could not be made.
	Verify(ctx context.Context) (Report, error)
	// Prune deletes entries, for good.
	Prune(ctx context.Context, p Prune) (Pruned, error)
	// Close ends the use of the store and gives up its claims.
	Close() error
}

var (
	_ Backend = (*SQLite)(nil)
	_ Backend = (*Postgres)(nil)
)

// Open opens the cache in a database whose URL begins with postgres:// or
// postgresql://, as [OpenPostgres] does, or the one in a file, as [OpenSQLite]
// does.
func Open(ctx context.Context, where string, opts ...Option) (Backend, error) {
	if IsPostgres(where) {
		s, err := OpenPostgres(ctx, where, opts...)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := OpenSQLite(ctx, where, opts...)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// IsPostgres reports whether a name is the URL of a Postgres database.
func IsPostgres(where string) bool {
	for _, scheme := range []string{"postgres://", "postgresql://"} {
		if len(where) >= len(scheme) && strings.EqualFold(where[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// Shown is the name of a cache for people and logs: that of a database is
// without its password.
func Shown(where string) string {
	if !IsPostgres(where) {
		return where
	}
	config, _, err := parsePostgres(where)
	if err != nil {
		return "postgres://…"
	}
	return postgresName(config.ConnConfig)
}
