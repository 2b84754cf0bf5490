package cache

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresBytes is the size of the tables with their indices.
const postgresBytes = `SELECT pg_total_relation_size('refract_answers') + pg_total_relation_size('refract_claims')`

// Stats reads the whole table, from one snapshot.
func (s *Postgres) Stats(ctx context.Context) (Stats, error) {
	leave, err := s.enter()
	if err != nil {
		return Stats{}, err
	}
	defer leave()
	var st Stats
	err = s.again(ctx, func(ctx context.Context) error {
		st = Stats{File: s.name, SchemaVersion: s.version}
		options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		return pgx.BeginTxFunc(ctx, s.pool, options, func(tx pgx.Tx) error { return readStats(ctx, tx, &st) })
	})
	if err != nil {
		return Stats{}, s.explain(ctx, "stats", err)
	}
	return st, nil
}

func readStats(ctx context.Context, tx pgx.Tx, st *Stats) error {
	if err := tx.QueryRow(ctx, postgresBytes).Scan(&st.Bytes); err != nil {
		return err
	}
	var oldest, newest *int64
	err := tx.QueryRow(ctx, `SELECT count(*), count(*) - count(text),
		coalesce(sum(octet_length(prompt)), 0)::bigint, coalesce(sum(octet_length(text)), 0)::bigint,
		coalesce(sum(prompt_tokens), 0)::bigint, coalesce(sum(completion_tokens), 0)::bigint,
		min(created), max(created) FROM refract_answers`).Scan(
		&st.Entries, &st.Missing, &st.PromptBytes, &st.AnswerBytes, &st.PromptTokens, &st.CompletionTokens, &oldest, &newest)
	if err != nil {
		return err
	}
	if oldest != nil {
		st.Oldest, st.Newest = time.Unix(0, *oldest).UTC(), time.Unix(0, *newest).UTC()
	}
	for _, group := range []struct {
		column string
		to     *[]Count
	}{{"kind", &st.Kinds}, {"model", &st.Models}} {
		rows, err := tx.Query(ctx, fmt.Sprintf("SELECT %[1]s, count(*) FROM refract_answers GROUP BY %[1]s ORDER BY %[1]s", group.column))
		if err != nil {
			return err
		}
		*group.to = []Count{} // [] in JSON, not null
		var name []byte
		var n int64
		if _, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
			*group.to = append(*group.to, Count{Name: string(name), Entries: n})
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Verify reads every row, computes its key and checksum again, and reports all
// that disagrees. It changes nothing. The server's own files are the server's
// matter.
func (s *Postgres) Verify(ctx context.Context) (Report, error) {
	r := Report{File: s.name, Problems: []Problem{}}
	err := s.rows(ctx, func(row *row) error {
		r.Entries++
		if what := row.check(row.entry(), row.key); what != "" {
			r.Problems = append(r.Problems, Problem{Key: hex.EncodeToString(row.key), What: what})
		}
		return nil
	})
	if err = s.explain(ctx, "verify", err); errors.Is(err, ErrCorrupt) {
		r.Problems = append(r.Problems, Problem{What: err.Error()})
	} else if err != nil {
		return Report{}, err
	}
	return r, nil
}

// Prune deletes entries in one transaction. The space is used again; the
// server gives it back to its file system only on VACUUM FULL.
func (s *Postgres) Prune(ctx context.Context, p Prune) (Pruned, error) {
	where, args, err := p.condition()
	if err != nil {
		return Pruned{}, err
	}
	leave, err := s.enter()
	if err != nil {
		return Pruned{}, err
	}
	defer leave()
	if s.readOnly && !p.DryRun {
		return Pruned{}, s.readOnlyError("prune")
	}
	where, args = postgresCondition(where, args)
	// It is not repeated: the second time would count nothing.
	var done Pruned
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, postgresBytes).Scan(&done.BytesBefore); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE `+where+`) FROM refract_answers`, args...).
			Scan(&done.Entries, &done.Pruned); err != nil || p.DryRun {
			return err
		}
		tag, err := tx.Exec(ctx, `DELETE FROM refract_answers WHERE `+where, args...)
		done.Pruned = tag.RowsAffected()
		return err
	})
	if err != nil {
		return Pruned{}, s.explain(ctx, "prune", err)
	}
	done.BytesAfter = done.BytesBefore
	if !p.DryRun {
		if err := s.pool.QueryRow(ctx, postgresBytes).Scan(&done.BytesAfter); err != nil {
			return done, s.explain(ctx, "prune: the entries are deleted, but their size is not known", err)
		}
	}
	return done, nil
}

// postgresCondition numbers the arguments, and makes bytes of texts.
func postgresCondition(where string, args []any) (string, []any) {
	var b strings.Builder
	n := 0
	for _, part := range strings.SplitAfter(where, "?") {
		if before, found := strings.CutSuffix(part, "?"); found {
			n++
			part = before + "$" + strconv.Itoa(n)
		}
		b.WriteString(part)
	}
	out := make([]any, len(args))
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			arg = []byte(s)
		}
		out[i] = arg
	}
	return b.String(), out
}
