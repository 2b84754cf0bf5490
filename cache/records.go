package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
)

// recordsPage is the number of records read at a time.
const recordsPage = 500

// Records implements [Store]. It reads pages in the order of the keys, and holds neither a
// connection nor a snapshot between them, so records stored or deleted meanwhile may or may
// not be yielded. An unreadable record is reported as damaged if the index has its key.
func (d *Database) Records(ctx context.Context, kind string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		leave, err := d.enter(ctx, "list", false)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer leave()
		after := []byte{}
		for {
			page, err := d.page(ctx, kind, after)
			for i := range page {
				if ctx.Err() != nil {
					err, page = ctx.Err(), nil
					break
				}
				record, damage := page[i].record(d.name)
				if !yield(record, damage) {
					return
				}
			}
			if len(page) > 0 {
				after = page[len(page)-1].key
			}
			if err = d.explain(ctx, "list", err); errors.Is(err, ErrCorrupt) {
				if key := d.unread(ctx, after); key != nil {
					if !yield(Record{}, &Problem{Store: d.name, Key: fmt.Sprintf("%x", key), What: "it cannot be read"}) {
						return
					}
					after = key
					continue
				}
			}
			if err != nil {
				yield(Record{}, err)
			}
			if err != nil || len(page) < recordsPage {
				return
			}
		}
	}
}

// page reads the records of a kind that come after a key. With an error it returns the
// records read before it.
func (d *Database) page(ctx context.Context, kind string, after []byte) (page []row, err error) {
	above := ">"
	if len(after) == 0 { // the first page includes the empty key, which only a damaged record has
		above = ">="
	}
	query := fmt.Sprintf(`SELECT key, kind, digest, value, about FROM refract_records
		WHERE $1 IN ('', kind) AND key %s $2 ORDER BY key LIMIT %d`, above, recordsPage)
	var r row
	err = d.query(ctx, query, []any{kind, after}, []any{&r.key, &r.kind, &r.digest, &r.value, &r.about}, func() error {
		if len(after) > 0 && bytes.Compare(r.key, after) <= 0 {
			return fmt.Errorf("cache %s: list: %w: its index gives the keys out of order: see `refract cache verify`", d.name, ErrCorrupt)
		}
		page, after = append(page, r), r.key
		r = row{}
		return ctx.Err()
	})
	return page, err
}

// unread returns the next key in the index after a given one, nil if there is none. It is the
// key of the unreadable record at which a page ended.
func (d *Database) unread(ctx context.Context, after []byte) (next []byte) {
	var key []byte
	_ = d.query(ctx, "SELECT key FROM refract_records WHERE key > $1 ORDER BY key LIMIT 1", []any{after}, []any{&key}, func() error {
		if bytes.Compare(key, after) > 0 {
			next = key
		}
		return nil
	}) // if this fails, too, the caller reports why the page ended
	return next
}
