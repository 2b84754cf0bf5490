package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Get implements [Store]. An entry that does not agree with its own checksums
// is an error that wraps [ErrCorrupt].
func (s *SQLite) Get(ctx context.Context, key Key) (Entry, bool, error) {
	if err := s.use(); err != nil {
		return Entry{}, false, err
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, false, err
	}
	var r row
	err := s.get.QueryRowContext(ctx, key[:]).Scan(r.answer()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, fileError(ctx, s.file, "get "+key.String(), err)
	}
	e := r.entry()
	if what := r.check(e, key[:]); what != "" {
		return Entry{}, false, corrupt(s.file, "get "+key.String(), errors.New(what))
	}
	return e, true, nil
}

// Entries implements [Store]. It yields what was stored when it began, and
// ends with an error at an entry that does not agree with its checksums.
func (s *SQLite) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		stopped := false
		err := s.rows(ctx, func(r *row, unreadable error) error {
			if unreadable != nil {
				return corrupt(s.file, fmt.Sprintf("entry %x", r.key), unreadable)
			}
			e := r.entry()
			if what := r.check(e, r.key); what != "" {
				return corrupt(s.file, fmt.Sprintf("entry %x", r.key), errors.New(what))
			}
			if !yield(e, nil) {
				stopped = true
				return errStop
			}
			return nil
		})
		if err != nil && !stopped {
			yield(Entry{}, fileError(ctx, s.file, "list", err))
		}
	}
}

var errStop = errors.New("stop")

// rows calls f with every row, in the order of the keys, from one snapshot. A
// row that has values of a wrong type comes with an error. The row is
// overwritten after the call.
func (s *SQLite) rows(ctx context.Context, f func(r *row, unreadable error) error) error {
	if err := s.use(); err != nil {
		return err
	}
	found, err := s.readers.QueryContext(ctx, allSQL)
	if err != nil {
		return err
	}
	defer found.Close()
	var r row
	dest := append([]any{&r.key}, r.answer()...)
	for found.Next() {
		err := found.Scan(dest...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f(&r, err); err != nil {
			return err
		}
	}
	return found.Err()
}

// row is a row of the table.
type row struct {
	key     []byte
	e       Entry
	params  string
	text    sql.NullString
	created sql.NullInt64
	digest  []byte
}

// answer returns where to scan the columns named in columns.
func (r *row) answer() []any {
	return []any{
		&r.e.Request.Kind, &r.e.Request.Model, &r.e.Request.Revision, &r.e.Request.Prompt, &r.params, &r.e.Request.Sample,
		&r.text, &r.e.FinishReason, &r.e.ServedModel, &r.e.PromptTokens, &r.e.CompletionTokens, &r.created, &r.digest,
	}
}

func (r *row) entry() Entry {
	e := r.e
	e.Request.Params = Params(r.params)
	e.Text, e.HasText = r.text.String, r.text.Valid
	if r.created.Valid {
		e.Created = time.Unix(0, r.created.Int64).UTC()
	}
	return e
}

const badChecksum = "the answer does not agree with its checksum"

// check returns what is wrong with an entry stored under a key, or "".
func (r *row) check(e Entry, key []byte) string {
	want := e.Request.Key()
	if string(key) != string(want[:]) {
		return "the key is not the one of the request, which is " + want.String()
	}
	if digest := e.Answer.digest(want); string(r.digest) != string(digest[:]) {
		return badChecksum
	}
	if _, err := e.normalized(nil); err != nil {
		return err.Error()
	}
	return ""
}
