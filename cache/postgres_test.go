package cache_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// The variable of postgresURL holds the URL of a server for tests, whose user may create
// schemas. The script benchmarks/servers/postgres.sh starts one, and sets the commands
// with which tests stop and restart it.
const (
	postgresVariable      = "REFRACT_POSTGRES"
	postgresStopVariable  = "REFRACT_POSTGRES_STOP"
	postgresStartVariable = "REFRACT_POSTGRES_START"
	// PgBouncer in transaction mode, in front of the server.
	poolerVariable = "REFRACT_PGBOUNCER"
)

var schemas atomic.Int64

// postgresSchema returns the URL of a new, empty schema.
func postgresSchema(t testing.TB) string {
	t.Helper()
	server := os.Getenv(postgresVariable)
	if server == "" {
		t.Skip("$" + postgresVariable + " is not set: benchmarks/servers/postgres.sh starts a server for this test")
	}
	name := fmt.Sprintf("refract_test_%d_%d", os.Getpid(), schemas.Add(1))
	inPostgres(t, server, "CREATE SCHEMA "+name)
	t.Cleanup(func() { inPostgres(t, server, "DROP SCHEMA "+name+" CASCADE") })
	return edited(t, server, func(u *url.URL) { addQuery(u, "search_path", name) })
}

// edited returns a server's URL with a change. An error of url.Parse would quote the password.
func edited(t testing.TB, server string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(server)
	require.True(t, err == nil, "the URL of the server cannot be parsed")
	change(u)
	return u.String()
}

func addQuery(u *url.URL, name, value string) {
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
}

// inPostgres runs statements like another program.
func inPostgres(t testing.TB, databaseURL string, statements ...string) {
	t.Helper()
	ctx := context.Background() // not the test's, which has ended during clean-up
	conn, err := pgx.Connect(ctx, databaseURL)
	require.NoError(t, err)
	defer conn.Close(ctx)
	for _, s := range statements {
		_, err := conn.Exec(ctx, s)
		require.NoError(t, err, "%s", s)
	}
}

func TestPostgresConformance(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		runSuite(t, func(t *testing.T) cache.Store { return open(t, postgresSchema(t)) })
	})
	t.Run("shared", func(t *testing.T) {
		runShared(t, func(t *testing.T) opener { return place(postgresSchema(t)) })
	})
}

// No error shows the URL's password.
func TestPostgresHidesThePassword(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	unused := nobody.Addr().String()
	require.NoError(t, nobody.Close())
	const secret = "s3cr/t"
	for _, where := range []string{
		"postgres://me:s3cr%2Ft@" + unused + "/answers",
		"postgresql://me:s3cr/t@host/answers", // which url.Parse quotes
		"postgres://me:s3cr%2Ft@host:99999999/answers",
		"postgres://me:s3cr%2Ft@" + unused + "/answers?sslmode=nonsense",
		"postgres://me@" + unused + "/answers?sslmode=disable&password=s3cr%2Ft",
		"postgres://me:s3cr%2Ft@" + unused + "/answers?connect_timeout=s3cr%2Ft",
		"postgres://me:s3cr%2Ft@" + unused + "/answers?sslmode=verify-full&sslrootcert=/none/s3cr%2Ft",
		"postgres://me:s3cr%zzt@host/answers",
		"postgres://me:1/s3cr@" + unused + "/answers", // 1 looks like a port
		"postgres://me:1?s3cr@" + unused + "/answers",
		"postgres://me:1#s3cr@" + unused + "/answers",
	} {
		if shown := cache.Shown(where); strings.Contains(shown, "s3cr") || !strings.HasPrefix(shown, "postgres://") {
			t.Errorf("%s is shown as %s", where, shown)
		}
		s, err := cache.Open(t.Context(), where, cache.BusyTimeout(time.Millisecond))
		require.Error(t, err, "%s was opened: %v", where, s)
		for e := err; e != nil; e = errors.Unwrap(e) {
			for _, said := range []string{e.Error(), fmt.Sprintf("%v", e), fmt.Sprintf("%+v", e), fmt.Sprintf("%#v", e), fmt.Sprintf("%q", e)} {
				for _, part := range []string{secret, "s3cr", "%2Ft"} {
					assert.NotContains(t, said, part, where)
				}
			}
		}
	}
}

