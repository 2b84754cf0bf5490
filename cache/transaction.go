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
	exec(ctx context.Context, statement string, args ...any) error
	// each carries a change out for every row of arguments, of which the first
	// is a key, and says which of them have changed a row of the table. Of rows
	// with equal keys the first one counts.
	each(ctx context.Context, c *change, rows [][]any) (changed []bool, err error)
	// query calls f with every row of a query in dest.
	query(ctx context.Context, statement string, args, dest []any, f func() error) error
}

// dialect is how statements are written for a database.
type dialect struct {
	words *strings.Replacer
	// late: a claim may be granted although another process has committed the
	// value while the claim waited for that process's own.
	late bool

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
			"{unlocked}", "", "{now}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
			"{later}", "CAST((unixepoch('subsec') + ?3) * 1000 AS INTEGER)"),
		number: "unhex(format('%%016x', %s))", literal: "x'%x'", order: " ORDER BY rowid",
	}
	postgresDialect = dialect{
		words: strings.NewReplacer("{strict}", "", "{rowless}", "", "{unlocked}", "FOR UPDATE SKIP LOCKED",
			"{now}", "clock_timestamp()", "{later}", "clock_timestamp() + make_interval(secs => $3)"),
		late:   true,
		number: "int8send((%s)::bigint)", literal: `'\x%x'::bytea`,
	}
)

// change is a statement of every transaction, in two forms: SQLite runs row for
// one row of arguments, and prepares it once; Postgres runs set for arrays of
// them, in the order of their keys, and is given the keys that it has changed. So
// a batch costs one way to the server and one plan, and no connection has to know
// a statement of before, which a pooler would give to somebody else.
type change struct{ row, set string }

const (
	insertRow = `INSERT INTO refract_records (key, kind, digest, value, about) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key) DO `
	insertSet = `INSERT INTO refract_records (key, kind, digest, value, about)
	SELECT * FROM unnest($1::bytea[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[]) ON CONFLICT (key) DO `
	overwrite = `UPDATE SET kind = excluded.kind, digest = excluded.digest, value = excluded.value, about = excluded.about`

	given   = ` unnest($1::bytea[], $2::bigint[]) AS given (key, owner) `
	ofGiven = `refract_claims.key = given.key AND refract_claims.owner = given.owner`
	keys    = ` RETURNING refract_records.key`
	claimed = ` RETURNING refract_claims.key`
)

var (
	putChange     = change{insertRow + `NOTHING`, insertSet + `NOTHING` + keys}
	replaceChange = change{insertRow + overwrite, insertSet + overwrite + keys}
	removeChange  = change{`DELETE FROM refract_records WHERE key = $1`, `DELETE FROM refract_records WHERE key = ANY ($1::bytea[])` + keys}

	// claimChange takes no claim of another owner over, dead as it may be: in the
	// snapshot of a statement that waited for that owner's claim its lease may
	// be missing. Only sweep does. It locks nothing of another owner, and waits
	// for claims that are being made or given back alone.
	claimChange = change{`INSERT INTO refract_claims AS held (key, owner)
	SELECT CAST($1 AS bytea), CAST($2 AS bigint) WHERE NOT EXISTS (SELECT 1 FROM refract_records WHERE key = $1)
	ON CONFLICT (key) DO UPDATE SET owner = excluded.owner WHERE held.owner = excluded.owner`,
		`WITH given AS (SELECT key, owner FROM` + given + `WHERE NOT EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = given.key)),
	own AS (SELECT given.key FROM given JOIN refract_claims ON ` + ofGiven + ` FOR UPDATE OF refract_claims SKIP LOCKED),
	made AS (INSERT INTO refract_claims (key, owner) SELECT key, owner FROM given
		WHERE NOT EXISTS (SELECT 1 FROM refract_claims WHERE refract_claims.key = given.key) ON CONFLICT (key) DO NOTHING` + claimed + `)
	SELECT key FROM own UNION ALL SELECT key FROM made`}
	unclaimChange = change{`DELETE FROM refract_claims WHERE key = $1 AND owner = $2`,
		`DELETE FROM refract_claims USING` + given + `WHERE ` + ofGiven + claimed}
	// lateChange takes back claims of keys that have a value by now.
	lateChange = change{set: `DELETE FROM refract_claims USING` + given + `WHERE ` + ofGiven + `
	AND EXISTS (SELECT 1 FROM refract_records WHERE refract_records.key = given.key)` + claimed}
)

