package cache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
	schema   int    // its version
	source   string // what records are read from
	patience time.Duration

	swept time.Time // when dead owners were last looked for; of the group's goroutine
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
		s.schema, err = inspectPostgres(ctx, s.pool, s.name)
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
				return migratePostgres(ctx, tx, s.name)
			})
		}); err != nil {
			return err
		}
		s.schema = postgresVersion
	}
	s.source = postgresSource(s.schema)
	// A column that is missing shows here, and not in the middle of the work.
	return s.again(ctx, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, `SELECT key, kind, digest, value, about FROM `+s.source+` LIMIT 0`)
		return err
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

func (s *postgresEngine) version() int { return s.schema }

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
	rows, err := s.pool.Query(ctx, `SELECT asked.place - 1, kind, digest, value
		FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place) JOIN `+s.source+` USING (key)`, keyBytes(keys))
	if err != nil {
		return err
	}
	var r valueRow
	dest := []any{&r.place, &r.kind, (*pgtype.DriverBytes)(&r.digest), (*pgtype.DriverBytes)(&r.value)}
	_, err = pgx.ForEachRow(rows, dest, func() error { return r.accept(s.name, keys, values) })
	return err
}

// list streams what the server sends. It is not asked for again when the
// connection is lost, because the snapshot is lost with it.
func (s *postgresEngine) list(ctx context.Context, kind string, f func(*row) error) error {
	rows, err := s.pool.Query(ctx, `SELECT key, kind, digest, value, about FROM `+s.source+` WHERE $1 IN ('', kind) ORDER BY key`, kind)
	if err != nil {
		return err
	}
	var r row
	_, err = pgx.ForEachRow(rows, []any{&r.key, &r.kind, &r.digest, &r.value, &r.about}, func() error { return f(&r) })
	return err
}

func (s *postgresEngine) counts(ctx context.Context) (counts []Count, err error) {
	err = s.again(ctx, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, `SELECT kind, count(*) FROM `+s.source+` GROUP BY kind ORDER BY kind`)
		if err != nil {
			return err
		}
		counts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Count])
		return err
	})
	return counts, err
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
	putPostgresSQL = `INSERT INTO refract_records (key, kind, digest, value, about)
	SELECT * FROM unnest($1::bytea[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[])
	ON CONFLICT (key) DO `
	// claimPostgresSQL takes no claim of another owner over, dead as it may
	// be: in the snapshot of a statement that waited for that owner's claim
	// its lease may be missing. Only sweep does.
	claimPostgresSQL = `INSERT INTO refract_claims AS held (key, owner)
	SELECT asked.key, $2 FROM unnest($1::bytea[]) AS asked (key)
	WHERE NOT EXISTS (SELECT FROM refract_records WHERE refract_records.key = asked.key) ORDER BY asked.key
	ON CONFLICT (key) DO UPDATE SET owner = excluded.owner WHERE held.owner = excluded.owner
	RETURNING key`
	// storedPostgresSQL takes back claims of keys whose value another process
	// committed while the claim waited for that process's own.
	storedPostgresSQL = `DELETE FROM refract_claims WHERE key = ANY ($1) AND owner = $2
	AND EXISTS (SELECT FROM refract_records WHERE refract_records.key = refract_claims.key)
	RETURNING key`
	unclaimPostgresSQL = `DELETE FROM refract_claims WHERE key = ANY ($1) AND owner = $2`
	leasePostgresSQL   = `INSERT INTO refract_owners (id, process, expires)
	VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
	ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`
	sweepPostgresSQL = `DELETE FROM refract_owners WHERE id <> $1 AND (expires <= clock_timestamp() OR id = ANY ($2))`
	// strayPostgresSQL relies on a lease being committed with the first claim
	// below it at the latest: no snapshot shows a claim without its owner,
	// unless that is removed.
	strayPostgresSQL = `DELETE FROM refract_claims WHERE NOT EXISTS (SELECT FROM refract_owners WHERE id = owner)`

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
			return s.carryOut(ctx, tx, t)
		})
	})
}

