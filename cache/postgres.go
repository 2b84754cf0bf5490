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
	"github.com/jackc/pgx/v5/pgxpool"
)

// Postgres is a Store in a Postgres database, used at once by any number of
// processes on any number of machines.
//
// An answer is committed before Put returns, as durably as the server is set
// to. What fails because the connection is lost is tried again for as long as
// [BusyTimeout] says; all of it can be repeated without harm.
//
// Its tables begin with refract_ and lie in the first schema of the search
// path. Texts are of the type bytea, as Postgres keeps no U+0000 in its text.
type Postgres struct {
	name     string // without the password
	secrets  []string
	pool     *pgxpool.Pool
	version  int
	patience time.Duration
	readOnly bool

	known  knownParams
	writer *postgresWriter
	claims *claims
	group  *group // nil if read-only

	gate gate // all is inside but what the group waits for
}

// OpenPostgres opens the cache in the database of a URL as libpq knows it,
// such as postgres://user@host:5432/database. The password may stand in the
// URL, in $PGPASSWORD or in ~/.pgpass, and never appears in an error. The
// tables are made where there are none, and brought up to date where they are
// of an older version, unless the cache is opened for reading only.
//
// The error is a [*VersionError] for tables of a newer version, or wraps
// [ErrUnavailable], [ErrForeign] for tables that are not of this program,
// [ErrReadOnly] or [ErrCorrupt].
func OpenPostgres(ctx context.Context, databaseURL string, opts ...Option) (*Postgres, error) {
	o := newOptions(opts)
	config, secrets, err := parsePostgres(databaseURL)
	if err != nil {
		return nil, err
	}
	s := &Postgres{
		name: postgresName(config.ConnConfig), secrets: secrets,
		patience: o.patience, readOnly: o.readOnly,
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain(ctx, "open", err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, s.explain(ctx, "open", err)
	}
	if o.readOnly {
		return s, nil
	}
	s.claims = newClaims(o.lease)
	s.writer = &postgresWriter{store: s, claims: s.claims}
	s.group = newGroup(s.writer.commit, func(err error) bool { return errors.Is(err, ErrUnavailable) })
	s.claims.group = s.group
	return s, nil
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

// String names the database, without the password.
func (s *Postgres) String() string { return s.name }

// GoString is String.
func (s *Postgres) GoString() string { return s.name }

// Close ends the use of the database, once the answers that are being stored
// are committed, and gives up all claims. Closing twice is no error.
func (s *Postgres) Close() error {
	if !s.gate.shut() {
		return nil
	}
	if s.group != nil {
		s.claims.end()
		s.group.close()
		s.writer.forget()
	}
	s.pool.Close()
	return nil
}

// enter fails after Close, which waits until leave is called.
func (s *Postgres) enter() (leave func(), err error) {
	if leave, err = s.gate.enter(); err != nil {
		return nil, fmt.Errorf("cache %s: %w", s.name, err)
	}
	return leave, nil
}
