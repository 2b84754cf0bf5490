package cache

import (
	"context"
	"fmt"
	"time"
)

// BusyTimeout is how long to wait for another process that holds a file locked,
// and how long to try to reach a database again.
func BusyTimeout(d time.Duration) Option { return func(o *options) { o.patience = d } }

// Lease is how long the claims of a process outlive it.
func Lease(d time.Duration) Option { return func(o *options) { o.lease = d } }

// MaxPages makes SQLite report a full disk at a number of pages.
func MaxPages(n int) Option { return func(o *options) { o.maxPages = n } }

// Abandon makes a store renew its lease no more, as if its process had died.
func Abandon(d *Database) { d.claims.end() }

var (
	ProcessIdentity = processIdentity
	ProcessGone     = processGone
)

// Plans returns how a Postgres server carries out what is done often: how it
// reads values and a page of records, and how it claims.
func Plans(ctx context.Context, d *Database, keys []Key) (map[string]string, error) {
	plans := make(map[string]string)
	for _, q := range []struct {
		name, sql string
		args      []any
	}{
		{"claim", d.claimSQL(len(keys)), keyArgs(keys)},
		{"read", d.readSQL(len(keys)), keyArgs(keys)},
		{"page", pageSQL(false), []any{"", keys[0][:]}},
	} {
		var line string
		if err := d.each(ctx, d.readers, "EXPLAIN "+q.sql, q.args, []any{&line}, func() error {
			plans[q.name] += line + "\n"
			return nil
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return plans, nil
}
