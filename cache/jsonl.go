package cache

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/refract-eval/refract/internal/jsonline"
)

// line is an entry as a line of JSON. Text is null if the answer is missing.
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

// Export writes all entries as JSON Lines, in the order of their keys, and returns their
// number. Equal contents give equal bytes. It skips damaged entries and returns them as
// lost.
func Export(ctx context.Context, w io.Writer, from Store) (n int, lost []Problem, err error) {
	buffered := bufio.NewWriter(w)
	enc := json.NewEncoder(jsonline.Escaping{To: buffered})
	enc.SetEscapeHTML(false)
	for e, err := range entries(ctx, from, "") { // damage may have changed an answer's kind
		if problem, damaged := problemOf(err); damaged {
			lost = append(lost, problem)
			continue
		}
		if err != nil {
			return n, lost, err
		}
		l := line{e.Request.Key().String(), e.Request, &e.Text, e.FinishReason, e.ServedModel, e.PromptTokens, e.CompletionTokens, e.Created}
		if !e.HasText {
			l.Text = nil
		}
		if err := enc.Encode(l); err != nil {
			return n, lost, fmt.Errorf("cache: export entry %s: %w", l.Key, err)
		}
		n++
	}
	if err := buffered.Flush(); err != nil {
		return n, lost, fmt.Errorf("cache: export: %w", err)
	}
	return n, lost, nil
}

// Imported counts what Import read.
type Imported struct {
	Entries   int // lines with an entry
	Added     int // entries stored by this call
	Different int // entries stored before with another text, which stays
}

// importBatch is the number of entries stored in one transaction.
const importBatch = 1000

// maxLine bounds a line of Import in bytes.
const maxLine = 64 << 20

// Import stores entries in JSON Lines, as Export writes them. The key may be left out; if
// it is given, it must be the key of the request. Blank lines and a byte order mark are
// skipped. Anything else that is not an entry, including an unknown field, is an error
// that names its line, counted from 1. The entries before that line may have been stored;
// importing them again is harmless.
func Import(ctx context.Context, r io.Reader, to Store) (done Imported, err error) {
	var batch []Entry
	first := 1 // first line of the batch
	flush := func(next int) error {
		if len(batch) == 0 {
			return nil
		}
		if err := done.store(ctx, NewAnswers(to), batch); err != nil {
			return atLine(first, err)
		}
		batch, first = batch[:0], next
		return nil
	}
	for l, err := range jsonline.Lines(r, maxLine) {
		var e Entry
		if err == nil {
			e, err = parseEntry(l.Text)
		}
		if err != nil {
			return done, cmp.Or(flush(l.Number), atLine(l.Number, err))
		}
		if batch = append(batch, e); len(batch) == importBatch {
			if err := flush(l.Number + 1); err != nil {
				return done, err
			}
		}
	}
	return done, flush(0)
}

func atLine(n int, err error) error { return fmt.Errorf("line %d: %w", n, err) }

// store stores entries, and counts them.
func (i *Imported) store(ctx context.Context, to *Answers, entries []Entry) error {
	keys := make([]Key, len(entries))
	for n := range entries {
		keys[n] = entries[n].Request.Key()
	}
	_, present, err := to.Get(ctx, keys)
	if err != nil {
		return err
	}
	kept, err := to.Put(ctx, entries...)
	if err != nil {
		return err
	}
	added := make(map[Key]bool)
	for n, e := range entries {
		i.Entries++
		switch {
		case !present[n] && !added[keys[n]]:
			added[keys[n]] = true
			i.Added++
		case kept[n].HasText != e.HasText || kept[n].Text != e.Text:
			i.Different++
		}
	}
	return nil
}

func parseEntry(b []byte) (Entry, error) {
	unset := "\xff" // differs from every valid text
	l := line{Text: &unset}
	if err := jsonline.Unmarshal(b, &l, "an entry"); err != nil {
		return Entry{}, fmt.Errorf("not an entry as 'refract cache export' writes it: %w", err)
	}
	e := Entry{l.Request, Answer{
		HasText: l.Text != nil, FinishReason: l.FinishReason, ServedModel: l.ServedModel,
		PromptTokens: l.PromptTokens, CompletionTokens: l.CompletionTokens, Created: l.Created,
	}}
	if e.HasText {
		if e.Text = *l.Text; e.Text == "\xff" {
			return Entry{}, errors.New(`no "text": a missing answer is stated as null`)
		}
	}
	if want := e.Request.Key().String(); l.Key != "" && l.Key != want {
		return Entry{}, fmt.Errorf("key %.80q is not the one of the request, which is %s", l.Key, want)
	}
	return e.normalized()
}
