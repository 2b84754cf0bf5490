package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/refract-eval/refract"
)

// PartHead begins the line that ends a part of a run of score or expand. Readers of JSON Lines
// pass over it.
const PartHead = `{"refract":"part `

// Cut returns part i of n of a dataset, counted from 1; it may be empty. It reads the whole
// dataset to count and hash its segments; in JSON Lines, without parsing the lines. A
// dataset that can be read only once is a *SpecError.
func Cut(ctx context.Context, ds refract.Dataset, i, n int) (part refract.Dataset, whole string, err error) {
	d := asSet(ds)
	if d.stream != nil {
		return nil, "", specError("%s is a stream, which can be read once, and parts are cut out of files: store it in a file first", d.stream.name)
	}
	size, sum := int64(0), sha256.New()
	newline := []byte{'\n'}
	if d.lines != nil {
		err = d.lines.each(ctx, func(Warning) {}, func(line []byte, _ refract.Position) error {
			size++
			sum.Write(line)
			sum.Write(newline)
			return ctx.Err()
		})
	} else {
		lines := NewEncoder(sum)
		err = d.read(ctx, func(s *refract.Segment) error {
			size++
			return cmp.Or(lines.Encode(s), ctx.Err())
		})
	}
	if err == nil && size == 0 {
		err = ErrEmpty
	}
	if err != nil {
		return nil, "", err
	}
	return between(d, share(size, i-1, n), share(size, i, n)), hex.EncodeToString(sum.Sum(nil)), nil
}

// share is where part i of n ends.
func share(size int64, i, n int) int64 {
	whole, rest := size/int64(n), size%int64(n)
	return whole*int64(i) + rest*int64(i)/int64(n)
}

// between returns the segments of a dataset from one ordinal up to another.
func between(d *set, from, to int64) *set {
	if d.lines != nil && from < to {
		return &set{n: int(to - from), read: d.rows(from, to)}
	}
	return &set{n: int(to - from), read: func(ctx context.Context, each func(*refract.Segment) error) error {
		at := int64(0)
		if from == to {
			return nil
		}
		return d.read(ctx, func(s *refract.Segment) error {
			if at++; at <= from {
				return ctx.Err()
			}
			if at > to {
				return errStopped
			}
			return each(s)
		})
	}}
}
