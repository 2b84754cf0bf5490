package cache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresEngine is a database whose tables begin with refract_ and lie in the
// first schema of the search path. What fails because the connection is lost is
// tried again for as long as the patience lasts; all of it can be repeated
// without harm.
type postgresEngine struct {
	name     string // without the password
	secrets  []string
	pool     *pgxpool.Pool
	schema   int // its version
	patience time.Duration
}

// OpenPostgres opens the cache in the database of a URL as libpq knows it,
// such as postgres://user@host:5432/database. The password may stand in the
// URL, in $PGPASSWORD or in ~/.pgpass, and never appears in an error. The
// tables are made where there are none, and brought up to date where they are
// of an older version, unless the cache is opened for reading only.
//
// A record is as durable as the server is set to. The error is a
// [*VersionError] for tables of a newer version, or wraps [ErrUnavailable],
// [ErrForeign] for tables that are not of this program, [ErrLocked],
// [ErrReadOnly] or [ErrCorrupt].
func OpenPostgres(ctx context.Context, databaseURL string, opts ...Option) (*Database, error) {
	o := newOptions(opts)
	config, secrets, err := parsePostgres(databaseURL)
	if err != nil {
		return nil, err
	}
	s := &postgresEngine{name: postgresName(config.ConnConfig), secrets: secrets, patience: o.patience}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain(ctx, "open", err)
	}
	if err := s.prepare(ctx, o.readOnly); err != nil {
		s.pool.Close()
		return nil, s.explain(ctx, "open", err)
	}
	return newDatabase(s.name, s, o), nil
}

// prepare finds the tables, makes them or brings them up to date.
func (s *postgresEngine) prepare(ctx context.Context, readOnly bool) error {
	err := s.again(ctx, func(ctx context.Context) (err error) {
		s.schema, err = inspectPostgres(ctx, postgresSession{s.pool}, s.name)
		return err
	})
	switch {
	case err != nil:
		return err
	case s.schema == postgresVersion:
	case s.schema == 0 && readOnly:
		return fmt.Errorf("cache %s: %w: there are no tables of a cache, and it was opened to be read only: check the name, and the search_path", s.name, ErrForeign)
	case !readOnly:
		if err := s.again(ctx, func(ctx context.Context) error {
			return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
				return migratePostgres(ctx, postgresSession{tx}, s.name)
			})
		}); err != nil {
			return err
		}
		s.schema = postgresVersion
	}
	// A column that is missing shows here, and not in the middle of the work.
	_, source := s.version()
	return s.again(ctx, func(ctx context.Context) error {
		return run(ctx, postgresSession{s.pool}, `SELECT key, kind, digest, value, about FROM `+source+` LIMIT 0`)
	})
}

// parsePostgres reads the URL and returns what must not be shown of it.
func parsePostgres(databaseURL string) (*pgxpool.Config, []string, error) {
	// What the parser says may quote any part of the URL, so none of it is
	// passed on. A @ behind the host shows a password that was not escaped,
	// and was taken for the host.
	u, err := url.Parse(databaseURL)
	if err != nil || strings.Contains(u.EscapedPath()+u.RawQuery+u.Fragment, "@") {
		return nil, nil, errors.New("cache: the URL of the Postgres database cannot be read: write it as postgres://user@host:5432/database, with special characters as % and two hexadecimal digits, and the password better in PGPASSWORD or ~/.pgpass")
	}
	secrets := []string{}
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, password, url.QueryEscape(password), url.PathEscape(password))
	}
	for _, name := range []string{"password", "sslpassword"} {
		secrets = append(secrets, u.Query()[name]...)
	}
	if _, rest, ok := strings.Cut(databaseURL, "://"); ok {
		databaseURL = "postgres://" + rest // in lower case, or it is taken for a list of settings
	}
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		shown := url.URL{Scheme: u.Scheme, User: url.User(u.User.Username()), Host: u.Host, Path: u.Path}
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // the rest repeats the URL
		}
		return nil, nil, fmt.Errorf("cache %s: the URL, or a setting of the environment that completes it, is wrong: %s", shown.String(), hide(err.Error(), secrets))
	}
	secrets = append(secrets, config.ConnConfig.Password)
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "refract"
	}
	return config, secrets, nil
}

// hide removes secrets from a message.
func hide(s string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "xxxxx")
		}
	}
	return s
}

