package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The kinds of endpoint that this package names. Another name is allowed.
const (
	// KindChat is a chat endpoint that is sent one user message, whose text
	// is the prompt. A conversation of more messages needs a kind of its own,
	// so that its encoding as one string cannot be taken for a user's text.
	KindChat = "chat"
	// KindCompletions is a legacy completions endpoint.
	KindCompletions = "completions"
)

// keyVersion heads the encoding under a Key. It changes whenever the encoding
// does, which makes every stored answer unreachable.
const keyVersion = "refract cache request 1"

// Request is all that determines an answer. Requests that are equal under ==
// have the same Key, and no others do.
type Request struct {
	Kind     string `json:"kind"`               // kind of endpoint, such as KindChat; never ""
	Model    string `json:"model"`              // as sent to the server; never ""
	Revision string `json:"revision,omitempty"` // of the model's weights; "" where none is named
	Prompt   string `json:"prompt"`             // the whole prompt as sent
	Params   Params `json:"params,omitempty"`   // the sampling parameters as sent
	Sample   int    `json:"sample"`             // sample index, from 0
}

// Key identifies a record: the SHA-256 of what it is about.
type Key [sha256.Size]byte

// Key returns the SHA-256 of the request's fields, each with its length
// before it, after a version string. It never fails; a request that Put would
// refuse has a key too.
func (r Request) Key() Key { return keyOf(r.encode()) }

// keyOf is the key of a record about something.
func keyOf(about []byte) Key { return sha256.Sum256(about) }

func (r *Request) encode() []byte {
	const lengths = 7 * 8 // of five fields and the version, and the sample
	enc := encoding{make([]byte, 0, lengths+len(keyVersion)+
		len(r.Kind)+len(r.Model)+len(r.Revision)+len(r.Prompt)+len(r.Params))}
	enc.text(keyVersion).
		text(r.Kind).text(r.Model).text(r.Revision).
		text(r.Prompt).text(string(r.Params)).
		number(int64(r.Sample))
	return enc.bytes
}

// decode reads what encode returns.
func (r *Request) decode(b []byte) error {
	d := decoding{rest: b}
	if string(d.text()) != keyVersion {
		d.bad = true
	}
	r.Kind, r.Model, r.Revision = string(d.text()), string(d.text()), string(d.text())
	r.Prompt, r.Params = string(d.text()), Params(d.text())
	r.Sample = int(d.number())
	return d.end("a request")
}

// String returns the key as 64 lower-case hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// validate returns why a store must refuse the request.
func (r Request) validate() error {
	for _, f := range []struct{ name, value string }{
		{"kind", r.Kind}, {"model", r.Model}, {"revision", r.Revision}, {"prompt", r.Prompt},
	} {
		if err := validText(f.name, f.value); err != nil {
			return err
		}
	}
	switch {
	case r.Kind == "":
		return errors.New("the request names no kind of endpoint")
	case r.Model == "":
		return errors.New("the request names no model")
	case r.Sample < 0:
		return fmt.Errorf("sample index %d is negative", r.Sample)
	}
	p, err := parseParams(string(r.Params))
	if err != nil {
		return err
	}
	if p != r.Params {
		return fmt.Errorf("params %.200q are not in canonical form (%.200q): make them with NewParams or ParseParams", r.Params, p)
	}
	return nil
}

// validText refuses what is not UTF-8: it could not be stored and exported
// without a change.
func validText(name, s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	at := 0
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return fmt.Errorf("the %s is not valid UTF-8 (byte %d)", name, at)
}