const (
	leaseSQL = `INSERT INTO refract_owners (id, process, expires) VALUES ($1, $2, {later})
	ON CONFLICT (id) DO UPDATE SET expires = excluded.expires`
	othersSQL = `SELECT id, process FROM refract_owners WHERE id <> $1`
	ownerSQL  = `DELETE FROM refract_owners WHERE id = $1`

	// Who sweeps waits for nobody: what is locked is being swept or taken by
	// another process.
	goneSQL    = `DELETE FROM refract_owners WHERE id IN (SELECT id FROM refract_owners WHERE id = $1 {unlocked})`
	expiredSQL = `DELETE FROM refract_owners WHERE id IN (SELECT id FROM refract_owners WHERE id <> $1 AND expires <= {now} {unlocked})`
	// straySQL relies on a lease being committed with the first claim below it
	// at the latest: no snapshot shows a claim without its owner, unless that is
	// removed.
	straySQL = `DELETE FROM refract_claims WHERE key IN
	(SELECT key FROM refract_claims WHERE NOT EXISTS (SELECT 1 FROM refract_owners WHERE id = owner) {unlocked})`
)

// writing are the changes of every transaction.
var writing = []*change{&putChange, &replaceChange, &removeChange, &claimChange, &unclaimChange}

// transaction is what a database commits together, in the order of its fields.
// Keys are sorted, each once, and records come before claims, so that no two
// transactions wait for each other.
type transaction struct {
	owner   int64
	process string
	lease   time.Duration // to be written anew; 0 leaves it
	sweep   bool          // delete what dead owners left
	// maySweep: sweep where a claim is refused, as its holder may be dead.
	maySweep bool

	put     []putRecord // sorted; of equal keys the first one counts
	replace []Record    // of equal keys, none
	remove  []Key
	claim   []Key
	release []Key
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
	t.maySweep = now.Sub(swept) >= c.lease/10 // as it is work for all who share the database
	return t
}

// carryOut runs the statements of the transaction, which can be repeated.
func (t *transaction) carryOut(ctx context.Context, s session, d *dialect) error {
	t.granted, t.swept = make(map[Key]bool, len(t.claim)), false
	if t.lease > 0 {
		if err := s.exec(ctx, leaseSQL, t.owner, t.process, t.lease.Seconds()); err != nil {
			return err
		}
	}
	if err := t.write(ctx, s); err != nil {
		return err
	}
	if t.sweep {
		if err := t.sweepDead(ctx, s); err != nil {
			return err
		}
	}
	if err := t.grant(ctx, s, d); err != nil {
		return err
	}
	// What is claimed again stays claimed.
	release := slices.DeleteFunc(slices.Clone(t.release), func(key Key) bool { return t.granted[key] })
	if _, err := s.each(ctx, &unclaimChange, keyRows(release, t.owner)); err != nil {
		return err
	}
	if t.end {
		if err := s.exec(ctx, ownerSQL, t.owner); err != nil {
			return err
		}
		return s.exec(ctx, straySQL)
	}
	if len(t.granted) < len(t.claim) && !t.swept && t.maySweep {
		// The holder may be dead, which is seldom and costs more to find out. Who
		// claims again is granted what it held.
		return t.sweepDead(ctx, s)
	}
	return nil
}

// write changes records.
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
	first, err := s.each(ctx, &putChange, rows)
	if err != nil {
		return err
	}
	for i, r := range t.put {
		*r.first = first[i]
	}
	rows = rows[:0]
	for i := range t.replace {
		rows = append(rows, row(&t.replace[i]))
	}
	if _, err := s.each(ctx, &replaceChange, rows); err != nil {
		return err
	}
	_, err = s.each(ctx, &removeChange, keyRows(t.remove))
	return err
}

// grant claims what is not granted yet.
func (t *transaction) grant(ctx context.Context, s session, d *dialect) error {
	changed, err := s.each(ctx, &claimChange, keyRows(t.claim, t.owner))
	if err != nil {
		return err
	}
	var granted []Key
	for i, key := range t.claim {
		if changed[i] {
			granted = append(granted, key)
		}
	}
	stored := make([]bool, len(granted))
	if d.late {
		if stored, err = s.each(ctx, &lateChange, keyRows(granted, t.owner)); err != nil {
			return err
		}
	}
	for i, key := range granted {
		if !stored[i] {
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
	var gone []int64
	if err := s.query(ctx, othersSQL, []any{t.owner}, []any{&id, &process}, func() error {
		if processGone(process) {
			gone = append(gone, id)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range gone {
		if err := s.exec(ctx, goneSQL, id); err != nil {
			return err
		}
	}
	if err := s.exec(ctx, expiredSQL, t.owner); err != nil {
		return err
	}
	return s.exec(ctx, straySQL)
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
