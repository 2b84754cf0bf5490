package cache

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Get implements [Store]. An entry that does not agree with its own checksums
// is an error that wraps [ErrCorrupt].
func (s *Postgres) Get(ctx context.Context, key Key) (Entry, bool, error) {
	leave, err := s.enter()
	if err != nil {
		return Entry{}, false, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	var r postgresRow
	err = s.again(ctx, func(ctx context.Context) error {
		r = postgresRow{}
		return s.pool.QueryRow(ctx, `SELECT key, `+columns+` FROM refract_answers WHERE key = $1`, key[:]).Scan(r.all()...)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, s.explain(ctx, "get "+key.String(), err)
	}
	e := r.entry()
	plain := r.row()
	if what := plain.check(e, key[:]); what != "" {
		return Entry{}, false, s.corrupt(key[:], what)
	}
	return e, true, nil
}

const (
	postgresPart  = 1000 // keys of one query
	postgresReads = 4    // queries of one GetMany at a time
)

// manyPostgresSQL returns the answers with their places among the keys. The
// columns of the request stay unread: the checksum covers the key.
const manyPostgresSQL = `SELECT asked.place, text, finish_reason, served_model, prompt_tokens, completion_tokens, created, digest
	FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, place) JOIN refract_answers USING (key)`

// GetMany implements [Store], in parts of 1000 keys and over several
// connections. An answer that does not agree with its checksum is an error
// that wraps [ErrCorrupt].
func (s *Postgres) GetMany(ctx context.Context, keys []Key) ([]Answer, []bool, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	answers, found := make([]Answer, len(keys)), make([]bool, len(keys))
	all, inner := errgroup.WithContext(ctx)
	all.SetLimit(postgresReads)
	for from := 0; from < len(keys); from += postgresPart {
		to := min(from+postgresPart, len(keys))
		all.Go(func() error {
			return s.again(inner, func(ctx context.Context) error {
				return s.readMany(ctx, keys[from:to], answers[from:to], found[from:to])
			})
		})
	}
	if err := all.Wait(); err != nil {
		return nil, nil, s.explain(ctx, "get", err)
	}
	return answers, found, nil
}

func (s *Postgres) readMany(ctx context.Context, keys []Key, answers []Answer, found []bool) error {
	rows, err := s.pool.Query(ctx, manyPostgresSQL, keyBytes(keys))
	if err != nil {
		return err
	}
	defer rows.Close()
	var scratch []byte
	for rows.Next() {
		var r postgresRow
		var place int
		if err := rows.Scan(append([]any{&place}, r.answer()...)...); err != nil {
			return err
		}
		place-- // Postgres counts from 1
		if place < 0 || place >= len(keys) {
			return errors.New("the answers come without their places")
		}
		a := r.entry().Answer
		var want Key
		want, scratch = a.digestWith(scratch, keys[place])
		if string(r.digest) != string(want[:]) {
			return s.corrupt(keys[place][:], badChecksum)
		}
		answers[place], found[place] = a, true
	}
	return rows.Err()
}

// Entries implements [Store]. It yields what was stored when it began, and
// ends with an error at an entry that does not agree with its checksums.
func (s *Postgres) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		stopped := false
		err := s.rows(ctx, func(r *row) error {
			e := r.entry()
			if what := r.check(e, r.key); what != "" {
				return s.corrupt(r.key, what)
			}
			if !yield(e, nil) {
				stopped = true
				return errStop
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Entry{}, s.explain(ctx, "list", err))
		}
	}
}

// rows calls f with every row, in the order of the keys, from one snapshot,
// as the server sends them. They are not asked for again when the connection
// is lost, because the snapshot is lost with it.
func (s *Postgres) rows(ctx context.Context, f func(r *row) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	rows, err := s.pool.Query(ctx, `SELECT key, `+columns+` FROM refract_answers ORDER BY key`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var r postgresRow
		if err := rows.Scan(r.all()...); err != nil {
			return err
		}
		plain := r.row()
		if err := f(&plain); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *Postgres) corrupt(key []byte, what string) error {
	return fmt.Errorf("cache %s: entry %x: %w: %s: see `refract cache verify` with this database", s.name, key, ErrCorrupt, what)
}

// postgresRow is a row of the table, as Postgres has it.
type postgresRow struct {
	key, kind, model, revision, prompt, params, text, finish, served, digest []byte

	sample, promptTokens, completionTokens int64
	created                                *int64
}

// all returns where to scan the key and the columns named in columns.
func (r *postgresRow) all() []any {
	request := []any{&r.key, &r.kind, &r.model, &r.revision, &r.prompt, &r.params, &r.sample}
	return append(request, r.answer()...)
}

// answer returns where to scan the columns from text on.
func (r *postgresRow) answer() []any {
	return []any{&r.text, &r.finish, &r.served, &r.promptTokens, &r.completionTokens, &r.created, &r.digest}
}

func (r *postgresRow) entry() Entry {
	plain := r.row()
	return plain.entry()
}

// row is the row in the types that all databases share.
func (r *postgresRow) row() row {
	plain := row{
		key: r.key, params: string(r.params), digest: r.digest,
		e: Entry{
			Request: Request{
				Kind: string(r.kind), Model: string(r.model), Revision: string(r.revision),
				Prompt: string(r.prompt), Sample: int(r.sample),
			},
			Answer: Answer{
				FinishReason: string(r.finish), ServedModel: string(r.served),
				PromptTokens: int(r.promptTokens), CompletionTokens: int(r.completionTokens),
			},
		},
	}
	plain.text.String, plain.text.Valid = string(r.text), r.text != nil
	if r.created != nil {
		plain.created.Int64, plain.created.Valid = *r.created, true
	}
	return plain
}

func keyBytes(keys []Key) [][]byte {
	b := make([][]byte, len(keys))
	for i := range keys {
		b[i] = keys[i][:]
	}
	return b
}
