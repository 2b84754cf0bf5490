package cache

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// line is an entry in JSON Lines. Text is null where the answer is missing.
type line struct {
	Key              string    `json:"key,omitempty"`
	Request          Request   `json:"request"`
	Text             *string   `json:"text"`
	FinishReason     string    `json:"finish_reason,omitempty"`
	ServedModel      string    `json:"served_model,omitempty"`
	PromptTokens     int       `json:"prompt_tokens,omitempty"`
	CompletionTokens int       `json:"completion_tokens,omitempty"`
	Created          time.Time `json:"created,omitzero"`
}

// Export writes all entries as JSON Lines, in the order of their keys, and
// returns their number: equal contents are equal bytes.
func Export(ctx context.Context, w io.Writer, from Lister) (int, error) {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	n := 0
	for e, err := range from.Entries(ctx) {
		if err != nil {
			return n, err
		}
		l := line{
			Key: e.Request.Key().String(), Request: e.Request,
			FinishReason: e.FinishReason, ServedModel: e.ServedModel,
			PromptTokens: e.PromptTokens, CompletionTokens: e.CompletionTokens, Created: e.Created,
		}
		if e.HasText {
			l.Text = &e.Text
		}
		if err := enc.Encode(l); err != nil {
			return n, fmt.Errorf("cache: export entry %s: %w", l.Key, err)
		}
		n++
	}
	if err := buffered.Flush(); err != nil {
		return n, fmt.Errorf("cache: export: %w", err)
	}
	return n, nil
}

// Imported counts what Import read.
type Imported struct {
	Entries   int // lines with an entry
	Added     int // stored by this call
	Present   int // stored before, with the same answer
	Different int // stored before with another text, which stays
}

// Import stores the entries of JSON Lines as Export writes them. A key may be
// left out; one that is stated must be that of the request. Blank lines and a
// byte order mark are skipped; all else that is not an entry, an unknown
// field included, is an error that names its line, counted from 1. What the
// lines before it hold is stored then, and importing it again is harmless.
func Import(ctx context.Context, r io.Reader, to Store) (Imported, error) {
	var done Imported
	buffered := bufio.NewReader(r)
	for n := 1; ; n++ {
		b, readErr := buffered.ReadBytes('\n')
		if n == 1 {
			b = bytes.TrimPrefix(b, []byte("\ufeff"))
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			if err := done.importLine(ctx, b, to); err != nil {
				return done, fmt.Errorf("cache: import: line %d: %w", n, err)
			}
		}
		if errors.Is(readErr, io.EOF) {
			return done, nil
		}
		if readErr != nil {
			return done, fmt.Errorf("cache: import: line %d: %w", n, readErr)
		}
	}
}

func (done *Imported) importLine(ctx context.Context, b []byte, to Store) error {
	e, err := parseLine(b)
	if err != nil {
		return err
	}
	before, ok, err := to.Get(ctx, e.Request.Key())
	if err != nil {
		return err
	}
	if !ok {
		if err := to.Put(ctx, e); err != nil {
			return err
		}
	}
	done.Entries++
	switch {
	case !ok:
		done.Added++
	case before.HasText == e.HasText && before.Text == e.Text:
		done.Present++
	default:
		done.Different++
	}
	return nil
}

func parseLine(b []byte) (Entry, error) {
	// encoding/json would replace what is not UTF-8 without a word.
	if err := validText("line", string(b)); err != nil {
		return Entry{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	// The raw text tells null from no text at all.
	var l struct {
		line
		Text json.RawMessage `json:"text"`
	}
	if err := dec.Decode(&l); err != nil {
		return Entry{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Entry{}, errors.New("text after the entry")
	}
	e := Entry{
		Request: l.Request, FinishReason: l.FinishReason, ServedModel: l.ServedModel,
		PromptTokens: l.PromptTokens, CompletionTokens: l.CompletionTokens, Created: l.Created,
	}
	switch string(l.Text) {
	case "":
		return Entry{}, errors.New(`no "text": a missing answer is stated as null`)
	case "null":
	default:
		if err := json.Unmarshal(l.Text, &e.Text); err != nil {
			return Entry{}, fmt.Errorf("text: %w", err)
		}
		e.HasText = true
	}
	if l.Key != "" {
		key, err := ParseKey(l.Key)
		if err != nil {
			return Entry{}, err
		}
		if want := e.Request.Key(); key != want {
			return Entry{}, fmt.Errorf("key %s is not the one of the request, which is %s", key, want)
		}
	}
	return e, nil
}
