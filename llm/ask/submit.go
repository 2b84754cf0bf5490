package ask

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/refract-eval/refract/llm"
)

// nonceKey is the key of a batch's nonce in its metadata.
const nonceKey = "refract_batch"

// submit creates batches from the queue as long as the server has room.
func (r *batchRun) submit(ctx context.Context) error {
	for len(r.queue) > 0 && r.room() {
		if err := ctx.Err(); err != nil {
			return err
		}
		lines, rows := r.cut()
		if len(rows) == 0 {
			return nil
		}
		if err := r.bear(ctx, &r.submits, r.create(ctx, lines, rows)); err != nil || r.submits > 0 {
			return err
		}
		r.observe()
	}
	return nil
}

// cut takes the rows of the next batch from the queue: the first ones of a model. Rows that cannot be
// sent fail.
func (r *batchRun) cut() (lines []byte, rows []*row) {
	full := false
	r.queue = slices.DeleteFunc(r.queue, func(w *row) bool {
		if full || len(rows) > 0 && w.Wire.Model != rows[0].Wire.Model {
			return false
		}
		line, err := r.Client.BatchLine(w.id, w.Wire)
		if err == nil && len(line) > r.maxBytes {
			err = fmt.Errorf("%w: it takes %d bytes and a batch may have %d", llm.ErrInvalidRequest, len(line), r.maxBytes)
		}
		switch {
		case err != nil:
			r.fail(w, err)
		case len(lines)+len(line) > r.maxBytes:
			full = true
			return false
		default:
			lines, rows = append(lines, line...), append(rows, w)
			full = len(rows) == r.most
		}
		return true
	})
	return lines, rows
}

// room reports whether the server has room for a batch.
func (r *batchRun) room() bool {
	if r.open() < r.held || r.held == 0 {
		r.held = 0
		return true
	}
	return false
}

// create creates a batch of rows. After an error that leaves open whether the batch exists, resolve
// finds out.
func (r *batchRun) create(ctx context.Context, lines []byte, rows []*row) error {
	nonce := rand.Text()
	file, err := r.Client.UploadBatchFile(ctx, "refract-"+nonce+".jsonl", lines)
	if err != nil {
		r.queue = append(rows, r.queue...)
		return err
	}
	ids := make([]string, len(rows))
	for i, w := range rows {
		ids[i] = w.id
	}
	now := time.Now()
	if err := r.journal.note(event{Event: eventUploaded, Nonce: nonce, File: file, Rows: ids, Time: &now}); err != nil {
		return err
	}
	b := r.journal.batches[len(r.journal.batches)-1]
	for _, w := range rows {
		if w.tries > 0 {
			r.progress.Again++
		}
		r.enter(w, b)
	}
	got, err := r.Client.CreateBatch(ctx, file, map[string]any{nonceKey: nonce})
	switch {
	case err == nil:
		return r.created(b, got.ID)
	case ctx.Err() != nil:
	case mayHaveActed(err):
		b.tried = time.Now()
	default:
		if err := r.drop(b); err != nil {
			return err
		}
	}
	return err
}

// mayHaveActed reports whether a server may have carried out a request that ended with err: its
// answer was lost or invalid.
func mayHaveActed(err error) bool {
	return !errors.As(err, new(*llm.Error)) || llm.IsAny(err, llm.ErrUnavailable, llm.ErrTimeout, llm.ErrBadAnswer)
}

func (r *batchRun) created(b *batch, id string) error {
	r.succeeded(&r.submits)
	r.progress.Batches++
	return r.journal.note(event{Event: eventCreated, Nonce: b.nonce, ID: id})
}

// settle is the time after which the server's list should contain a batch that a request may have
// created.
const settle = 10 * time.Second

// resolve looks in the server's list for batches without a known id, by nonce and input file, and
// drops those that are not listed.
func (r *batchRun) resolve(ctx context.Context) error {
	var unsure []*batch
	for _, b := range r.journal.batches {
		if age := time.Since(b.tried); b.id == "" && (age < 0 || age >= min(settle, r.Interval)) {
			unsure = append(unsure, b)
		}
	}
	if len(unsure) == 0 {
		return nil
	}
	found := map[*batch]string{}
	for there, err := range r.Client.ListBatches(ctx) {
		if errors.Is(err, llm.ErrNotFound) {
			return fmt.Errorf("an earlier attempt to create a batch may have succeeded, and the server cannot tell; look there for batches of file %q, and remove journal %s if there are none: %w",
				unsure[0].file, r.journal.path, err)
		}
		if err != nil {
			return err
		}
		for _, b := range unsure {
			if there.Metadata[nonceKey] == b.nonce || there.InputFileID == b.file {
				found[b] = there.ID // the list is newest first, so the oldest of several wins
			}
		}
	}
	r.succeeded(&r.looks)
	for _, b := range slices.Clone(unsure) {
		var err error
		if found[b] != "" {
			err = r.created(b, found[b])
		} else {
			err = r.drop(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
