package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Stats describes a cache.
type Stats struct {
	File          string // or the database, without the password
	SchemaVersion int
	Bytes         int64 // of the file and its log, or of the tables

	Entries          int64 // answers
	Missing          int64 // entries without an answer's text
	PromptTokens     int64 // where the server stated them
	CompletionTokens int64

	Kinds  []Count // of endpoints, by name
	Models []Count // by name

	// Oldest and Newest are zero where no entry has a time.
	Oldest, Newest time.Time

	Records []Count // by kind
}

// Count is a number of entries that share a name.
type Count struct {
	Name    string
	Entries int64
}

// Counts counts the records by kind, and reads none.
func (d *Database) Counts(ctx context.Context) (out []Count, err error) {
	leave, err := d.enter(ctx, "count", false)
	if err != nil {
		return nil, err
	}
	defer leave()
	var c Count
	err = d.query(ctx, "SELECT kind, count(*) FROM refract_records GROUP BY kind ORDER BY kind", nil, []any{&c.Name, &c.Entries}, func() error {
		out = append(out, c)
		return nil
	})
	return out, d.explain(ctx, "count", err)
}

// Stats reads all answers. It fails at a damaged one.
func (d *Database) Stats(ctx context.Context) (Stats, error) {
	st := Stats{File: d.name, SchemaVersion: sqliteVersion}
	if IsPostgres(d.name) {
		st.SchemaVersion = postgresVersion
	}
	var err error
	if st.Records, err = d.Counts(ctx); err != nil {
		return Stats{}, err
	}
	if st.Bytes, err = d.bytes(ctx); err != nil {
		return Stats{}, d.explain(ctx, "stats", err)
	}
	kinds, models := make(map[string]int64), make(map[string]int64)
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
		kinds[e.Request.Kind]++
		models[e.Request.Model]++
		if t := e.Created; !t.IsZero() {
			if st.Oldest.IsZero() || t.Before(st.Oldest) {
				st.Oldest = t
			}
			if t.After(st.Newest) {
				st.Newest = t
			}
		}
	}
	st.Kinds, st.Models = counted(kinds), counted(models)
	return st, nil
}

// counted are counts by name.
func counted(numbers map[string]int64) (counts []Count) {
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		counts = append(counts, Count{name, numbers[name]})
	}
	return counts
}

// Report is what Verify found.
type Report struct {
	File     string    // or the database, without the password
	Entries  int64     // records of all kinds, sound or not
	Problems []Problem // none of a sound cache
}

// Problem is one thing that is wrong with a cache.
type Problem struct {
	// Key is the stored key, in hexadecimal digits, which may itself be
	// damaged; "" where the problem concerns the store.
	Key  string
	What string
}

// Verify checks the structure of a file, then reads every record, computes its
// key and checksum again, and reports all that disagrees. It changes nothing. A
// damaged database is reported as problems; an error means that the check could
// not be made.
func (d *Database) Verify(ctx context.Context) (Report, error) {
	r := Report{File: d.name}
	leave, err := d.enter(ctx, "verify", false)
	if err != nil {
		return r, err
	}
	defer leave()
	problems, err := d.check(ctx)
	for _, what := range problems {
		r.Problems = append(r.Problems, Problem{What: what})
	}
	for _, err := range []error{d.explain(ctx, "verify", err), d.verifyRecords(ctx, &r)} {
		switch {
		case errors.Is(err, ErrCorrupt):
			r.Problems = append(r.Problems, Problem{What: err.Error()})
		case err != nil:
			return Report{}, err
		}
	}
	return r, nil
}

func (d *Database) verifyRecords(ctx context.Context, r *Report) error {
	for record, err := range d.Records(ctx, "") {
		var damage *DamageError
		switch {
		case errors.As(err, &damage):
			r.Problems = append(r.Problems, Problem{damage.Key, damage.What})
		case err != nil:
			return err
		case record.Kind == AnswerRecord:
			if _, err := record.entry(); err != nil {
				r.Problems = append(r.Problems, Problem{record.Key.String(), err.Error()})
			}
		}
		r.Entries++
	}
	return nil
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
	// Kind selects answers of this kind of endpoint; "" any. [ScoreRecord]
	// selects all scores, and no answer.
	Kind string

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
	return (p.Before.IsZero() || !e.Created.IsZero() && e.Created.Before(p.Before)) &&
		(p.Model == "" || e.Request.Model == p.Model) &&
		(!p.Missing || !e.HasText || e.FinishReason == "length") &&
		(p.Kind == "" || e.Request.Kind == p.Kind)
}

// Prune deletes records, some in each transaction, and then makes a file
// smaller, for which it needs as much space again for a while. If that fails,
// the records are deleted nevertheless, and the error says so, as it says how
// many are when it ends early. A database uses the space for new records.
func (d *Database) Prune(ctx context.Context, p Prune) (done Pruned, err error) {
	if p.Before.IsZero() && p.Model == "" && !p.Missing && p.Kind == "" {
		return done, errors.New("cache: prune: nothing says which entries: name an age, a model, a kind, or those that are missing")
	}
	if p.Kind == ScoreRecord && (!p.Before.IsZero() || p.Model != "" || p.Missing) {
		return done, errors.New("cache: prune: scores have no age, no model and no missing text: prune them all, or answers")
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
		if err != nil && !p.DryRun && done.Pruned > 0 {
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
	kind := AnswerRecord
	if p.Kind == ScoreRecord {
		kind = ScoreRecord
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
		if err == nil && kind == AnswerRecord {
			e, err = record.entry()
		}
		if err != nil {
			return fmt.Errorf("prune: %w", err)
		}
		done.Entries++
		if kind == ScoreRecord || p.selects(&e) {
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
