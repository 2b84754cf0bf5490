package cache

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
)

// Kinds of records.
const (
	// answerRecord is the kind of answers, which [Answers] reads and writes.
	answerRecord = "answer"
	// scoreRecord is the kind of scores, which [Scores] reads and writes.
	scoreRecord = "score"
)

// Record is what a store keeps under a key.
type Record struct {
	Key  Key
	Kind string // never ""
	// About is what the Value is of, and the Key is its SHA-256. Get does not
	// read it. It is nil where the record need not tell.
	About []byte
	Value []byte // never empty
}

// Store maps keys to records of bytes. Implementations are safe for concurrent
// use.
type Store interface {
	// Get returns the values of keys, some of which may be equal: values[i]
	// belongs to keys[i], and is nil where there is none. The caller does not
	// change them. An error comes without values.
	Get(ctx context.Context, keys []Key) (values [][]byte, err error)
	// Records yields the records of a kind, "" for all, in the order of their
	// keys. A damaged record comes with a [*damageError], after which the
	// sequence goes on; it ends after any other error.
	Records(ctx context.Context, kind string) iter.Seq2[Record, error]

	// Put stores records in one transaction, unless their keys have values:
	// the first value of a key stays. It returns the values that count. When
	// Put returns nil, the records are as durable as the store can make them;
	// when it returns an error, some may still have been stored.
	Put(ctx context.Context, records ...Record) (values [][]byte, err error)
	// Replace stores records in one transaction, over those of the same keys.
	Replace(ctx context.Context, records ...Record) error

	// Claim says for each key whether the caller may make the value: there is
	// none, and nobody else holds a live claim. The claim of a process that
	// died expires; an own claim is granted again. Whoever is not granted a
	// key looks for the value, and claims again, a little later. The holder of
	// a claim is the open store: all that use it are one.
	Claim(ctx context.Context, keys []Key) (granted []bool, err error)
	// Release gives claims up without a value. Put releases the claims of its
	// keys, and closing the store all of them. A key that is not claimed is no
	// error.
	Release(ctx context.Context, keys []Key) error
}

// checkRecords refuses what no store keeps.
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

// digest is the checksum of a record: it covers the kind, the value and the
// key, which covers what the record is about.
func digest(kind string, key Key, value []byte) [sha256.Size]byte {
	h := sha256.New()
	var enc encoding
	enc.text("refract cache " + kind + " 1").text(string(key[:]))
	h.Write(enc.bytes)
	h.Write(value)
	return [sha256.Size]byte(h.Sum(nil))
}

// row is a record as a database has it.
type row struct {
	kind                      string
	key, digest, value, about []byte
}

// record returns the record. A *damageError says what is wrong with it.
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
	return record, &damageError{Store: store, Key: fmt.Sprintf("%x", r.key), What: what}
}

// damageError says that a record does not agree with its key or its checksum.
// It is an [ErrCorrupt].
type damageError struct {
	Store string
	Key   string // as stored, in hexadecimal digits, which may itself be damaged
	What  string
}

func (e *damageError) Error() string {
	return fmt.Sprintf("cache %s: record %s: %v: %s: %s", e.Store, e.Key, ErrCorrupt, e.What, salvage(e.Store))
}

// Unwrap returns ErrCorrupt.
func (e *damageError) Unwrap() error { return ErrCorrupt }

// salvage says what to do about a damaged cache that opens.
func salvage(name string) string {
	return fmt.Sprintf("see `refract cache verify %[1]s`; `refract cache export %[1]s -o sound.jsonl` saves what is sound, and `refract cache import NEW sound.jsonl` makes a new cache of it", name)
}
