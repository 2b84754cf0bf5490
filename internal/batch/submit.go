package batch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refract-eval/refract/llm"
)

// nonceKey is the metadata under which a batch has its nonce.
const nonceKey = "refract_batch"

// submit makes batches of the queue, as long as the server has room.
func (r *run) submit(ctx context.Context) error {
	for len(r.queue) > 0 && r.room() {
		if err := ctx.Err(); err != nil {
			return err
		}
		lines, rows, err := r.cut()
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		if err := r.upload(ctx, lines, rows); err != nil {
			return err
		}
		r.observe()
		if r.submits > 0 {
			return nil
		}
	}
	return nil
}

// cut takes the rows of the next batch from the queue. A row that cannot be sent
// has its result.
func (r *run) cut() (lines []byte, rows []*row, err error) {
	for len(r.queue) > 0 && len(rows) < r.maxRows {
		w := r.queue[0]
		line, err := r.Client.BatchLine(w.id, *w.request)
		if err == nil && len(line) > r.maxBytes {
			err = fmt.Errorf("%w: it takes %d bytes and a batch may have %d", llm.ErrInvalidRequest, len(line), r.maxBytes)
		}
		switch {
		case err != nil:
			if err := r.give(w, Result{Err: err}); err != nil {
				return nil, nil, err
			}
		case len(lines)+len(line) > r.maxBytes:
			return lines, rows, nil
		default:
			lines, rows = append(lines, line...), append(rows, w)
		}
		r.queue = r.queue[1:]
	}
	return lines, rows, nil
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

// upload makes a batch of rows.
func (r *run) upload(ctx context.Context, lines []byte, rows []*row) error {
	b := &batch{nonce: rand.Text()}
	for _, w := range rows {
		b.rows = append(b.rows, w.id)
	}
	if err := r.journal.note(b, event{Event: eventIntent}); err != nil {
		return err
	}
	input, err := r.Client.UploadBatchFile(ctx, "refract-"+b.nonce+".jsonl", lines)
	if err != nil {
		if err := r.bear(ctx, &r.submits, err); err != nil {
			return err
		}
		r.queue = append(rows, r.queue...)
		return r.journal.note(b, event{Event: eventDropped})
	}
	if err := r.journal.uploaded(b, input); err != nil {
		return err
	}
	for _, w := range rows {
		if w.tries > 0 {
			r.progress.Again++
		}
		r.enter(w, b)
	}
	return r.create(ctx, b)
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
	for w := range r.waiting(b) {
		r.again(w)
	}
}
