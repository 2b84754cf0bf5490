package cache

import (
	"context"
	"errors"
)

// Stats describes a cache.
type Stats struct {
	Scores           int64 // that are stored
	Entries          int64 // answers
	Missing          int64 // entries without an answer's text
	PromptTokens     int64 // where the server stated them
	CompletionTokens int64
	Models           map[string]int64 // entries by model
}

// Stats counts the scores and reads all answers. It fails at a damaged one.
func (d *Database) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Models: make(map[string]int64)}
	leave, err := d.enter(ctx, "stats", false)
	if err != nil {
		return st, err
	}
	defer leave()
	if err := d.query(ctx, "SELECT count(*) FROM refract_records WHERE kind = $1", []any{scoreRecord}, []any{&st.Scores}, func() error { return nil }); err != nil {
		return st, d.explain(ctx, "stats", err)
	}
	for e, err := range NewAnswers(d).Entries(ctx) {
		if err != nil {
			return st, err
		}
		st.Entries++
		if !e.HasText {
			st.Missing++
		}
		st.PromptTokens += int64(e.PromptTokens)
		st.CompletionTokens += int64(e.CompletionTokens)
		st.Models[e.Request.Model]++
	}
	return st, nil
}

// Problem is one thing that is wrong with a cache.
type Problem struct {
	// Key is the stored key, in hexadecimal digits, which may itself be
	// damaged; "" where the problem concerns the store.
	Key  string
	What string
}

// problemOf makes a problem of an error that says what is damaged, and is false for
// another or none. Behind a damaged record a sequence goes on; else it has ended.
func problemOf(err error) (p Problem, damaged bool) {
	var damage *damageError
	switch {
	case errors.As(err, &damage):
		return Problem{damage.Key, damage.What}, true
	case errors.Is(err, ErrCorrupt):
		return Problem{What: err.Error()}, true
	}
	return Problem{}, false
}

// Verify checks the structure of a file, then reads every record, computes its
// key and checksum again, and returns how many records there are and all that
// disagrees. It changes nothing. A damaged database is reported as problems; an
// error means that the check could not be made.
func (d *Database) Verify(ctx context.Context) (records int64, problems []Problem, err error) {
	leave, err := d.enter(ctx, "verify", false)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	structure, err := d.check(ctx)
	for _, what := range structure {
		problems = append(problems, Problem{What: what})
	}
	note := func(err error) error {
		problem, damaged := problemOf(err)
		if !damaged {
			return err
		}
		problems = append(problems, problem)
		return nil
	}
	if err := note(d.explain(ctx, "verify", err)); err != nil {
		return 0, nil, err
	}
	for record, err := range d.Records(ctx, "") {
		if err == nil && record.Kind == answerRecord {
			_, err = record.entry(d)
		}
		if err == nil || errors.As(err, new(*damageError)) {
			records++
		}
		if err := note(err); err != nil {
			return 0, nil, err
		}
	}
	return records, problems, nil
}
