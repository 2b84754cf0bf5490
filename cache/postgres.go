package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/refract-eval/refract/internal/redact"
)

// postgresServer is the engine of a Postgres database. The names of its tables begin with
// refract_, and they are in the first schema of the search path. Operations that fail
// because the connection was lost are tried again until patience runs out.
type postgresServer struct {
	*Database
	patience time.Duration
	tell     func() // tells people that the process is waiting
}

// openPostgres opens the cache in a Postgres database, given by a URL such as
// postgres://user@host:5432/database. The password may be in the URL, in $PGPASSWORD or in
// ~/.pgpass, and never appears in an error. Missing tables are created unless the cache is
// opened read-only.
//
// A process uses at most pool_max_conns connections (default 4) and closes those that are
// idle for pool_max_conn_idle_time (default 2s); the URL can set both. It relies on no
// session state, so PgBouncer in transaction mode works.
//
// A record is as durable as the server's settings make it. The error wraps [errVersion]
// for tables of another version, [errForeign] for tables of another program,
// [errUnavailable], [errLocked], [errReadOnly] or [ErrCorrupt].
func openPostgres(ctx context.Context, databaseURL string, opts ...Option) (*Database, error) {
	o := newOptions(opts)
	config, secrets, err := parsePostgres(databaseURL)
	if err != nil {
		return nil, err
	}
	d := &Database{name: postgresName(config.ConnConfig), secrets: secrets}
	s := &postgresServer{Database: d, patience: o.patience}
	s.tell = sync.OnceFunc(func() { o.tell(fmt.Sprintf("cache %s: still waiting for the server", d.name)) })
	d.engine = s
	d.readers = stdlib.OpenDB(*config.ConnConfig)
	d.readers.SetMaxOpenConns(int(config.MaxConns))
	d.readers.SetMaxIdleConns(int(config.MaxConns))
	d.readers.SetConnMaxIdleTime(config.MaxConnIdleTime)
	d.writers = d.readers
	if err := s.prepare(ctx, o.readOnly); err != nil {
		_ = d.disconnect() // err is the reason
		return nil, d.explain(ctx, "open", err)
	}
	d.start(o)
	return d, nil
}

// prepare checks the tables, and creates missing ones.
func (s *postgresServer) prepare(ctx context.Context, readOnly bool) error {
	made := false
	err := s.try(ctx, func(ctx context.Context) (err error) {
		made, err = s.inspectPostgres(ctx, s.readers)
		return err
	})
	switch {
	case err != nil:
		return err
	case !made && readOnly:
		return fmt.Errorf("cache %s: %w: it has no tables of a cache, and it was opened read-only: check the name and the search_path", s.name, errForeign)
	case !made:
		if err := s.change(ctx, s.makePostgres); err != nil {
			return err
		}
	}
	// Find a missing column now, and not in the middle of the work.
	return s.try(ctx, func(ctx context.Context) error {
		return s.run(ctx, s.readers, "SELECT key, kind, digest, value, about FROM refract_records LIMIT 0")
	})
}

// parsePostgres parses the URL, and also returns the secrets in it.
func parsePostgres(databaseURL string) (*pgxpool.Config, []string, error) {
	// The parser's error may quote any part of the URL, so it is not passed on. A @ after
	// the host shows that the password was not escaped and was taken for the host.
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
		databaseURL = "postgres://" + rest // pgx wants the scheme in lower case
	}
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		shown := url.URL{Scheme: u.Scheme, User: url.User(u.User.Username()), Host: u.Host, Path: u.Path}
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // the rest of the message repeats the URL
		}
		return nil, nil, fmt.Errorf("cache %s: the URL, or a setting of the environment that completes it, is wrong: %s", shown.String(), redact.Values(secrets)(err.Error()))
	}
	c := config.ConnConfig
	secrets = append(secrets, c.Password)
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	// Defaults unless the URL says otherwise: few connections, closed soon when idle,
	// because many processes share the server; and no prepared statements, because a pooler
	// gives each transaction another connection.
	if given := u.Query(); !given.Has("pool_max_conns") {
		config.MaxConns = 4
	}
	if !u.Query().Has("pool_max_conn_idle_time") {
		config.MaxConnIdleTime = 2 * time.Second
	}
	if !u.Query().Has("default_query_exec_mode") {
		c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "refract"
	}
	return config, secrets, nil
}