// Settings for libpq are not taken for the name of a file, and their password is not shown.
func TestSettingsAreNotAFileName(t *testing.T) {
	for _, where := range []string{"host=db user=me password=s3cret", "password = s3cret dbname=x", "service=s3cret", "HOST=/run PASSWORD='s3cret'"} {
		file := filepath.Join(t.TempDir(), where)
		for _, name := range []string{where, file} {
			for _, opts := range [][]cache.Option{nil, {cache.ReadOnly()}} {
				_, err := cache.Open(t.Context(), name, opts...)
				if name == where && (err == nil || !strings.Contains(err.Error(), "postgres://user@host")) || err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		assert.NotContains(t, cache.Shown(where), "s3cret")
		_, err := os.Stat(where)
		assert.Error(t, err, "%s became a file", where)
	}
	for _, file := range []string{"hosts.sqlite", "answers of my host.sqlite", "a=b.sqlite"} {
		assert.Equal(t, file, cache.Shown(file))
	}
}

func TestShown(t *testing.T) {
	for _, variable := range []string{"PGUSER", "PGHOST", "PGPORT", "PGDATABASE"} {
		t.Setenv(variable, "")
	}
	for where, want := range map[string]string{
		"answers.sqlite":                                    "answers.sqlite",
		"postgres.sqlite":                                   "postgres.sqlite",
		"postgres://me:secret@host/answers":                 "postgres://me@host:5432/answers",
		"postgresql://me@host:99/answers?password=secret":   "postgres://me@host:99/answers",
		"POSTGRES://me:secret@host/answers?search_path=a,b": "postgres://me@host:5432/answers?search_path=a%2Cb",
		"postgres://me:secret@/answers?host=/run/sockets":   "postgres://me@/answers?host=%2Frun%2Fsockets",
		"postgres://me:1/secret@host/answers":               "postgres://…",
	} {
		assert.Equal(t, want, cache.Shown(where), "%s is shown as", where)
	}
}

func TestPostgresUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	_, err = cache.Open(t.Context(), "postgres://me:secret@"+address+"/answers?sslmode=disable", cache.BusyTimeout(50*time.Millisecond))
	wantError(t, err, cache.ErrUnavailable, address, "answers", "me@", "run again")
	assert.Equal(t, 1, strings.Count(err.Error(), cache.ErrUnavailable.Error()), "error %q repeats itself", err)
	// Trying to reach the server ends with the context.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = cache.Open(ctx, "postgres://me:secret@"+address+"/answers?sslmode=disable", cache.BusyTimeout(time.Hour))
	wantError(t, err, context.DeadlineExceeded, address)
}

// A message about a silent server comes long before the store gives up.
func TestPostgresSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told atomic.Pointer[string]
	_, err = cache.Open(ctx, "postgres://me:secret@"+l.Addr().String()+"/answers?sslmode=disable", cache.BusyTimeout(time.Millisecond), cache.Tell(func(m string) {
		told.Store(&m)
		cancel()
	}))
	wantError(t, err, context.Canceled)
	m := told.Load()
	assert.True(t, m != nil && strings.Contains(*m, "still waiting for the server"), "told: %v", m)
}

func TestPostgresRefuses(t *testing.T) {
	where := postgresSchema(t)
	edit := func(change func(u *url.URL)) string { return edited(t, where, change) }
	t.Setenv("PGPASSWORD", "")
	for _, test := range []struct {
		name  string
		where string
		kind  error
		want  string
	}{
		{"password", edit(func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "wrong-password") }), cache.ErrUnavailable, "PGPASSWORD"},
		{"database", edit(func(u *url.URL) { u.Path = "/no-such" }), cache.ErrUnavailable, "createdb"},
		{"schema", edit(func(u *url.URL) { u.RawQuery = "sslmode=disable&search_path=no_such" }), cache.ErrUnavailable, "search_path"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := cache.Open(t.Context(), test.where, cache.BusyTimeout(time.Minute))
			wantError(t, err, test.kind, test.want)
			assert.NotContains(t, err.Error(), "wrong-password")
		})
	}
	// The password may come from the environment.
	var password string
	s := open(t, edit(func(u *url.URL) {
		password, _ = u.User.Password()
		t.Setenv("PGPASSWORD", password)
		u.User = url.User(u.User.Username())
	}))
	for _, shown := range []string{s.String(), fmt.Sprintf("%v %+v %#v", s, s, s)} {
		assert.False(t, password != "" && strings.Contains(shown, password), "the password is shown")
	}
}

