package cache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Answer is what a model gave in return for a request.
type Answer struct {
	// Text is the answer, any valid UTF-8. It counts only if HasText: a
	// blocked answer is missing, which is not an empty one.
	Text    string
	HasText bool

	FinishReason string // as the server gave it; "" where it gave none
	ServedModel  string // the model's name in the answer; "" where it gave none

	// Tokens as the server counted them. As a prompt has a token at least,
	// PromptTokens is 0 only where the server stated no counts.
	PromptTokens, CompletionTokens int

	// Created is when the answer arrived; the zero time is unknown. A store
	// returns it in UTC, to the nanosecond.
	Created time.Time
}

// Entry is a request with the answer to it.
type Entry struct {
	Request Request
	Answer
}

// Store maps keys to entries. Implementations are safe for concurrent use.
// Programs read and write through [Answers].
type Store interface {
	// Get returns the entry of a key, and whether there is one.
	Get(ctx context.Context, key Key) (Entry, bool, error)
	// GetMany returns the answers of keys, of which some may be equal:
	// answers[i] is that of keys[i], and found[i] says whether there is one.
	// Nothing is returned beside an error.
	GetMany(ctx context.Context, keys []Key) (answers []Answer, found []bool, err error)
	// Put stores an entry under the key of its request, unless there is one
	// already: the first one stays, which is no error. An entry that is
	// malformed or not UTF-8 is refused. When Put returns nil, an entry of
	// that key is as durable as the store can make it; when it returns an
	// error, the entry may still have been stored.
	Put(ctx context.Context, e Entry) error
	// Keep stores an entry as Put does and returns the answer to its request:
	// this one, or the one that was there before.
	Keep(ctx context.Context, e Entry) (Answer, error)
	// Claim says for each key whether the caller may ask for the answer:
	// there is none, and nobody else holds a live claim. The claim of a
	// process that died expires; an own claim is granted again. Whoever is
	// not granted a key looks for the answer, and claims again, a little later.
	// The holder of a claim is the open store: all that use it are one.
	Claim(ctx context.Context, keys []Key) (granted []bool, err error)
	// Release gives claims up without an answer. Put releases the claim of
	// its key, and Close all of them. A key that is not claimed is no error.
	Release(ctx context.Context, keys []Key) error
	// Entries yields all entries in the order of their keys. The sequence
	// ends after the first error.
	Entries(ctx context.Context) iter.Seq2[Entry, error]
}

// normalized returns the entry as every store returns it, or why it is
// refused.
func (e Entry) normalized(known *knownParams) (Entry, error) {
	if err := e.Request.validate(known); err != nil {
		return Entry{}, refused(e, err)
	}
	for _, f := range []struct{ name, value string }{
		{"answer", e.Text}, {"finish reason", e.FinishReason}, {"served model", e.ServedModel},
	} {
		if err := validText(f.name, f.value); err != nil {
			return Entry{}, refused(e, err)
		}
	}
	switch {
	case !e.HasText && e.Text != "":
		return Entry{}, refused(e, errors.New("the answer is marked as missing but has a text"))
	case e.PromptTokens < 0 || e.CompletionTokens < 0:
		return Entry{}, refused(e, fmt.Errorf("negative token counts (%d, %d)", e.PromptTokens, e.CompletionTokens))
	}
	if !e.Created.IsZero() {
		utc := time.Unix(0, e.Created.UnixNano()).UTC()
		if !utc.Equal(e.Created) {
			return Entry{}, refused(e, fmt.Errorf("the time %v is out of range (years 1678 to 2262)", e.Created))
		}
		e.Created = utc
	} else {
		e.Created = time.Time{}
	}
	return e, nil
}

func refused(e Entry, err error) error {
	return fmt.Errorf("cache: entry of model %.80q, sample %d refused: %w", e.Request.Model, e.Request.Sample, err)
}

const digestVersion = "refract cache answer 1"

// digest covers what the key does not, so that damage to a stored answer is
// noticed.
func (a *Answer) digest(key Key) [sha256.Size]byte {
	sum, _ := a.digestWith(nil, key)
	return sum
}

// digestWith is digest with a buffer, which it returns for the next call.
func (a *Answer) digestWith(buffer []byte, key Key) ([sha256.Size]byte, []byte) {
	enc := encoding{buffer[:0]}
	enc.text(digestVersion).text(string(key[:]))
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
	return sha256.Sum256(enc.bytes), enc.bytes
}
