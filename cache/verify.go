package cache

import (
	"context"
	"encoding/hex"
	"errors"
)

// Report is what Verify found.
type Report struct {
	File     string    `json:"file"`     // or the database, without the password
	Entries  int64     `json:"entries"`  // rows, sound or not
	Problems []Problem `json:"problems"` // empty for a sound file
}

// Problem is one thing that is wrong with a cache.
type Problem struct {
	// Key is the stored key, in hexadecimal digits, which may itself be
	// damaged; "" where the problem concerns the store.
	Key  string `json:"key,omitempty"`
	What string `json:"what"`
}

// Verify runs SQLite's integrity check, then reads every row, computes its key
// and checksum again, and reports all that disagrees. It changes nothing. A
// damaged file is reported as problems; an error means that the check could
// not be made.
func (s *SQLite) Verify(ctx context.Context) (Report, error) {
	r := Report{File: s.file, Problems: []Problem{}}
	for _, check := range []func(context.Context, *Report) error{s.checkIntegrity, s.checkRows} {
		err := fileError(ctx, s.file, "verify", check(ctx, &r))
		switch {
		case errors.Is(err, ErrCorrupt):
			r.Problems = append(r.Problems, Problem{What: err.Error()})
		case err != nil:
			return Report{}, err
		}
	}
	return r, nil
}

func (s *SQLite) checkIntegrity(ctx context.Context, r *Report) error {
	if err := s.use(); err != nil {
		return err
	}
	found, err := s.readers.QueryContext(ctx, "PRAGMA integrity_check")
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var what string
		if err := found.Scan(&what); err != nil {
			return err
		}
		if what != "ok" {
			r.Problems = append(r.Problems, Problem{What: "SQLite: " + what})
		}
	}
	return found.Err()
}

func (s *SQLite) checkRows(ctx context.Context, r *Report) error {
	return s.rows(ctx, func(row *row, unreadable error) error {
		r.Entries++
		what := ""
		if unreadable != nil {
			what = unreadable.Error()
		} else {
			what = row.check(row.entry(), row.key)
		}
		if what != "" {
			r.Problems = append(r.Problems, Problem{Key: hex.EncodeToString(row.key), What: what})
		}
		return nil
	})
}
