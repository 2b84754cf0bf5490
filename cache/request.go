package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// keyVersion begins the encoding that a Key is computed from. It changes whenever the
// encoding changes, which makes every stored answer unreachable.
const keyVersion = "refract cache request 1"

// Request is everything that determines an answer. Two requests have the same Key if and
// only if they are equal under ==.
type Request struct {
	// Kind is the kind of endpoint, such as chat or completions; never "". A conversation of several
	// messages needs another kind than a single prompt, so that its encoding as one string cannot be
	// mistaken for a user's text.
	Kind     string `json:"kind"`
	Model    string `json:"model"`              // as sent to the server; never ""
	Revision string `json:"revision,omitempty"` // of the model's weights; "" if none is given
	Prompt   string `json:"prompt"`             // the whole prompt as sent
	Params   Params `json:"params,omitempty"`   // the sampling parameters as sent
	Sample   int    `json:"sample"`             // sample index, from 0
}

// Key identifies a record: it is the SHA-256 of what the record is about.
type Key [sha256.Size]byte

// Key returns the SHA-256 of a version string and the request's fields, each preceded by
// its length. A request that Put would refuse also has a key.
func (r Request) Key() Key { return keyOf(r.encode()) }

// keyOf returns the key of a record.
func keyOf(about []byte) Key { return sha256.Sum256(about) }

func (r *Request) encode() []byte {
	const lengths = 7 * 8 // the lengths of five fields and the version, and the sample
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

// validate returns an error if a store must refuse the request.
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
	p, err := r.Params.inForm()
	if err != nil {
		return err
	}
	if p != r.Params {
		return fmt.Errorf("params %.200q are not in canonical form (%.200q): make them with NewParams or ParseParams", r.Params, p)
	}
	return nil
}

// validText returns an error if s is not UTF-8, which could not be stored and exported
// unchanged.
func validText(name, s string) error {
	for at, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[at:], string(r)) {
			return fmt.Errorf("the %s is not valid UTF-8 (byte %d)", name, at)
		}
	}
	return nil
}