func TestPostgresSchema(t *testing.T) {
	where := postgresSchema(t)
	_, err := cache.Open(t.Context(), where, cache.ReadOnly())
	wantError(t, err, cache.ErrForeign, "search_path")

	open(t, where)
	st, err := open(t, where, cache.ReadOnly()).Stats(t.Context())
	assert.True(t, err == nil && st.Entries == 0, "Stats = %+v, %v", st, err)
	for _, other := range []int{1, 7} {
		inPostgres(t, where, fmt.Sprintf("UPDATE refract_cache SET version = %d", other))
		_, err = cache.Open(t.Context(), where)
		wantError(t, err, cache.ErrVersion, fmt.Sprintf("version %d", other), "knows 2")
	}
	inPostgres(t, where, "DELETE FROM refract_cache")
	_, err = cache.Open(t.Context(), where)
	wantError(t, err, cache.ErrForeign)
	inPostgres(t, where, "DROP TABLE refract_cache")
	_, err = cache.Open(t.Context(), where)
	wantError(t, err, cache.ErrForeign)
	inPostgres(t, where, "CREATE TABLE refract_cache (version integer)", "INSERT INTO refract_cache VALUES (2)", "ALTER TABLE refract_records DROP COLUMN about")
	_, err = cache.Open(t.Context(), where)
	wantError(t, err, cache.ErrCorrupt)
}

func TestPostgresDamage(t *testing.T) {
	where := postgresSchema(t)
	s := open(t, where)
	for i := range 20 {
		require.NoError(t, putEntry(t.Context(), s, newEntry(i)))
	}
	key := newEntry(7).Request.Key()
	inPostgres(t, where, fmt.Sprintf(`UPDATE refract_records SET value = '\x00' WHERE key = '\x%s'`, key))
	_, _, err := getAnswer(t.Context(), s, key)
	wantError(t, err, cache.ErrCorrupt, key.String(), "refract cache verify")
	_, _, err = cache.NewAnswers(s).Get(t.Context(), []cache.Key{newEntry(1).Request.Key(), key})
	wantError(t, err, cache.ErrCorrupt, key.String(), "refract cache verify")
	sound := 0
	for _, err := range cache.NewAnswers(s).Entries(t.Context()) {
		if err != nil {
			wantError(t, err, cache.ErrCorrupt, key.String())
		} else {
			sound++
		}
	}
	assert.Equal(t, 19, sound)
	if n, problems, err := s.Verify(t.Context()); err != nil || n != 20 || len(problems) != 1 || problems[0].Key != key.String() {
		t.Errorf("Verify = %d, %v, %v", n, problems, err)
	}
}

// command runs the command in an environment variable.
func command(t *testing.T, variable string) {
	t.Helper()
	c := os.Getenv(variable)
	if c == "" {
		t.Skip("$" + variable + " is not set: benchmarks/servers/postgres.sh sets it")
	}
	cmd := exec.Command("sh", "-c", c)
	// The started server would keep standard error open, so it gets none.
	require.NoError(t, cmd.Run(), variable)
}

// A server that is killed and restarted costs only time: no stored answer is lost, and no
// operation fails before its patience runs out.
func TestPostgresServerRestarts(t *testing.T) {
	where := postgresSchema(t)
	if os.Getenv(postgresStopVariable) == "" {
		t.Skip("$" + postgresStopVariable + " is not set: benchmarks/servers/postgres.sh sets it")
	}
	s := open(t, where, cache.BusyTimeout(time.Minute), cache.Lease(time.Minute))
	const workers = 16
	var stop atomic.Bool
	var next, put atomic.Int64
	stored := make([][]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for !stop.Load() {
				n := int(next.Add(1))
				key := []cache.Key{newEntry(n).Request.Key()}
				if granted, err := s.Claim(t.Context(), key); err != nil || !granted[0] {
					t.Errorf("Claim of %d: %v, %v", n, granted, err)
					return
				}
				if err := putEntry(t.Context(), s, newEntry(n)); err != nil {
					t.Errorf("Put of %d: %v", n, err)
					return
				}
				stored[w] = append(stored[w], n)
				put.Add(1)
				if _, found, err := cache.NewAnswers(s).Get(t.Context(), key); err != nil || !found[0] {
					t.Errorf("GetMany of %d: %v, %v", n, found, err)
					return
				}
			}
		})
	}
	until := func(n int64) {
		for put.Load() < n && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
	}
	for range 3 {
		until(put.Load() + 100)
		command(t, postgresStopVariable)
		time.Sleep(100 * time.Millisecond)
		command(t, postgresStartVariable)
	}
	until(put.Load() + 100)
	stop.Store(true)
	wg.Wait()
	total := 0
	for _, numbers := range stored {
		total += len(numbers)
		for _, n := range numbers {
			assert.Equal(t, newEntry(n).Answer, mustGet(t, s, newEntry(n).Request), "entry %d, whose Put had returned", n)
		}
	}
	verified(t, s, int64(total))
	t.Logf("%d entries around 3 kills of the server", total)
}

