package cache

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
)

// Kinds of records.
const (
	// answerRecord is the kind of the records of [Answers].
	answerRecord = "answer"
	// scoreRecord is the kind of the records of [Scores].
	scoreRecord = "score"
)

// Record is a value in a store, with its key and kind.
type Record struct {
	Key  Key
	Kind string // never ""
	// About is what the Value belongs to, such as a request; the Key is its SHA-256. Get
	// does not read it. It is nil if the record need not contain it.
	About []byte
	Value []byte // never empty
}

// Store maps keys to records of bytes. Implementations are safe for concurrent
// use.
type Store interface {
	// Get returns the values of keys, some of which may be equal. values[i] belongs to
	// keys[i], and is nil if there is none. Callers must not change them. With an error Get
	// returns no values.
	Get(ctx context.Context, keys []Key) (values [][]byte, err error)
	// Records yields the records of a kind, "" for all, in the order of their keys. A
	// damaged record yields a [*Problem], after which the sequence continues; it ends
	// after any other error.
	Records(ctx context.Context, kind string) iter.Seq2[Record, error]

	// Put stores records in one transaction. The first value of a key stays, whatever is
	// put later. Put returns the stored values. When the error is nil, the records are as
	// durable as the store can make them; otherwise some may still have been stored.
	Put(ctx context.Context, records ...Record) (values [][]byte, err error)
	// Replace stores records in one transaction, replacing those with the same keys.
	Replace(ctx context.Context, records ...Record) error

	// Claim says for each key whether the caller may make the value: it has none, and
	// nobody else holds a live claim. Claims of a dead process expire; a store's own claim
	// is granted again. A caller that is not granted a key should look for the value, and
	// claim again, a little later. Claims belong to the open store, not to its single users.
	Claim(ctx context.Context, keys []Key) (granted []bool, err error)
	// Release releases claims without storing a value. Put releases the claims of its
	// keys, and closing the store releases all. Releasing a key that is not claimed is not an
	// error.
	Release(ctx context.Context, keys []Key) error
}

// checkRecords returns an error for records that no store keeps.
func checkRecords(records []Record) error {
	for i := range records {
		switch r := &records[i]; {
		case r.Kind == "":
			return fmt.Errorf("cache: record %s refused: it has no kind", r.Key)
		case len(r.Value) == 0:
			return fmt.Errorf("cache: record %s refused: it has no value", r.Key)
		}
	}
	return nil
}

// digest returns the checksum of a record. It covers the kind, the value and the key, and
// through the key what the record is about.
func digest(kind string, key Key, value []byte) [sha256.Size]byte {
	h := sha256.New()
	var enc encoding
	enc.text("refract cache " + kind + " 1").text(string(key[:]))
	h.Write(enc.bytes)
	h.Write(value)
	return [sha256.Size]byte(h.Sum(nil))
}

// row is a record as stored in a database.
type row struct {
	kind                      string
	key, digest, value, about []byte
}

// record verifies a row and returns its record, or a *Problem.
func (r *row) record(store string) (Record, error) {
	record := Record{Kind: r.kind, Value: r.value}
	if len(r.about) > 0 {
		record.About = r.about
	}
	what := ""
	copy(record.Key[:], r.key)
	sum := digest(r.kind, record.Key, r.value)
	switch {
	case len(r.key) != len(record.Key):
		what = fmt.Sprintf("the key has %d bytes", len(r.key))
	case record.About != nil && keyOf(r.about) != record.Key:
		what = "the key is not the one of what the record is about, which is " + keyOf(r.about).String()
	case string(sum[:]) != string(r.digest):
		what = "the value does not agree with its checksum"
	default:
		return record, nil
	}
	return record, &Problem{Store: store, Key: fmt.Sprintf("%x", r.key), What: what}
}

// Problem is one fault of a cache. As an error, it says that a record does not match its key or its
// checksum, and wraps [ErrCorrupt].
type Problem struct {
	Store string
	// Key is the stored key in hexadecimal digits, which may itself be damaged; "" if the
	// problem concerns the whole store.
	Key  string
	What string
}

// Error says what to do, too.
func (p *Problem) Error() string {
	return fmt.Sprintf("cache %s: record %s: %v: %s: %s", p.Store, p.Key, ErrCorrupt, p.What, salvage(p.Store))
}

// Unwrap returns ErrCorrupt.
func (p *Problem) Unwrap() error { return ErrCorrupt }

// salvage says what to do about a damaged cache that can still be opened.
func salvage(name string) string {
	return fmt.Sprintf("see `refract cache verify %[1]s`; `refract cache export %[1]s -o sound.jsonl` saves what is sound, and `refract cache import NEW sound.jsonl` makes a new cache of it", name)
}
