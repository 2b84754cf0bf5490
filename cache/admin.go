package cache

import (
	"context"
	"errors"
)

// Stats describes a cache.
type Stats struct {
	Scores           int64 // stored scores
	Entries          int64 // stored answers
	Missing          int64 // answers without a text
	PromptTokens     int64 // 0 for answers whose server gave no counts
	CompletionTokens int64
	Models           map[string]int64 // entries by model
}

// Stats counts the scores and reads all answers. A damaged answer is an error.
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

// problemOf returns the Problem for an error about damage, and false for other errors and nil.
// After a damaged record a sequence continues; after other damage it ends.
func problemOf(err error) (p Problem, damaged bool) {
	if damage, ok := errors.AsType[*Problem](err); ok {
		return *damage, true
	}
	if errors.Is(err, ErrCorrupt) {
		return Problem{What: err.Error()}, true
	}
	return Problem{}, false
}

// Verify checks the structure of a file, then reads every record and recomputes its
// key and checksum. It returns the number of records and all problems. It changes
// nothing. Damage is reported as problems; an error means that the check could not be
// made.
func (d *Database) Verify(ctx context.Context) (records int64, problems []Problem, err error) {
	leave, err := d.enter(ctx, "verify", false)
	if err != nil {
		return 0, nil, err
	}
	defer leave()
	if file, ok := d.engine.(*sqliteFile); ok { // a server checks its own files
		var structure []string
		structure, err = file.check(ctx)
		for _, what := range structure {
			problems = append(problems, Problem{What: what})
		}
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
		if err == nil || errors.As(err, new(*Problem)) {
			records++
		}
		if err := note(err); err != nil {
			return 0, nil, err
		}
	}
	return records, problems, nil
}