func TestPostgresProcesses(t *testing.T) { shareBetweenProcesses(t, postgresSchema(t)) }

func TestPostgresClaimsOfAKilledProcess(t *testing.T) { claimsOfAKilledProcess(t, postgresSchema(t)) }

// pooled returns the URL of a new, empty database behind PgBouncer.
func pooled(t *testing.T) string {
	t.Helper()
	server, pooler := os.Getenv(postgresVariable), os.Getenv(poolerVariable)
	if pooler == "" {
		t.Skip("$" + poolerVariable + " is not set: benchmarks/servers/postgres.sh starts one for this test")
	}
	name := fmt.Sprintf("refract_pooled_%d_%d", os.Getpid(), schemas.Add(1))
	inPostgres(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { inPostgres(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return edited(t, pooler, func(u *url.URL) { u.Path = "/" + name })
}

// The cache works the same through PgBouncer, which gives each transaction another connection.
func TestPgBouncer(t *testing.T) {
	open := func(t *testing.T) cache.Store { return open(t, pooled(t)) }
	t.Run("postgres", func(t *testing.T) { runSuite(t, open) })
	t.Run("shared", func(t *testing.T) {
		runShared(t, func(t *testing.T) opener { return place(pooled(t)) })
	})
	t.Run("processes", func(t *testing.T) { shareBetweenProcesses(t, pooled(t)) })
	t.Run("killed", func(t *testing.T) { claimsOfAKilledProcess(t, pooled(t)) })
	t.Run("search_path", func(t *testing.T) {
		other := edited(t, pooled(t), func(u *url.URL) { addQuery(u, "search_path", "other") })
		_, err := cache.Open(t.Context(), other, cache.BusyTimeout(time.Hour))
		wantError(t, err, cache.ErrUnavailable, "PgBouncer", "ALTER ROLE")
	})
}

// If the server has no free connection, the store waits and says so.
func TestPostgresTooManyClients(t *testing.T) {
	where := postgresSchema(t)
	open(t, where) // creates the tables
	role := fmt.Sprintf("refract_crowd_%d", os.Getpid())
	var schema string
	crowd := edited(t, where, func(u *url.URL) {
		schema = u.Query().Get("search_path")
		u.User = url.UserPassword(role, "crowd")
	})
	inPostgres(t, where, "CREATE ROLE "+role+" LOGIN PASSWORD 'crowd' CONNECTION LIMIT 1",
		"GRANT ALL ON SCHEMA "+schema+" TO "+role, "GRANT ALL ON ALL TABLES IN SCHEMA "+schema+" TO "+role)
	t.Cleanup(func() { inPostgres(t, where, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	held, err := pgx.Connect(t.Context(), crowd)
	require.NoError(t, err)
	_, err = cache.Open(t.Context(), crowd, cache.BusyTimeout(30*time.Millisecond))
	wantError(t, err, cache.ErrUnavailable, "as many clients as it takes", "pool_max_conns", "PgBouncer")

	var said atomic.Value
	s, err := cache.Open(t.Context(), crowd, cache.BusyTimeout(time.Second), cache.Tell(func(m string) {
		said.Store(m)
		go held.Close(t.Context())
	}))
	require.NoError(t, err)
	defer s.Close()
	m, _ := said.Load().(string)
	assert.True(t, strings.Contains(m, "still waiting for the server") && !strings.Contains(m, "crowd:"), "told %q", m)
	assert.NoError(t, putEntry(t.Context(), s, newEntry(1)))
}
