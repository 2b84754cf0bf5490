package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"
)

// Answer is a model's answer to a request.
type Answer struct {
	// Text is the answer, any valid UTF-8. It is meaningful only if HasText is true: a
	// blocked answer is missing, not empty.
	Text    string
	HasText bool

	FinishReason string // as the server gave it; "" if it gave none
	ServedModel  string // the model's name in the answer; "" if it has none

	// Tokens as counted by the server. A prompt has at least one token, so PromptTokens
	// is 0 only if the server gave no counts.
	PromptTokens, CompletionTokens int

	// Created is when the answer arrived; the zero time if unknown. A store returns it
	// in UTC, to the nanosecond.
	Created time.Time
}

// Entry is a request with its answer.
type Entry struct {
	Request Request
	Answer
}

// Answers reads and writes the answers of a store. It is safe for concurrent
// use.
type Answers struct{ store Store }

// NewAnswers returns the Answers in a store.
func NewAnswers(s Store) *Answers { return &Answers{s} }

// Get returns the answers of keys, some of which may be equal. answers[i] is the answer of
// keys[i], and found[i] says whether there is one. With an error it returns no answers.
func (a *Answers) Get(ctx context.Context, keys []Key) (answers []Answer, found []bool, err error) {
	values, err := a.store.Get(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	if len(values) != len(keys) {
		return nil, nil, fmt.Errorf("cache: the store gave %d values for %d keys", len(values), len(keys))
	}
	answers, err = decodeAnswers(keys, values)
	if err != nil {
		return nil, nil, err
	}
	found = make([]bool, len(keys))
	for i, v := range values {
		found[i] = v != nil
	}
	return answers, found, nil
}

// Put stores entries in one transaction, each under the key of its request, and returns
// the stored answers: the first answer to a request stays, whatever is put later. If an
// entry is malformed or not UTF-8, Put returns an error and stores none. When the error is
// nil, the answers are as durable as the store can make them; otherwise they may still
// have been stored.
func (a *Answers) Put(ctx context.Context, entries ...Entry) ([]Answer, error) {
	records, keys := make([]Record, len(entries)), make([]Key, len(entries))
	for i := range entries {
		e, err := entries[i].normalized()
		if err != nil {
			return nil, err
		}
		records[i] = e.record()
		keys[i] = records[i].Key
	}
	values, err := a.store.Put(ctx, records...)
	if err != nil {
		return nil, err
	}
	return decodeAnswers(keys, values)
}

// Entries yields all entries in the order of their keys. A damaged entry yields a
// [*Problem], after which the sequence continues; it ends after any other error.
func (a *Answers) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return entries(ctx, a.store, answerRecord)
}

// entries yields the answers among the records of a kind; "" means all kinds.
func entries(ctx context.Context, from Store, kind string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for record, err := range from.Records(ctx, kind) {
			if err == nil && record.Kind != answerRecord {
				continue
			}
			var e Entry
			if err == nil {
				e, err = record.entry(from)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func decodeAnswers(keys []Key, values [][]byte) ([]Answer, error) {
	answers := make([]Answer, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		if err := answers[i].decode(v); err != nil {
			return nil, fmt.Errorf("cache: entry %s: %w: %w", keys[i], ErrCorrupt, err)
		}
	}
	return answers, nil
}

// normalized returns the entry in the form in which stores return it, or an error if it
// must be refused.
func (e Entry) normalized() (Entry, error) {
	if err := e.Request.validate(); err != nil {
		return Entry{}, refused(e, err)
	}
	for _, f := range []struct{ name, value string }{
		{"answer", e.Text}, {"finish reason", e.FinishReason}, {"served model", e.ServedModel},
	} {
		if err := validText(f.name, f.value); err != nil {
			return Entry{}, refused(e, err)
		}
	}
	created := e.Created
	if e.Created = (time.Time{}); !created.IsZero() {
		e.Created = time.Unix(0, created.UnixNano()).UTC()
	}
	switch {
	case !e.HasText && e.Text != "":
		return Entry{}, refused(e, errors.New("the answer is marked as missing but has a text"))
	case e.PromptTokens < 0 || e.CompletionTokens < 0:
		return Entry{}, refused(e, fmt.Errorf("negative token counts (%d, %d)", e.PromptTokens, e.CompletionTokens))
	case !e.Created.Equal(created):
		return Entry{}, refused(e, fmt.Errorf("the time %v is out of range (years 1678 to 2262)", created))
	}
	return e, nil
}

func refused(e Entry, err error) error {
	return fmt.Errorf("cache: entry of model %.80q, sample %d refused: %w", e.Request.Model, e.Request.Sample, err)
}

// record encodes an entry as a record.
func (e *Entry) record() Record {
	about := e.Request.encode()
	return Record{Key: keyOf(about), Kind: answerRecord, About: about, Value: e.Answer.encode()}
}

// entry decodes what Entry.record encoded.
func (r *Record) entry(of Store) (e Entry, err error) {
	if err = e.Request.decode(r.About); err == nil {
		err = e.Answer.decode(r.Value)
	}
	if err != nil {
		return Entry{}, &Problem{fmt.Sprint(of), r.Key.String(), err.Error()}
	}
	return e, nil
}

// encode returns the answer as bytes. A missing text or time is the number 0; a present one
// follows the number 1.
func (a *Answer) encode() []byte {
	const lengths = 8 * 8 // the lengths of three texts, and five numbers
	enc := encoding{make([]byte, 0, lengths+len(a.Text)+len(a.FinishReason)+len(a.ServedModel))}
	if a.HasText {
		enc.number(1).text(a.Text)
	} else {
		enc.number(0)
	}
	enc.text(a.FinishReason).text(a.ServedModel).
		number(int64(a.PromptTokens)).number(int64(a.CompletionTokens))
	if a.Created.IsZero() {
		enc.number(0)
	} else {
		enc.number(1).number(a.Created.UnixNano())
	}
	return enc.bytes
}

// decode reads what encode returns.
func (a *Answer) decode(b []byte) error {
	d := decoding{rest: b}
	if a.HasText = d.flag(); a.HasText {
		a.Text = string(d.text())
	}
	a.FinishReason, a.ServedModel = string(d.text()), string(d.text())
	a.PromptTokens, a.CompletionTokens = int(d.number()), int(d.number())
	if d.flag() {
		a.Created = time.Unix(0, d.number()).UTC()
	}
	return d.end("an answer")
}

// encoding builds unambiguous bytes: values of variable length are preceded by their
// length.
type encoding struct{ bytes []byte }

func (e *encoding) text(s string) *encoding {
	e.bytes = append(binary.BigEndian.AppendUint64(e.bytes, uint64(len(s))), s...)
	return e
}

func (e *encoding) number(n int64) *encoding {
	e.bytes = binary.BigEndian.AppendUint64(e.bytes, uint64(n))
	return e
}

// decoding reads what encoding built.
type decoding struct {
	rest []byte
	bad  bool
}

func (d *decoding) number() int64 {
	if len(d.rest) < 8 {
		d.bad = true
		return 0
	}
	n := binary.BigEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return int64(n)
}

func (d *decoding) text() []byte {
	n := d.number()
	if d.bad || n < 0 || n > math.MaxInt32 && n > int64(len(d.rest)) || int(n) > len(d.rest) {
		d.bad = true
		return nil
	}
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}

func (d *decoding) flag() bool {
	n := d.number()
	d.bad = d.bad || n < 0 || n > 1
	return n == 1
}

func (d *decoding) end(what string) error {
	if d.bad || len(d.rest) > 0 {
		return fmt.Errorf("its bytes do not encode %s", what)
	}
	return nil
}