// postgresName returns the name of the database for messages.
func postgresName(c *pgx.ConnConfig) string {
	u := url.URL{Scheme: "postgres", User: url.User(c.User), Path: "/" + c.Database}
	q := url.Values{}
	if strings.HasPrefix(c.Host, "/") {
		q.Set("host", c.Host)
	} else {
		u.Host = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	if path := c.RuntimeParams["search_path"]; path != "" {
		q.Set("search_path", path)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func (s *postgresServer) text(statement string) string { return postgresWords.Replace(statement) }

var postgresWords = strings.NewReplacer("{strict}", "", "{rowless}", "",
	"{later}", "clock_timestamp() + make_interval(secs => $3)")

// lock also limits how long a process that hangs can hold the lock. At this isolation level a
// statement sees everything that was committed before the lock was obtained.
func (s *postgresServer) lock(durable bool) string {
	lock := fmt.Sprintf("SET LOCAL idle_in_transaction_session_timeout = '5s'; SELECT pg_advisory_xact_lock(%d, hashtext(current_schema()))", applicationID)
	if !durable {
		lock = "SET LOCAL synchronous_commit = off; " + lock
	}
	return lock
}

func (s *postgresServer) committed() error { return nil }

const (
	// attempt bounds one try of an operation. Otherwise a server whose connection breaks
	// silently would be waited for without end.
	attempt = 30 * time.Second
	// silence is the longest wait of which people learn nothing.
	silence = 3 * time.Second
	// crowdPatience multiplies patience while the server has no free connection.
	crowdPatience = 6

	tooMany           = "53300"
	protocolViolation = "08P01" // PgBouncer also uses it for everything that it refuses
	// startupParameter is PgBouncer's message about a setting that it does not pass on.
	startupParameter = "unsupported startup parameter"
)

// try implements engine.
func (s *postgresServer) try(ctx context.Context, f func(context.Context) error) error {
	began := time.Now()
	pause := 20 * time.Millisecond
	defer time.AfterFunc(min(silence, s.patience/3), s.tell).Stop()
	for {
		trial, cancel := context.WithTimeout(ctx, max(attempt, s.patience))
		err := f(trial)
		cut := trial.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !cut && !passing(err) {
			return err
		}
		// The pause is random, so that not all clients of a lost server come back at
		// the same time.
		wait, patience := pause/2+rand.N(pause), s.patience
		if crowded(err) {
			patience *= crowdPatience // other processes give connections back when they are idle
		}
		if time.Since(began)+wait > patience {
			return fmt.Errorf("%w: %w", errUnavailable, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		pause = min(2*pause, time.Second)
	}
}

// crowded reports whether the server, or PgBouncer, accepts no more clients.
func crowded(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok &&
		(refused.Code == tooMany || refused.Code == protocolViolation && strings.Contains(refused.Message, "no more connections allowed"))
}

// passing reports whether a failure may be temporary: the connection was lost, the server
// restarts, or two transactions collided.
func passing(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "40001", "40P01", "55P03", // serialization failure, deadlock, lock not available
			"25P03",                   // the transaction was idle for too long
			"57P01", "57P02", "57P03", // shutdown, crash, starting up
			tooMany:
			return true
		case protocolViolation:
			return !strings.Contains(refused.Message, startupParameter)
		}
		return strings.HasPrefix(refused.Code, "08") // connection exception
	}
	return errors.As(err, new(*pgconn.ConnectError)) || errors.As(err, new(net.Error)) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, sql.ErrConnDone) || strings.Contains(err.Error(), "bad connection") || strings.Contains(err.Error(), "conn closed")
}

// postgresAdvice says what to do about errors of the server, by their codes.
var postgresAdvice = map[string]struct {
	advice string
	kind   error
}{
	tooMany: {"the server has as many clients as it takes: lower pool_max_conns in the URL, raise max_connections of the server, or put PgBouncer before it", errUnavailable},
	"28P01": {"the server refuses the user or the password: see the URL, PGPASSWORD or ~/.pgpass", errUnavailable},
	"28000": {"the server refuses the user or the password: see the URL, PGPASSWORD or ~/.pgpass", errUnavailable},
	"3D000": {"there is no such database: create it, for instance with createdb", errUnavailable},
	"3F000": {"there is no such schema: create it, or leave search_path out", errUnavailable},
	"42501": {"the user needs the rights to create tables once, and to read and change them", errReadOnly},
	"25006": {"the server lets nobody write now", errReadOnly},
	"53100": {"nothing stored before is lost; free some space on the server, then run again", errFull},
	"42P01": {"a table of the cache is missing: name another database or search_path", ErrCorrupt},
	"42703": {"a column of the cache is missing: name another database or search_path", ErrCorrupt},
	"XX001": {"the server found its own files damaged; see its log", ErrCorrupt},
	"57014": {"the server ended a statement that took long: raise its statement_timeout", nil},
}

// classify implements engine.
func (s *postgresServer) classify(_ string, err error) (advice string, kind error) {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		code := refused.Code
		switch {
		case crowded(refused):
			code = tooMany
		case code == protocolViolation && strings.Contains(refused.Message, startupParameter):
			return "PgBouncer passes no such setting on: leave it out of the URL, and set it on the server, as with ALTER ROLE … SET search_path", errUnavailable
		}
		if known, ok := postgresAdvice[code]; ok {
			return known.advice, known.kind
		}
	}
	if errors.Is(err, errUnavailable) || passing(err) {
		return "nothing stored before is lost; see that the server runs and lets this machine in, then run again", errUnavailable
	}
	return "", nil
}
