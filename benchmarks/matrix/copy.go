package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
)

// Copy copies the rows of a matrix in JSON Lines, which may have none. Errors call the input
// name.
func (w *Writer) Copy(ctx context.Context, in io.Reader, name string) error {
	src, sum := newJSONLSource(in, name), sha256.New()
	var now row
	var line []byte
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := src.next(&now)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line = src.line(line[:0], &now)
		sum.Write(line)
		if w.err = w.writeRow(&now); w.err != nil {
			return w.err
		}
	}
	if src.digest() != hex.EncodeToString(sum.Sum(nil)) {
		return errors.New(name + ": the digest of the matrix is missing or does not match its rows")
	}
	return nil
}

// Rows returns the number of rows written.
func (w *Writer) Rows() int64 { return w.rows }
