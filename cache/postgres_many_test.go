package cache_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

// withQuery adds settings, as pairs of a name and a value, to a URL.
func withQuery(t testing.TB, where string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal("the URL of the server cannot be parsed")
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

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
	u, err := url.Parse(pooler)
	if err != nil {
		t.Fatal("the URL of PgBouncer cannot be parsed")
	}
	u.Path = "/" + name
	return u.String()
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
		_, err := cache.Open(t.Context(), withQuery(t, pooled(t), "search_path", "other"), cache.BusyTimeout(time.Hour))
		wantError(t, err, cache.ErrUnavailable, "PgBouncer", "ALTER ROLE")
	})
}

// If the server has no free connection, the store waits and says so.
func TestPostgresTooManyClients(t *testing.T) {
	where := postgresSchema(t)
	open(t, where) // creates the tables
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal("the URL of the server cannot be parsed")
	}
	role := fmt.Sprintf("refract_crowd_%d", os.Getpid())
	schema := u.Query().Get("search_path")
	inPostgres(t, where, "CREATE ROLE "+role+" LOGIN PASSWORD 'crowd' CONNECTION LIMIT 1",
		"GRANT ALL ON SCHEMA "+schema+" TO "+role, "GRANT ALL ON ALL TABLES IN SCHEMA "+schema+" TO "+role)
	t.Cleanup(func() { inPostgres(t, where, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	u.User = url.UserPassword(role, "crowd")
	held, err := pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	_, err = cache.Open(t.Context(), u.String(), cache.BusyTimeout(30*time.Millisecond))
	wantError(t, err, cache.ErrUnavailable, "as many clients as it takes", "pool_max_conns", "PgBouncer")

	var said atomic.Value
	s, err := cache.Open(t.Context(), u.String(), cache.BusyTimeout(time.Second), cache.Tell(func(m string) {
		said.Store(m)
		go held.Close(t.Context())
	}))
	require.NoError(t, err)
	defer s.Close()
	if m, _ := said.Load().(string); !strings.Contains(m, "still waiting for the server") || strings.Contains(m, "crowd:") {
		t.Errorf("told %q", m)
	}
	assert.NoError(t, putEntry(t.Context(), s, newEntry(1)))
}
