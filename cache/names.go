package cache

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
)

// Option changes how a database is opened.
type Option func(*options)

type options struct {
	readOnly bool
	// patience is how long to wait for another process that holds a file
	// locked, and how long to try to reach a database again.
	patience time.Duration
	// lease is how long the claims of a process outlive it, where nothing tells
	// that it is gone. A process that lives renews its lease; one that is
	// stopped for longer loses its claims.
	lease    time.Duration
	tell     func(message string)
	maxPages int // of a file, for tests of a full disk; 0 sets no limit
}

func newOptions(opts []Option) options {
	o := options{patience: 10 * time.Second, lease: 30 * time.Second, tell: func(string) {}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// ReadOnly opens an existing cache, writable or not, to read it: what writes
// fails with [errReadOnly].
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// Tell hands messages to people: that the database makes a process wait.
func Tell(f func(message string)) Option { return func(o *options) { o.tell = f } }

// Open opens the cache in a database whose URL begins with postgres:// or
// postgresql://, as [openPostgres] does, or the one in a file, as [openSQLite]
// does.
func Open(ctx context.Context, where string, opts ...Option) (*Database, error) {
	if IsPostgres(where) {
		return openPostgres(ctx, where, opts...)
	}
	return openSQLite(ctx, where, opts...)
}

// IsPostgres reports whether a name is the URL of a Postgres database.
func IsPostgres(where string) bool {
	scheme, _, ok := strings.Cut(where, "://")
	return ok && (strings.EqualFold(scheme, "postgres") || strings.EqualFold(scheme, "postgresql"))
}

// settings is how libpq writes what a URL of Postgres says, perhaps with a
// password. No file is meant by it.
var settings = regexp.MustCompile(`(?i)(^|\s)(host|hostaddr|port|user|password|passfile|dbname|service)\s*=`)

// mistyped is a name that is meant as an address, and is none that is known.
var mistyped = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]+:/|postgres(ql)?[:/].*@)`)

// CheckName says what is wrong with the name of a cache that can only be a
// mistyped address. It quotes nothing of it.
func CheckName(where string) error {
	switch {
	case settings.MatchString(where):
		return errors.New("cache: settings such as host=… name no file: write the URL of a Postgres database as postgres://user@host:5432/database, and a password into PGPASSWORD or ~/.pgpass")
	case !IsPostgres(where) && mistyped.MatchString(where):
		return errors.New("cache: the name looks like an address: write that of a Postgres database as postgres://user@host:5432/database, or ./ before the name of a file")
	}
	return nil
}

// Shown is the name of a cache for people and logs: the one of a database is
// without its password.
func Shown(where string) string {
	switch {
	case settings.MatchString(where):
		return "settings of Postgres"
	case !IsPostgres(where) && mistyped.MatchString(where):
		return "an address"
	case !IsPostgres(where):
		return where
	}
	config, _, err := parsePostgres(where)
	if err != nil {
		return "postgres://…"
	}
	return postgresName(config.ConnConfig)
}
