package cache

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Stats describes a cache.
type Stats struct {
	Bytes  int64 // of the file and its log, or of the tables
	Scores int64 // that are stored

	Entries          int64 // answers
	Missing          int64 // entries without an answer's text
	PromptTokens     int64 // where the server stated them
	CompletionTokens int64
	Models           map[string]int64 // entries by model

	// Oldest and Newest are zero where no entry has a time.
	Oldest, Newest time.Time
}

// Scores counts the stored scores, and reads none.
func (d *Database) Scores(ctx context.Context) (n int64, err error) {
	leave, err := d.enter(ctx, "count", false)
	if err != nil {
		return 0, err
	}
	defer leave()
	err = d.query(ctx, "SELECT count(*) FROM refract_records WHERE kind = $1", []any{scoreRecord}, []any{&n}, func() error { return nil })
	return n, d.explain(ctx, "count", err)
}

// Stats reads all answers. It fails at a damaged one.
func (d *Database) Stats(ctx context.Context) (st Stats, err error) {
	st.Models = make(map[string]int64)
	if st.Scores, err = d.Scores(ctx); err != nil {
		return Stats{}, err
	}
	if st.Bytes, err = d.bytes(ctx); err != nil {
		return Stats{}, d.explain(ctx, "stats", err)
	}
	for e, err := range NewAnswers(d).Entries(ctx) {
		if err != nil {
			return Stats{}, err
		}
		st.Entries++
		if !e.HasText {
			st.Missing++
		}
		st.PromptTokens += int64(e.PromptTokens)
		st.CompletionTokens += int64(e.CompletionTokens)
		st.Models[e.Request.Model]++
		if t := e.Created; !t.IsZero() {
			if st.Oldest.IsZero() || t.Before(st.Oldest) {
				st.Oldest = t
			}
			if t.After(st.Newest) {
				st.Newest = t
			}
		}
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
	var damage *DamageError
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
		if err == nil || errors.As(err, new(*DamageError)) {
			records++
		}
		if err := note(err); err != nil {
			return 0, nil, err
		}
	}
	return records, problems, nil
}

// Prune says which records to delete: those for which all that is set holds.
type Prune struct {
	// Before selects answers that arrived before this time. One whose time
	// is unknown is not selected.
	Before time.Time
	// Model selects answers that this model was asked for; "" any.
	Model string
	// Missing selects answers that are withheld or cut: without a text, or
	// with "length" as the reason of their end.
	Missing bool
	// Scores selects all scores, and no answer.
	Scores bool

	DryRun bool // only count
}

// Pruned is what Prune did, or would do.
type Pruned struct {
	Entries int64 // before: answers, or scores if they are selected
	Pruned  int64
	// Bytes of the store before and after; equal after a dry run.
	BytesBefore, BytesAfter int64
}

func (p *Prune) selects(e *Entry) bool {
	return p.Scores || (p.Before.IsZero() || !e.Created.IsZero() && e.Created.Before(p.Before)) &&
		(p.Model == "" || e.Request.Model == p.Model) &&
		(!p.Missing || !e.HasText || e.FinishReason == "length")
}

// Prune deletes records, some in each transaction, and then makes a file
// smaller, for which it needs as much space again for a while. If that fails,
// the records are deleted nevertheless, and the error says so, as it says how
// many are when it ends early. A database uses the space for new records.
func (d *Database) Prune(ctx context.Context, p Prune) (done Pruned, err error) {
	if some := !p.Before.IsZero() || p.Model != "" || p.Missing; some == p.Scores {
		return done, errors.New("cache: prune: say which answers, by an age, a model, or that they are missing; or say that all scores are meant")
	}
	leave, err := d.enter(ctx, "prune", !p.DryRun)
	if err != nil {
		return done, err
	}
	defer leave()
	if done.BytesBefore, err = d.bytes(ctx); err != nil {
		return Pruned{}, d.explain(ctx, "prune", err)
	}
	done.BytesAfter = done.BytesBefore
	if err := d.prune(ctx, p, &done); err != nil || p.DryRun {
		if err != nil && done.Pruned > 0 {
			err = fmt.Errorf("%w; %d entries were deleted before", err, done.Pruned)
		}
		return done, err
	}
	if err = d.compact(ctx); err == nil {
		done.BytesAfter, err = d.bytes(ctx)
	}
	return done, d.explain(ctx, "prune: the records are deleted, but the file could not be made smaller", err)
}

// prune counts what is selected, and deletes it unless the run is dry.
func (d *Database) prune(ctx context.Context, p Prune, done *Pruned) error {
	kind := answerRecord
	if p.Scores {
		kind = scoreRecord
	}
	var keys []Key
	flush := func() error {
		if !p.DryRun {
			if err := d.Delete(ctx, keys); err != nil {
				return err
			}
		}
		done.Pruned += int64(len(keys))
		keys = keys[:0]
		return nil
	}
	for record, err := range d.Records(ctx, kind) {
		var e Entry
		if err == nil && !p.Scores {
			e, err = record.entry(d)
		}
		if err != nil {
			return fmt.Errorf("prune: %w", err)
		}
		done.Entries++
		if p.selects(&e) {
			keys = append(keys, record.Key)
		}
		if len(keys) == recordsPage {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
