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
	// patience is how long to wait for another process that has locked a file, and how
	// long to keep trying to reach a database.
	patience time.Duration
	lease    time.Duration // see Lease
	tell     func(message string)
	maxPages int // limit on a file, for tests of a full disk; 0 means none
}

func newOptions(opts []Option) options {
	o := options{patience: 40 * time.Second, lease: 15 * time.Second, tell: func(string) {}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// ReadOnly opens an existing cache only for reading, whether or not it is writable.
// Writing fails with [errReadOnly].
func ReadOnly() Option { return func(o *options) { o.readOnly = true } }

// Lease sets how long the claims of a process outlive it; the default is 15 seconds. A living process
// renews its lease; one that is suspended for longer loses its claims.
func Lease(d time.Duration) Option { return func(o *options) { o.lease = d } }

// Tell sets the function that shows messages to people, for example while waiting for
// the database.
func Tell(f func(message string)) Option { return func(o *options) { o.tell = f } }

// Open opens the cache in a Postgres database, if where is a URL that begins with
// postgres:// or postgresql://, otherwise the cache in a SQLite file.
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

// settings matches a list of settings for libpq, which may include a password and is not
// the name of a file.
var settings = regexp.MustCompile(`(?i)(^|\s)(host|hostaddr|port|user|password|passfile|dbname|service)\s*=`)

// mistyped matches a name that looks like an address but is not one that Open knows.
var mistyped = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]+:/|postgres(ql)?[:/].*@)`)

// CheckName returns an error if the name of a cache can only be a mistyped address. The
// error does not quote the name, which may contain a password.
func CheckName(where string) error {
	switch {
	case where == "":
		return errors.New("the cache has no name: name a file, or write the URL of a Postgres database")
	case settings.MatchString(where):
		return errors.New("cache: settings such as host=… name no file: write the URL of a Postgres database as postgres://user@host:5432/database, and a password into PGPASSWORD or ~/.pgpass")
	case !IsPostgres(where) && mistyped.MatchString(where):
		return errors.New("cache: the name looks like an address: write the address of a Postgres database as postgres://user@host:5432/database, or ./ before the name of a file")
	}
	return nil
}

// Shown returns the name of a cache for people and logs, without a password.
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
