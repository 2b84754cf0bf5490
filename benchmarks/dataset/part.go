package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"github.com/parquet-go/parquet-go/bloom/xxhash"

	"github.com/refract-eval/refract"
)

// PartHead begins the line that ends a part of a run of score or expand. Readers of JSON Lines
// pass over it.
const PartHead = `{"refract":"part `

// Extent says what a part was cut out of. A part of a plain file of JSON Lines has the bytes from
// From up to To of Size, and a checksum of them; of other datasets, only Whole is known.
type Extent struct {
	From  int64  `json:"from,omitempty"`
	To    int64  `json:"to,omitempty"`
	Size  int64  `json:"size,omitempty"`
	Bytes string `json:"bytes,omitempty"`
	// Whole is the checksum of all segments, or of the checksums of all parts. Of the parts of a
	// plain file, the first has it.
	Whole string `json:"whole,omitempty"`
}

// Differs reports whether two parts cannot be of the same dataset.
func (e Extent) Differs(o Extent) bool {
	return e.Size != o.Size || e.Whole != "" && o.Whole != "" && e.Whole != o.Whole
}

// Whole reports whether parts, in order, are all of a dataset.
func Whole(parts []Extent) bool {
	at, sum := int64(0), sha256.New()
	for _, p := range parts {
		if p.From != at {
			return false
		}
		at = p.To
		sum.Write([]byte(p.Bytes))
	}
	return at == parts[0].Size && (at == 0 || hex.EncodeToString(sum.Sum(nil)) == parts[0].Whole)
}

// Cut returns part i of n of a dataset, counted from 1; it may be empty. Of a plain file of JSON
// Lines it reads the part, and the first part all of the file, as bytes. Other datasets are
// read as a whole. A dataset that can be read only once is a *SpecError.
func Cut(ctx context.Context, ds refract.Dataset, i, n int) (part refract.Dataset, of Extent, err error) {
	d := asSet(ds)
	if d.stream != nil {
		return nil, of, specError("%s is a stream, which can be read once, and parts are cut out of files: store it in a file first", d.stream.name)
	}
	if d.rows != nil {
		return d.cutFile(ctx, i, n)
	}
	size, sum := int64(0), sha256.New()
	if lines := NewEncoder(sum); d.lines == nil {
		err = d.read(ctx, func(s *refract.Segment) error {
			size++
			return cmp.Or(lines.Encode(s), ctx.Err())
		})
	} else { // packed
		err = d.lines.each(ctx, func(Warning) {}, func(line []byte, _ refract.Position) error {
			size++
			sum.Write(line)
			sum.Write([]byte{'\n'})
			return ctx.Err()
		})
	}
	if err == nil && size == 0 {
		err = ErrEmpty
	}
	if err != nil {
		return nil, of, err
	}
	of.Whole = hex.EncodeToString(sum.Sum(nil))
	return between(d, share(size, i-1, n), share(size, i, n)), of, nil
}

// InRanges reports whether Cut reads of a dataset what is in a part, and not all of it.
func InRanges(ds refract.Dataset) bool { return asSet(ds).rows != nil }

// cutFile is Cut for a file of JSON Lines.
func (d *set) cutFile(ctx context.Context, i, n int) (part refract.Dataset, of Extent, err error) {
	f, err := os.Open(d.lines.name)
	if err != nil {
		return nil, of, fileError(d.lines.name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() == 0 {
		err = ErrEmpty
	}
	if err != nil {
		return nil, of, fileError(d.lines.name, err)
	}
	// extent returns part i.
	extent := func(i int) (e Extent, err error) {
		e.Size = info.Size()
		if e.From, err = lineFrom(f, share(e.Size, i-1, n), e.Size); err == nil {
			e.To, err = lineFrom(f, share(e.Size, i, n), e.Size)
		}
		if err == nil {
			e.Bytes, err = checksum(io.NewSectionReader(f, e.From, e.To-e.From))
		}
		return e, cmp.Or(err, ctx.Err())
	}
	if of, err = extent(i); err == nil && i == 1 {
		sum, e := sha256.New(), of
		for k := 1; ; k++ {
			sum.Write([]byte(e.Bytes))
			if k == n || err != nil {
				break
			}
			e, err = extent(k + 1)
		}
		of.Whole = hex.EncodeToString(sum.Sum(nil))
	}
	if err != nil {
		return nil, of, fileError(d.lines.name, err)
	}
	in := d.lines.between(of.From, of.To, of.Size)
	read := d.rows(in, false)
	return &set{lines: in, rows: d.rows, read: func(ctx context.Context, each func(*refract.Segment) error) error {
		if of.From == of.To {
			return nil
		}
		err := read(ctx, each)
		if errors.Is(err, ErrEmpty) && of.To-of.From < of.Size { // others have the segments
			return nil
		}
		return err
	}}, of, nil
}

// lineFrom returns where the first line that is not blank begins, from a place in a file: so a
// blank line is never the first of a part.
func lineFrom(f io.ReaderAt, at, size int64) (int64, error) {
	if at == 0 || at == size {
		return at, nil
	}
	at--
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, size-at), lineBuffer)
	for begun := false; ; {
		b, err := r.ReadSlice('\n')
		if begun && (!blank(bytes.TrimSuffix(b, []byte{'\n'})) || len(b) == 0) {
			return at, nil
		}
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return 0, err
		}
		at += int64(len(b))
		begun = begun || err == nil || err == io.EOF
	}
}

// checksum tells files apart that differ by accident: SHA-256 over the XXH64 of each MiB, as
// SHA-256 of all would take a tenth of the time of scoring.
func checksum(r io.Reader) (string, error) {
	sum, block := sha256.New(), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(r, block)
		if n > 0 {
			sum.Write(binary.LittleEndian.AppendUint64(nil, xxhash.Sum64(block[:n])))
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return hex.EncodeToString(sum.Sum(nil)[:16]), nil
		default:
			return "", err
		}
	}
}

// share is where part i of n ends.
func share(size int64, i, n int) int64 {
	whole, rest := size/int64(n), size%int64(n)
	return whole*int64(i) + rest*int64(i)/int64(n)
}

// between returns the segments of a dataset from one ordinal up to another.
func between(d *set, from, to int64) *set {
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
