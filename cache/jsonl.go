package cache

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/english"
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

// LossError says what an export lacks. It is an [ErrCorrupt].
type LossError struct{ Problems []Problem }

func (e *LossError) Error() string {
	return fmt.Sprintf("%v: %s left out", ErrCorrupt, english.Thousands(len(e.Problems), "record"))
}

// Unwrap returns ErrCorrupt.
func (e *LossError) Unwrap() error { return ErrCorrupt }

// Export writes all entries as JSON Lines, in the order of their keys, and
// returns their number: equal contents are equal bytes. It leaves out what is
// damaged, and ends with a [*LossError] then.
func Export(ctx context.Context, w io.Writer, from Store) (int, error) {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(buffered)
	enc.SetEscapeHTML(false)
	n, lost := 0, []Problem(nil)
	for e, err := range NewAnswers(from).Entries(ctx) {
		var damage *DamageError
		switch {
		case errors.As(err, &damage):
			lost = append(lost, Problem{damage.Key, damage.What})
			continue
		case errors.Is(err, ErrCorrupt):
			lost = append(lost, Problem{What: err.Error()})
			continue
		case err != nil:
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
	if len(lost) > 0 {
		return n, &LossError{lost}
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
	i := importer{to: NewAnswers(to)}
	buffered := bufio.NewReader(r)
	for n := 1; ; n++ {
		b, readErr := buffered.ReadBytes('\n')
		if n == 1 {
			b = bytes.TrimPrefix(b, []byte("\ufeff"))
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			e, err := i.parse(b)
			if err == nil {
				err = i.add(ctx, n, e)
			} else {
				err = cmp.Or(i.flush(ctx), atLine(n, err))
			}
			if err != nil {
				return i.done, err
			}
		}
		if readErr != nil {
			err := i.flush(ctx)
			if err == nil && !errors.Is(readErr, io.EOF) {
				err = atLine(n, readErr)
			}
			return i.done, err
		}
	}
}

func atLine(n int, err error) error { return fmt.Errorf("cache: import: line %d: %w", n, err) }

// importer stores entries together, at the price of few transactions.
type importer struct {
	to      *Answers
	done    Imported
	entries []Entry
	keys    []Key
	line    int // of the first one
}

// importBatch is how many entries are stored together.
const importBatch = 1000

// add takes an entry.
func (i *importer) add(ctx context.Context, line int, e Entry) error {
	if len(i.keys) == importBatch {
		if err := i.flush(ctx); err != nil {
			return err
		}
	}
	if len(i.keys) == 0 {
		i.line = line
	}
	i.entries, i.keys = append(i.entries, e), append(i.keys, e.Request.Key())
	return nil
}

// flush stores what waits.
func (i *importer) flush(ctx context.Context) error {
	if len(i.keys) == 0 {
		return nil
	}
	_, present, err := i.to.Get(ctx, i.keys)
	if err != nil {
		return atLine(i.line, err)
	}
	kept, err := i.to.Put(ctx, i.entries...)
	if err != nil {
		return atLine(i.line, err)
	}
	added := make(map[Key]bool)
	for n, e := range i.entries {
		i.done.Entries++
		switch key := i.keys[n]; {
		case !present[n] && !added[key]:
			added[key] = true
			i.done.Added++
		case kept[n].HasText == e.HasText && kept[n].Text == e.Text:
			i.done.Present++
		default:
			i.done.Different++
		}
	}
	i.entries, i.keys = i.entries[:0], i.keys[:0]
	return nil
}

func (i *importer) parse(b []byte) (Entry, error) {
	// The raw text tells null from no text at all.
	var l struct {
		line
		Text jsontext.Value `json:"text"`
	}
	if err := jsonv2.Unmarshal(b, &l, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Entry{}, err
	}
	e := Entry{Request: l.Request, Answer: Answer{
		FinishReason: l.FinishReason, ServedModel: l.ServedModel,
		PromptTokens: l.PromptTokens, CompletionTokens: l.CompletionTokens, Created: l.Created,
	}}
	switch string(l.Text) {
	case "":
		return Entry{}, errors.New(`no "text": a missing answer is stated as null`)
	case "null":
	default:
		if err := jsonv2.Unmarshal(l.Text, &e.Text); err != nil {
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
	return e.normalized()
}
