package cache

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"
)

// session is where statements run: a transaction, or a connection outside of
// one. A statement is one of those below, which both databases understand once
// a dialect has written it; its parameters are $1, $2 and so on.
type session interface {
	// each runs a statement for every row of arguments, and says how many rows
	// of the table each has changed.
	each(ctx context.Context, statement string, rows ...[]any) (changed []int64, err error)
	// query calls f with every row of a query in dest.
	query(ctx context.Context, statement string, args, dest []any, f func() error) error
}

// dialect is how statements are written for a database.
type dialect struct {
	words *strings.Replacer
	// stored, if it is not "", takes back claims of keys whose value another
	// process committed while the claim waited for that process's own.
	stored string

	// Of older versions:
	number  string // format of 8 bytes, the highest first
	literal string // format of a constant
	order   string // in which records are moved
}

func (d *dialect) text(statement string) string { return d.words.Replace(statement) }

var (
	sqliteDialect = dialect{
		words: strings.NewReplacer("refract_", "", "$", "?", "bytea", "BLOB", "bigint", "INTEGER", "timestamptz", "INTEGER",
			"{strict}", " STRICT", "{rowless}", " STRICT, WITHOUT ROWID",
			"{now}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
			"{later}", "CAST((unixepoch('subsec') + ?3) * 1000 AS INTEGER)"),
		number: "unhex(format('%%016x', %s))", literal: "x'%x'", order: " ORDER BY rowid",
	}
	postgresDialect = dialect{
		words: strings.NewReplacer("{strict}", "", "{rowless}", "",
			"{now}", "clock_timestamp()", "{later}", "clock_timestamp() + make_interval(secs => $3)"),
		stored: `DELETE FROM refract_claims WHERE key = $1 AND owner = $2
	AND EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = refract_claims.key)`,
		number: "int8send((%s)::bigint)", literal: `'\x%x'::bytea`,
	}
)

const (
	insertSQL = `INSERT INTO refract_records (key, kind, digest, value, about) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (key) DO `
	putSQL     = insertSQL + `NOTHING`
	replaceSQL = insertSQL + `UPDATE SET kind = excluded.kind, digest = excluded.digest, value = excluded.value, about = excluded.about`
	removeSQL  = `DELETE FROM refract_records WHERE key = $1`

	// claimSQL takes no claim of another owner over, dead as it may be: in the
	// snapshot of a statement that waited for that owner's claim its lease may
	// be missing. Only sweep does.
	claimSQL = `INSERT INTO refract_claims AS held (key, owner)
	SELECT CAST($1 AS bytea), CAST($2 AS bigint) WHERE NOT EXISTS (SELECT 1 FROM refract_records WHERE key = $1)
	ON CONFLICT (key) DO UPDATE SET owner = excluded.owner WHERE held.owner = excluded.owner`
	unclaimSQL = `DELETE FROM refract_claims WHERE key = $1 AND owner = $2`

	leaseSQL = `INSERT INTO refract_owners (id, process, expires) VALUES ($1, $2, {later})
	ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`
	othersSQL  = `SELECT id, process FROM refract_owners WHERE id <> $1`
	expiredSQL = `DELETE FROM refract_owners WHERE id <> $1 AND expires <= {now}`
	ownerSQL   = `DELETE FROM refract_owners WHERE id = $1`
	// straySQL relies on a lease being committed with the first claim below it
	// at the latest: no snapshot shows a claim without its owner, unless that is
	// removed.
	straySQL = `DELETE FROM refract_claims WHERE NOT EXISTS (SELECT 1 FROM refract_owners WHERE id = owner)`
)

// writingSQL are the statements of every transaction.
var writingSQL = []string{putSQL, replaceSQL, removeSQL, claimSQL, unclaimSQL}

// transaction is what a database commits together, in the order of its fields.
// Keys are sorted, each once, so that no two transactions wait for each other.
type transaction struct {
	owner   int64
	process string
	lease   time.Duration // to be written anew; 0 leaves it
	sweep   bool          // delete what dead owners left
	// maySweep: sweep where a claim is refused, as its holder may be dead.
	maySweep bool

	put     []putRecord // sorted; of equal keys the first one counts
	replace []Record    // of equal keys, none
	release []Key
	remove  []Key
	claim   []Key
	end     bool // delete the owner

	granted map[Key]bool
	swept   bool
	began   time.Time
}

// putRecord is a record to put, with the place for whether it was the first.
type putRecord struct {
	*Record
	first *bool
}

