package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"
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
	tell     func(message string)
	silence  sync.Once           // is told of
	crowd    sync.Once           // is told of
	turns    *semaphore.Weighted // of connections
}

// OpenPostgres opens the cache in the database of a URL as libpq knows it,
// such as postgres://user@host:5432/database. The password may stand in the
// URL, in $PGPASSWORD or in ~/.pgpass, and never appears in an error. The
// tables are made where there are none, and brought up to date where they are
// of an older version, unless the cache is opened for reading only.
//
// A process has pool_max_conns connections at most, which the URL may set and
// which are 4 otherwise, and gives those back that are idle for
// pool_max_conn_idle_time (2s). No session of the server is relied on, so that
// a PgBouncer may stand between, in the mode of transactions.
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
	s := &postgresEngine{name: postgresName(config.ConnConfig), secrets: secrets, patience: o.patience, tell: o.tell}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain(ctx, "open", err)
	}
	s.turns = semaphore.NewWeighted(int64(config.MaxConns))
	silent := time.AfterFunc(s.patience/3, func() {
		s.silence.Do(func() { s.tell(fmt.Sprintf("cache %s: still waiting for the server", s.name)) })
	})
	defer silent.Stop()
	if err := s.prepare(ctx, o.readOnly); err != nil {
		s.pool.Close()
		return nil, s.explain(ctx, "open", err)
	}
	return newDatabase(s.name, s, o), nil
}

// prepare finds the tables, makes them or brings them up to date.
func (s *postgresEngine) prepare(ctx context.Context, readOnly bool) error {
	err := s.again(ctx, attempt, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		s.schema, err = inspectPostgres(ctx, postgresSession{c}, s.name)
		return err
	})
	switch {
	case err != nil:
		return err
	case s.schema == postgresVersion:
	case s.schema == 0 && readOnly:
		return fmt.Errorf("cache %s: %w: there are no tables of a cache, and it was opened to be read only: check the name, and the search_path", s.name, ErrForeign)
	case !readOnly:
		if err := s.again(ctx, 0, func(ctx context.Context, c *pgxpool.Conn) error {
			return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
				return migratePostgres(ctx, postgresSession{tx}, s.name)
			})
		}); err != nil {
			return err
		}
		s.schema = postgresVersion
	}
	// A column that is missing shows here, and not in the middle of the work.
	_, source := s.version()
	return s.again(ctx, attempt, func(ctx context.Context, c *pgxpool.Conn) error {
		return run(ctx, postgresSession{c}, `SELECT key, kind, digest, value, about FROM `+source+` LIMIT 0`)
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
	// Beside what the URL sets: few connections, which go back when they are idle,
	// as many processes share what the server has; and no statements that the
	// server keeps by name, as a pooler gives each transaction another connection.
	for name, set := range map[string]func(){
		"pool_max_conns":           func() { config.MaxConns = postgresReads },
		"pool_max_conn_idle_time":  func() { config.MaxConnIdleTime = 2 * time.Second },
		"pool_health_check_period": func() { config.HealthCheckPeriod = time.Second },
		"default_query_exec_mode":  func() { config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe },
	} {
		if !u.Query().Has(name) {
			set()
		}
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
		return s.again(ctx, attempt, func(ctx context.Context, c *pgxpool.Conn) error {
			return s.readPart(ctx, postgresSession{c}, keys[from:to], values[from:to])
		})
	})
}

// readPart has the server return the values with their places among the keys.
func (s *postgresEngine) readPart(ctx context.Context, in postgresSession, keys []Key, values [][]byte) error {
	asked := make([][]byte, len(keys))
	for i := range keys {
		asked[i] = keys[i][:]
	}
	var r valueRow
	dest := []any{&r.place, &r.kind, (*pgtype.DriverBytes)(&r.digest), (*pgtype.DriverBytes)(&r.value)}
	return in.query(ctx, s.readSQL(), []any{asked}, dest,
		func() error { return r.accept(s.name, keys, values) })
}

func (s *postgresEngine) readSQL() string {
	_, source := s.version()
	return `SELECT asked.place - 1, kind, digest, value
		FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place) JOIN ` + source + ` USING (key)`
}

// postgresConn is a *pgxpool.Conn or pgx.Tx.
type postgresConn interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// postgresSession implements session.
type postgresSession struct{ conn postgresConn }

func (s postgresSession) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.conn.Exec(ctx, postgresDialect.text(statement), args...)
	return err
}

// each sends the rows in parts, as columns.
func (s postgresSession) each(ctx context.Context, c *change, rows [][]any) ([]bool, error) {
	changed := make([]bool, 0, len(rows))
	for part := range slices.Chunk(rows, postgresPart) {
		var key []byte
		done := make(map[string]bool, len(part))
		if err := s.query(ctx, c.set, columns(part), []any{(*pgtype.DriverBytes)(&key)}, func() error {
			done[string(key)] = true
			return nil
		}); err != nil {
			return nil, err
		}
		for _, row := range part {
			key := string(row[0].([]byte))
			changed = append(changed, done[key])
			delete(done, key)
		}
	}
	return changed, nil
}

// columns turns rows into an array for each column.
func columns(rows [][]any) []any {
	arrays := make([]any, len(rows[0]))
	for i := range arrays {
		switch rows[0][i].(type) {
		case []byte:
			arrays[i] = column[[]byte](rows, i)
		case string:
			arrays[i] = column[string](rows, i)
		case int64:
			arrays[i] = column[int64](rows, i)
		}
	}
	return arrays
}

func column[T any](rows [][]any, i int) []T {
	values := make([]T, len(rows))
	for n, row := range rows {
		values[n] = row[i].(T)
	}
	return values
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
// connection is lost and f has seen a part of it.
func (s *postgresEngine) query(ctx context.Context, statement string, args, dest []any, f func() error) error {
	begun := false
	var lost error
	err := s.again(ctx, 0, func(ctx context.Context, c *pgxpool.Conn) error {
		err := postgresSession{c}.query(ctx, statement, args, dest, func() error {
			begun = true
			return f()
		})
		if begun {
			lost, err = err, nil
		}
		return err
	})
	return cmp.Or(err, lost)
}

// bytes is the size of the tables with their indices.
func (s *postgresEngine) bytes(ctx context.Context) (n int64, err error) {
	table := "refract_records"
	if s.schema < postgresVersion {
		table = "refract_answers"
	}
	err = s.again(ctx, attempt, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, `SELECT pg_total_relation_size($1::regclass) + pg_total_relation_size('refract_claims')`, table).Scan(&n)
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
	beginPostgresSQL = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`
)

// commit repeats the transaction when the connection is lost: each part of it
// can be. It goes on for a while when nobody waits for it any more: one that is
// cut off may be committed or not, and nobody would know of its claims.
func (s *postgresEngine) commit(ctx context.Context, t *transaction) error {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })()
	return s.again(later, attempt, func(ctx context.Context, c *pgxpool.Conn) error {
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{BeginQuery: beginPostgresSQL}, func(tx pgx.Tx) error {
			return t.carryOut(ctx, postgresSession{tx}, &postgresDialect)
		})
	})
}
