package batch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/refract-eval/refract/llm"
)

// nonceKey is the metadata under which a batch has its nonce.
const nonceKey = "refract_batch"

// file is a batch's file while it is built.
type file struct {
	lines bytes.Buffer
	ids   []string
	full  bool // there is no room for the next row
}

// clear begins another file.
func (f *file) clear() {
	f.lines.Reset()
	f.ids, f.full = nil, false
}

// fill cuts rows into batches and submits them, as long as there are rows and
// the server has room.
func (r *run) fill(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.file.full || !r.reading && len(r.queue) == 0 {
			if len(r.file.ids) == 0 || !r.room() {
				return nil
			}
			if err := r.submit(ctx); err != nil {
				return err
			}
			r.observe()
			if r.submits > 0 {
				return nil
			}
			continue
		}
		if err := r.takeRow(); err != nil {
			return err
		}
	}
}

// room reports whether the file may be submitted now.
func (r *run) room() bool {
	if r.held == 0 {
		return true
	}
	batches := 0
	for _, b := range r.journal.batches {
		if b.wanted > 0 && (b.pending() || b.open()) {
			batches++
		}
	}
	if batches >= r.held {
		return false
	}
	r.held = 0
	return true
}

// takeRow puts the next row into the file, unless it is in a batch already.
func (r *run) takeRow() error {
	if len(r.queue) > 0 {
		id := r.queue[0]
		r.queue = r.queue[1:]
		return r.addRow(id, r.rows[id])
	}
	item, err, ok := r.next()
	if !ok {
		r.reading = false
		return nil
	}
	if err != nil {
		return err
	}
	if item.ID == "" || !utf8.ValidString(item.ID) {
		return fmt.Errorf("the item with ID %q cannot be named in a batch: its ID is empty or not valid UTF-8", item.ID)
	}
	if err := r.ofModel(item.Request.Model); err != nil {
		return fmt.Errorf("item %q: %w", item.ID, err)
	}
	w := r.rows[item.ID]
	switch {
	case w == nil:
		w = &row{}
		r.rows[item.ID] = w
	case w.read:
		return nil
	}
	w.read, w.request = true, &item.Request
	if w.in != nil {
		r.enter(w, w.in)
		return nil
	}
	return r.addRow(item.ID, w)
}

// ofModel checks that all items have one model. The first one tells whose the
// journal must be.
func (r *run) ofModel(model string) error {
	switch {
	case model == r.model || model == "": // no model: the client says so
		return nil
	case r.model != "":
		return fmt.Errorf("it has model %q after others with %q; each model needs a run and a journal of its own", model, r.model)
	}
	if err := r.journal.belong(header{Server: r.Client.BatchServer(), URL: r.Client.BatchURL(), Model: model}); err != nil {
		return err
	}
	r.model = model
	for _, b := range r.journal.batches {
		for _, id := range b.rows {
			w := r.rows[id]
			if w == nil {
				w = &row{}
				r.rows[id] = w
			}
			if w.in != nil && !w.in.released && !w.in.past {
				w.tries++
			}
			w.in = b
		}
	}
	return nil
}

// addRow puts a row into the file, or back before the others where it does not
// fit any more. A row that cannot be sent has its result.
func (r *run) addRow(id string, w *row) error {
	line, err := r.Client.BatchLine(id, *w.request)
	if err == nil && len(line) > r.maxBytes {
		err = fmt.Errorf("%w: it takes %d bytes and a batch may have %d", llm.ErrInvalidRequest, len(line), r.maxBytes)
	}
	switch f := &r.file; {
	case err != nil:
		return r.give(id, w, Result{Err: err})
	case len(f.ids) >= r.maxRows || f.lines.Len()+len(line) > r.maxBytes:
		f.full = true
		r.queue = slices.Insert(r.queue, 0, id)
	default:
		f.lines.Write(line)
		f.ids = append(f.ids, id)
	}
	return nil
}