func newTransaction(batch []*operation, c *claims, now time.Time) *transaction {
	t := &transaction{owner: c.owner, process: c.process, began: now}
	renew := false
	for _, op := range batch {
		switch op.kind {
		case opPut:
			for i := range op.records {
				t.put = append(t.put, putRecord{&op.records[i], &op.first[i]})
				t.release = append(t.release, op.records[i].Key)
			}
		case opReplace:
			t.replace = append(t.replace, op.records...)
		case opDelete:
			t.remove = append(t.remove, op.keys...)
		case opClaim:
			t.claim = append(t.claim, op.keys...)
		case opRelease:
			t.release = append(t.release, op.keys...)
		case opRenew:
			renew = true
		case opEnd:
			t.end = true
		}
	}
	slices.SortStableFunc(t.put, func(a, b putRecord) int { return compareKeys(a.Key, b.Key) })
	t.replace = lastOfEach(t.replace)
	t.claim, t.remove = distinct(t.claim), distinct(t.remove)
	if t.release = distinct(t.release); !c.made() {
		t.release = nil
	}
	due, first, swept := c.due(now)
	if renew || len(t.claim) > 0 && due {
		t.lease, t.sweep = c.lease, first
	}
	t.maySweep = now.Sub(swept) >= time.Second
	return t
}

// carryOut runs the statements of the transaction, which can be repeated.
func (t *transaction) carryOut(ctx context.Context, s session, d *dialect) error {
	t.granted, t.swept = make(map[Key]bool, len(t.claim)), false
	if t.lease > 0 {
		if _, err := s.each(ctx, leaseSQL, []any{t.owner, t.process, t.lease.Seconds()}); err != nil {
			return err
		}
	}
	if t.sweep {
		if err := t.sweepDead(ctx, s); err != nil {
			return err
		}
	}
	if err := t.write(ctx, s); err != nil {
		return err
	}
	if err := t.grant(ctx, s, d); err != nil || len(t.granted) == len(t.claim) || !t.maySweep {
		return err
	}
	// The holder may be dead, which is seldom and costs more to find out.
	if err := t.sweepDead(ctx, s); err != nil {
		return err
	}
	return t.grant(ctx, s, d)
}

func (t *transaction) write(ctx context.Context, s session) error {
	var scratch []byte
	row := func(r *Record) []any {
		var sum Key
		sum, scratch = digest(scratch, r.Kind, r.Key, r.Value)
		return []any{r.Key[:], r.Kind, sum[:], r.Value, r.About}
	}
	rows := make([][]any, len(t.put))
	for i, r := range t.put {
		rows[i] = row(r.Record)
	}
	changed, err := s.each(ctx, putSQL, rows...)
	if err != nil {
		return err
	}
	for i, r := range t.put {
		*r.first = changed[i] > 0
	}
	rows = rows[:0]
	for i := range t.replace {
		rows = append(rows, row(&t.replace[i]))
	}
	if _, err := s.each(ctx, replaceSQL, rows...); err != nil {
		return err
	}
	if _, err := s.each(ctx, unclaimSQL, keyRows(t.release, t.owner)...); err != nil {
		return err
	}
	if _, err := s.each(ctx, removeSQL, keyRows(t.remove)...); err != nil {
		return err
	}
	if t.end {
		if _, err := s.each(ctx, ownerSQL, []any{t.owner}); err != nil {
			return err
		}
		_, err = s.each(ctx, straySQL, nil)
	}
	return err
}

// grant claims what is not granted yet.
func (t *transaction) grant(ctx context.Context, s session, d *dialect) error {
	changed, err := s.each(ctx, claimSQL, keyRows(t.claim, t.owner)...)
	if err != nil {
		return err
	}
	var granted []Key
	for i, key := range t.claim {
		if changed[i] > 0 {
			granted = append(granted, key)
		}
	}
	stored := make([]int64, len(granted))
	if d.stored != "" {
		if stored, err = s.each(ctx, d.stored, keyRows(granted, t.owner)...); err != nil {
			return err
		}
	}
	for i, key := range granted {
		if stored[i] == 0 {
			t.granted[key] = true
		}
	}
	return nil
}

// sweepDead removes the owners whose lease has ended or whose process is gone,
// and their claims.
func (t *transaction) sweepDead(ctx context.Context, s session) error {
	t.swept = true
	var id int64
	var process string
	var gone [][]any
	if err := s.query(ctx, othersSQL, []any{t.owner}, []any{&id, &process}, func() error {
		if processGone(process) {
			gone = append(gone, []any{id})
		}
		return nil
	}); err != nil {
		return err
	}
	if _, err := s.each(ctx, ownerSQL, gone...); err != nil {
		return err
	}
	if _, err := s.each(ctx, expiredSQL, []any{t.owner}); err != nil {
		return err
	}
	_, err := s.each(ctx, straySQL, nil)
	return err
}

// keyRows are the arguments of a statement for each key.
func keyRows(keys []Key, more ...any) [][]any {
	rows := make([][]any, len(keys))
	for i := range keys {
		rows[i] = append([]any{keys[i][:]}, more...)
	}
	return rows
}

func compareKeys(a, b Key) int { return bytes.Compare(a[:], b[:]) }

func distinct(keys []Key) []Key {
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

func lastOfEach(records []Record) []Record {
	slices.SortStableFunc(records, func(a, b Record) int { return compareKeys(a.Key, b.Key) })
	slices.Reverse(records)
	records = slices.CompactFunc(records, func(a, b Record) bool { return a.Key == b.Key })
	slices.Reverse(records)
	return records
}