// postgresName names the database for messages.
func postgresName(c *pgx.ConnConfig) string {
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database}
	if strings.HasPrefix(c.Host, "/") {
		u.RawQuery = url.Values{"host": {c.Host}}.Encode()
	} else {
		u.Host = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	if path := c.RuntimeParams["search_path"]; path != "" {
		q := u.Query()
		q.Set("search_path", path)
		u.RawQuery = q.Encode()
	}
	return u.String()
}

func (s *postgresEngine) close() error {
	s.pool.Close()
	return nil
}

func (s *postgresEngine) version() (int, string) {
	return s.schema, postgresDialect.source(s.schema == postgresVersion)
}

const (
	postgresPart  = 1000 // keys of one query
	postgresReads = 4    // queries of one read at a time
)

func (s *postgresEngine) read(ctx context.Context, keys []Key, values [][]byte) error {
	return inParts(ctx, len(keys), postgresPart, postgresReads, func(ctx context.Context, from, to int) error {
		return s.again(ctx, func(ctx context.Context) error { return s.readPart(ctx, keys[from:to], values[from:to]) })
	})
}

// readPart has the server return the values with their places among the keys.
func (s *postgresEngine) readPart(ctx context.Context, keys []Key, values [][]byte) error {
	asked := make([][]byte, len(keys))
	for i := range keys {
		asked[i] = keys[i][:]
	}
	_, source := s.version()
	var r valueRow
	dest := []any{&r.place, &r.kind, (*pgtype.DriverBytes)(&r.digest), (*pgtype.DriverBytes)(&r.value)}
	return s.query(ctx, `SELECT asked.place - 1, kind, digest, value
		FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place) JOIN `+source+` USING (key)`, []any{asked}, dest,
		func() error { return r.accept(s.name, keys, values) })
}

// postgresConn is a *pgxpool.Pool or pgx.Tx.
type postgresConn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// postgresSession implements session.
type postgresSession struct{ conn postgresConn }

// each sends the server all rows at once.
func (s postgresSession) each(ctx context.Context, statement string, rows ...[]any) ([]int64, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	changed := make([]int64, len(rows))
	var batch pgx.Batch
	for i, args := range rows {
		batch.Queue(postgresDialect.text(statement), args...).Exec(func(tag pgconn.CommandTag) error {
			changed[i] = tag.RowsAffected()
			return nil
		})
	}
	return changed, s.conn.SendBatch(ctx, &batch).Close()
}

func (s postgresSession) query(ctx context.Context, statement string, args, dest []any, f func() error) error {
	rows, err := s.conn.Query(ctx, postgresDialect.text(statement), args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, dest, f)
	return err
}

// query streams what the server sends. It is not asked for again when the
// connection is lost, because the snapshot is lost with it.
func (s *postgresEngine) query(ctx context.Context, statement string, args, dest []any, f func() error) error {
	return postgresSession{s.pool}.query(ctx, statement, args, dest, f)
}

// bytes is the size of the tables with their indices.
func (s *postgresEngine) bytes(ctx context.Context) (n int64, err error) {
	table := "refract_records"
	if s.schema < postgresVersion {
		table = "refract_answers"
	}
	err = s.again(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT pg_total_relation_size($1::regclass) + pg_total_relation_size('refract_claims')`, table).Scan(&n)
	})
	return n, err
}

// check finds nothing: the server's own files are the server's matter.
func (s *postgresEngine) check(context.Context) ([]string, error) { return nil, nil }

// compact does nothing: the server uses the space again, and gives it back to
// its file system only on VACUUM FULL.
func (s *postgresEngine) compact(context.Context) error { return nil }

const (
	// beginPostgresSQL: in the levels above a claim would not see what was
	// committed while it waited. The claims are few rows among many dead
	// ones, of which the planner knows nothing, so it is kept from reading
	// all of them.
	beginPostgresSQL = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off`
)

// commit repeats the transaction when the connection is lost: each part of it
// can be. It goes on for a while when nobody waits for it any more: one that is
// cut off may be committed or not, and nobody would know of its claims.
func (s *postgresEngine) commit(ctx context.Context, t *transaction) error {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	return s.again(later, func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: beginPostgresSQL}, func(tx pgx.Tx) error {
			return t.carryOut(ctx, postgresSession{tx}, &postgresDialect)
		})
	})
}