// submit makes a batch of the file.
func (r *run) submit(ctx context.Context) error {
	b := &batch{nonce: nonce(), rows: r.file.ids}
	if err := r.journal.note(b, event{Event: eventIntent}); err != nil {
		return err
	}
	input, err := r.Client.UploadBatchFile(ctx, "refract-"+b.nonce+".jsonl", r.file.lines.Bytes())
	if err != nil {
		if err := r.bear(ctx, &r.submits, err); err != nil {
			return err
		}
		r.queue = append(slices.Clone(b.rows), r.queue...)
		r.file.clear()
		return r.journal.note(b, event{Event: eventDropped})
	}
	if err := r.journal.uploaded(b, input); err != nil {
		return err
	}
	for _, id := range b.rows {
		w := r.rows[id]
		if w.tries > 0 {
			r.progress.Again++
		}
		r.enter(w, b)
	}
	r.file.clear()
	return r.create(ctx, b)
}

func nonce() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// create creates the batch of an uploaded file. After an error that leaves it
// open whether the batch exists, resolve finds out.
func (r *run) create(ctx context.Context, b *batch) error {
	got, err := r.Client.CreateBatch(ctx, b.file, map[string]any{nonceKey: b.nonce})
	switch {
	case err == nil:
		r.succeeded(&r.submits)
		return r.journal.note(b, event{Event: eventCreated, ID: got.ID})
	case ctx.Err() != nil:
		return err
	case llm.MayHaveActed(err):
		b.unsure, b.tried = true, time.Now()
	case !passing(err):
		if err := r.journal.note(b, event{Event: eventDropped}); err != nil {
			return err
		}
		return err
	}
	return r.bear(ctx, &r.submits, err)
}

// settle is how long after a request that may have created a batch the list
// is trusted to have it.
const settle = 10 * time.Second

// resolve looks for the batches of which no id is known, and creates those
// that are not there.
func (r *run) resolve(ctx context.Context) error {
	var unsure []*batch
	for _, b := range r.journal.batches {
		if age := time.Since(b.tried); b.pending() && b.unsure && (age < 0 || age >= min(settle, r.Interval)) {
			unsure = append(unsure, b)
		}
	}
	if len(unsure) > 0 {
		if err := r.find(ctx, unsure); err != nil {
			return r.bear(ctx, &r.looks, err)
		}
		r.succeeded(&r.looks)
	}
	for _, b := range slices.Clone(r.journal.batches) {
		if !b.pending() || b.unsure {
			continue
		}
		// A batch of the run before that has rows which are no items any more
		// is not created for their sake.
		step := r.create
		if b.wanted < len(b.rows) {
			step = r.drop
		}
		if err := step(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// find looks for batches in the server's list, by nonce and input file, and
// notes the ids of those that are there. Others are unsure no more.
func (r *run) find(ctx context.Context, unsure []*batch) error {
	found := map[*batch][]llm.Batch{}
	seen := map[string]bool{}
	for there, err := range r.Client.ListBatches(ctx) {
		if errors.Is(err, llm.ErrNotFound) {
			return fmt.Errorf("an earlier attempt to create a batch may have succeeded, and the server cannot tell; look there for batches of file %q, and remove journal %s if there are none: %w",
				unsure[0].file, r.Journal, err)
		}
		if err != nil {
			return err
		}
		for _, b := range unsure {
			if (there.Metadata[nonceKey] == b.nonce || there.InputFileID == b.file) && !seen[there.ID] {
				found[b] = append(found[b], there)
			}
		}
		seen[there.ID] = true
	}
	for _, b := range unsure {
		b.unsure = false
		all := found[b]
		if len(all) == 0 {
			continue
		}
		// The newest come first in the list. More than one are the fruit of
		// an attempt that took effect very late.
		if err := r.journal.note(b, event{Event: eventCreated, ID: all[len(all)-1].ID}); err != nil {
			return err
		}
		r.succeeded(&r.submits)
		for _, double := range all[:len(all)-1] {
			if llm.BatchEnded(double) {
				continue
			}
			if _, err := r.Client.CancelBatch(ctx, double.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop gives up a batch that does not exist at the server.
func (r *run) drop(_ context.Context, b *batch) error {
	r.free(b)
	return r.journal.note(b, event{Event: eventDropped})
}

// free takes all rows out of a batch, to be submitted again.
func (r *run) free(b *batch) {
	for _, id := range b.rows {
		w := r.rows[id]
		switch {
		case w == nil || w.in != b:
		case w.request == nil: // not read yet
			w.in = nil
		default:
			r.leave(w)
			r.queue = append(r.queue, id)
		}
	}
}
