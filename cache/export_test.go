package cache

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
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
// reads values and a page of records, and how it claims, stores and gives back.
func Plans(ctx context.Context, d *Database, keys []Key) (map[string]string, error) {
	s := d.engine.(*postgresEngine)
	rows := keyRows(keys, d.claims.owner)
	asked := columns(rows)
	plans := make(map[string]string)
	return plans, pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: beginPostgresSQL}, func(tx pgx.Tx) error {
		for _, q := range []struct {
			name, sql string
			args      []any
		}{
			{"claim", claimChange.set, asked}, {"give back", unclaimChange.set, asked}, {"late", lateChange.set, asked},
			{"delete", removeChange.set, asked[:1]},
			// Outside of a transaction of ours the planner has all its ways.
			{"", "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on", nil},
			{"read", s.readSQL(), asked[:1]}, {"page", d.pageSQL(false), []any{"", keys[0][:]}},
		} {
			if q.name == "" {
				if _, err := tx.Exec(ctx, q.sql); err != nil {
					return err
				}
				continue
			}
			var line string
			if err := (postgresSession{tx}).query(ctx, "EXPLAIN "+q.sql, q.args, []any{&line}, func() error {
				plans[q.name] += line + "\n"
				return nil
			}); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
		return nil
	})
}
