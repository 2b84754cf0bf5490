package cache

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// manySizes are the numbers of keys for which statements are prepared, from
// large to small. A part that is smaller than the last is filled with NULL,
// which no key equals.
var manySizes = [...]int{256, 64, 16, 4}

// manyPart is the least number of keys worth a connection of their own.
const manyPart = 64

// manySQL reads n answers in the order of the keys, each with its place among
// them. The columns of the request stay unread: the checksum covers the key.
func manySQL(n int) string {
	var b strings.Builder
	b.WriteString("WITH asked (place, key) AS (VALUES ")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,?)", i)
	}
	// CROSS keeps SQLite from reading the table first.
	b.WriteString(`) SELECT place, text, finish_reason, served_model, prompt_tokens, completion_tokens, created, digest
	FROM asked CROSS JOIN answers ON answers.key = asked.key`)
	return b.String()
}

// GetMany implements [Store]. It uses all cores for a large number of keys. An
// answer that does not agree with its checksum is an error that wraps
// [ErrCorrupt].
func (s *SQLite) GetMany(ctx context.Context, keys []Key) ([]Answer, []bool, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	answers, found := make([]Answer, len(keys)), make([]bool, len(keys))
	parts := max(1, min(cap(s.many.idle), len(keys)/manyPart))
	read := func(ctx context.Context, part int) error {
		from, to := part*len(keys)/parts, (part+1)*len(keys)/parts
		return s.readMany(ctx, keys[from:to], answers[from:to], found[from:to])
	}
	if parts == 1 {
		err = read(ctx, 0)
	} else {
		var all *errgroup.Group
		all, inner := errgroup.WithContext(ctx)
		for part := range parts {
			all.Go(func() error { return read(inner, part) })
		}
		err = all.Wait()
	}
	if err != nil {
		return nil, nil, fileError(ctx, s.file, "get", err)
	}
	return answers, found, nil
}

func (s *SQLite) readMany(ctx context.Context, keys []Key, answers []Answer, found []bool) error {
	r, err := s.many.acquire(ctx)
	if err != nil {
		return err
	}
	defer s.many.release(r)
	for len(keys) > 0 {
		which := 0
		for which < len(manySizes)-1 && manySizes[which] > len(keys) {
			which++
		}
		n := min(manySizes[which], len(keys))
		key, err := r.read(ctx, which, keys[:n], answers, found)
		if err != nil {
			var damage *damageError
			if errors.As(err, &damage) {
				return corrupt(s.file, "get "+key.String(), err)
			}
			return err
		}
		keys, answers, found = keys[n:], answers[n:], found[n:]
	}
	return nil
}

// damageError is what is wrong with one row.
type damageError struct{ what string }

func (e *damageError) Error() string { return e.what }

// manyReader is a connection with statements for many keys. It goes past
// database/sql, whose reflection costs more than the reading.
type manyReader struct {
	conn       driver.Conn
	statements [len(manySizes)]driver.Stmt // nil before the first use
	args       []driver.NamedValue
	dest       []driver.Value
	scratch    []byte // under the checksums
	last       Answer // whose strings are used again
}

// read reads the answers of keys with one statement. The returned key is the
// one with which an error has to do.
func (r *manyReader) read(ctx context.Context, which int, keys []Key, answers []Answer, found []bool) (at Key, err error) {
	if r.statements[which] == nil {
		if r.statements[which], err = r.conn.Prepare(manySQL(manySizes[which])); err != nil {
			return Key{}, err
		}
	}
	queryer, ok := r.statements[which].(driver.StmtQueryContext)
	if !ok {
		return Key{}, errors.New("the SQLite driver cannot run a prepared query")
	}
	r.args = r.args[:0]
	for i := range manySizes[which] {
		var v driver.Value
		if i < len(keys) {
			v = keys[i][:]
		}
		r.args = append(r.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	rows, err := queryer.QueryContext(ctx, r.args)
	if err != nil {
		return Key{}, err
	}
	err = eachRow(rows, r.dest, func(row []driver.Value) error {
		place, ok := row[0].(int64)
		if !ok || place < 0 || int(place) >= len(keys) {
			return errors.New("the answers come without their places")
		}
		at = keys[place]
		a, err := r.answer(row[1:], at)
		answers[place], found[place] = a, err == nil
		return err
	})
	return at, err
}

// answer makes an answer of the columns after the place.
func (r *manyReader) answer(row []driver.Value, key Key) (Answer, error) {
	var a Answer
	var digest []byte
	var sound [7]bool
	if row[0] == nil {
		sound[0] = true
	} else {
		a.Text, sound[0] = row[0].(string)
		a.HasText = true
	}
	a.FinishReason, sound[1] = row[1].(string)
	a.ServedModel, sound[2] = row[2].(string)
	prompt, ok := row[3].(int64)
	a.PromptTokens, sound[3] = int(prompt), ok
	completion, ok := row[4].(int64)
	a.CompletionTokens, sound[4] = int(completion), ok
	if row[5] == nil {
		sound[5] = true
	} else {
		var created int64
		created, sound[5] = row[5].(int64)
		a.Created = time.Unix(0, created).UTC()
	}
	digest, sound[6] = row[6].([]byte)
	if sound != [7]bool{true, true, true, true, true, true, true} {
		return Answer{}, &damageError{"a column has a value of a wrong type"}
	}
	// These two take few values, of which one copy is enough.
	if a.FinishReason == r.last.FinishReason {
		a.FinishReason = r.last.FinishReason
	}
	if a.ServedModel == r.last.ServedModel {
		a.ServedModel = r.last.ServedModel
	}
	r.last = Answer{FinishReason: a.FinishReason, ServedModel: a.ServedModel}
	var want [32]byte
	want, r.scratch = a.digestWith(r.scratch, key)
	if string(digest) != string(want[:]) {
		return Answer{}, &damageError{badChecksum}
	}
	return a, nil
}

// manyPool lends a bounded number of connections.
type manyPool struct {
	connector driver.Connector
	idle      chan *manyReader // nil stands for one that is not open yet
}

func newManyPool(c driver.Connector, size int) *manyPool {
	p := &manyPool{connector: c, idle: make(chan *manyReader, size)}
	for range size {
		p.idle <- nil
	}
	return p
}

func (p *manyPool) acquire(ctx context.Context) (*manyReader, error) {
	select {
	case r := <-p.idle:
		if r != nil {
			return r, nil
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conn, err := p.connector.Connect(ctx)
	if err != nil {
		p.idle <- nil
		return nil, err
	}
	return &manyReader{conn: conn, dest: make([]driver.Value, 8)}, nil
}

func (p *manyPool) release(r *manyReader) { p.idle <- r }

// close closes the connections, none of which may be lent.
func (p *manyPool) close() error {
	var errs []error
	for range cap(p.idle) {
		r := <-p.idle
		if r == nil {
			continue
		}
		errs = append(errs, closeAll(r.conn, r.statements[:]...))
	}
	return errors.Join(errs...)
}
