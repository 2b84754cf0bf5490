package cache

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Stats describes a cache.
type Stats struct {
	File          string `json:"file"` // or the database, without the password
	SchemaVersion int    `json:"schema_version"`
	Bytes         int64  `json:"bytes"` // of the file and its log, or of the tables

	Entries          int64 `json:"entries"`
	Missing          int64 `json:"missing"` // entries without an answer's text
	PromptBytes      int64 `json:"prompt_bytes"`
	AnswerBytes      int64 `json:"answer_bytes"`
	PromptTokens     int64 `json:"prompt_tokens"` // where the server stated them
	CompletionTokens int64 `json:"completion_tokens"`

	Kinds  []Count `json:"kinds"`  // by name
	Models []Count `json:"models"` // by name

	// Oldest and Newest are zero where no entry has a time.
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
}

// Count is a number of entries that share a name.
type Count struct {
	Name    string `json:"name"`
	Entries int64  `json:"entries"`
}

// Stats reads the whole table, from one snapshot.
func (s *SQLite) Stats(ctx context.Context) (Stats, error) {
	st, err := s.stats(ctx)
	return st, fileError(ctx, s.file, "stats", err)
}

func (s *SQLite) stats(ctx context.Context) (Stats, error) {
	if err := s.use(); err != nil {
		return Stats{}, err
	}
	st := Stats{File: s.file}
	// The lock that _txlock asks for is not taken by a read-only transaction.
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Stats{}, err
	}
	defer tx.Rollback() // it changes nothing
	var oldest, newest sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version),
		count(*), count(*) - count(text),
		coalesce(sum(octet_length(prompt)), 0), coalesce(sum(octet_length(text)), 0),
		coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
		min(created), max(created) FROM answers`).Scan(
		&st.SchemaVersion, &st.Entries, &st.Missing, &st.PromptBytes, &st.AnswerBytes,
		&st.PromptTokens, &st.CompletionTokens, &oldest, &newest)
	if err != nil {
		return Stats{}, err
	}
	if oldest.Valid {
		st.Oldest, st.Newest = time.Unix(0, oldest.Int64).UTC(), time.Unix(0, newest.Int64).UTC()
	}
	if st.Kinds, err = counts(ctx, tx, "kind"); err != nil {
		return Stats{}, err
	}
	if st.Models, err = counts(ctx, tx, "model"); err != nil {
		return Stats{}, err
	}
	if st.Bytes, err = s.bytes(); err != nil {
		return Stats{}, err
	}
	return st, nil
}

// counts groups the entries by a column, whose name is never a user's.
func counts(ctx context.Context, tx *sql.Tx, column string) ([]Count, error) {
	found, err := tx.QueryContext(ctx, fmt.Sprintf("SELECT %[1]s, count(*) FROM answers GROUP BY %[1]s ORDER BY %[1]s", column))
	if err != nil {
		return nil, err
	}
	defer found.Close()
	list := []Count{} // [] in JSON, not null
	for found.Next() {
		var c Count
		if err := found.Scan(&c.Name, &c.Entries); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, found.Err()
}