func (s *postgresEngine) carryOut(ctx context.Context, tx pgx.Tx, t *transaction) error {
	clear(t.first)
	clear(t.granted)
	if t.lease > 0 {
		if _, err := tx.Exec(ctx, leasePostgresSQL, t.owner, t.process, t.lease.Seconds()); err != nil {
			return err
		}
	}
	if t.sweep {
		if err := s.sweep(ctx, tx, t); err != nil {
			return err
		}
	}
	if err := putPostgres(ctx, tx, t); err != nil {
		return err
	}
	for _, st := range []struct {
		sql  string
		keys []Key
		args []any
	}{
		{unclaimPostgresSQL, t.release, []any{t.owner}},
		{`DELETE FROM refract_records WHERE key = ANY ($1)`, t.remove, nil},
	} {
		if len(st.keys) == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, st.sql, append([]any{keyBytes(st.keys)}, st.args...)...); err != nil {
			return err
		}
	}
	if len(t.claim) == 0 {
		return nil
	}
	if err := grantPostgres(ctx, tx, t); err != nil || len(t.granted) == len(t.claim) || time.Since(s.swept) < time.Second {
		return err
	}
	// The holder may be dead, which is seldom and costs more to find out.
	if err := s.sweep(ctx, tx, t); err != nil {
		return err
	}
	return grantPostgres(ctx, tx, t)
}

// putPostgres writes rows in the order of their keys, so that no two
// transactions wait for each other.
func putPostgres(ctx context.Context, tx pgx.Tx, t *transaction) error {
	order := make([]int, len(t.put))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareKeys(t.put[a].Key, t.put[b].Key) })
	sorted := make([]Record, len(order))
	for i, at := range order {
		sorted[i] = t.put[at]
	}
	stored, err := insertPostgres(ctx, tx, putPostgresSQL+`NOTHING RETURNING key`, sorted)
	if err != nil {
		return err
	}
	for _, at := range order {
		key := t.put[at].Key
		t.first[at] = stored[key]
		delete(stored, key) // the first of equal ones was
	}
	_, err = insertPostgres(ctx, tx, putPostgresSQL+replaceSQL+` RETURNING key`, t.replace)
	return err
}

func insertPostgres(ctx context.Context, tx pgx.Tx, statement string, records []Record) (stored map[Key]bool, err error) {
	if len(records) == 0 {
		return nil, nil
	}
	n := len(records)
	kinds, digests, values, abouts := make([]string, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
	keys := make([]Key, n)
	for i := range records {
		r := &records[i]
		sum, _ := digest(nil, r.Kind, r.Key, r.Value)
		keys[i], kinds[i], digests[i], values[i], abouts[i] = r.Key, r.Kind, sum[:], r.Value, r.About
	}
	return keysOf(ctx, tx, statement, keyBytes(keys), kinds, digests, values, abouts)
}

// keysOf runs a statement that returns keys.
func keysOf(ctx context.Context, tx pgx.Tx, statement string, args ...any) (map[Key]bool, error) {
	rows, err := tx.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	keys := make(map[Key]bool)
	var b pgtype.DriverBytes
	_, err = pgx.ForEachRow(rows, []any{&b}, func() error {
		keys[Key(b)] = true
		return nil
	})
	return keys, err
}

func grantPostgres(ctx context.Context, tx pgx.Tx, t *transaction) error {
	asked := keyBytes(t.claim)
	granted, err := keysOf(ctx, tx, claimPostgresSQL, asked, t.owner)
	if err != nil || len(granted) == 0 {
		return err
	}
	stored, err := keysOf(ctx, tx, storedPostgresSQL, asked, t.owner)
	for key := range granted {
		if !stored[key] {
			t.granted[key] = true
		}
	}
	return err
}

// sweep removes the owners whose lease has ended or whose process is gone, and
// their claims.
func (s *postgresEngine) sweep(ctx context.Context, tx pgx.Tx, t *transaction) error {
	s.swept = t.began
	rows, err := tx.Query(ctx, `SELECT id, process FROM refract_owners WHERE id <> $1`, t.owner)
	if err != nil {
		return err
	}
	gone := []int64{} // NULL would match nothing, and keep what is expired
	var id int64
	var process string
	if _, err := pgx.ForEachRow(rows, []any{&id, &process}, func() error {
		if processGone(process) {
			gone = append(gone, id)
		}
		return nil
	}); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sweepPostgresSQL, t.owner, gone); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, strayPostgresSQL)
	return err
}

// forget leaves a lease to end by itself where the database cannot be reached.
func (s *postgresEngine) forget(owner int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, statement := range []string{`DELETE FROM refract_owners WHERE id = $1`, `DELETE FROM refract_claims WHERE owner = $1`} {
		if _, err := s.pool.Exec(ctx, statement, owner); err != nil {
			break
		}
	}
	return nil
}

func keyBytes(keys []Key) [][]byte {
	b := make([][]byte, len(keys))
	for i := range keys {
		b[i] = keys[i][:]
	}
	return b
}
