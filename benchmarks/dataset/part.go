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

// ranges says how a part of a dataset is read without the rest of its files, of which places are
// counted as if they were one.
type ranges struct {
	files []string
	// end returns where part i of n ends in files of a size, or errFewGroups.
	end func(i, n int, size int64) (int64, error)
	// part returns a part, or the whole for no Extent. Skimmed segments need only have an id, a
	// source, a language and references.
	part func(of Extent, skimmed bool) *set
}

// Cut returns part i of n of a dataset, counted from 1; it may be empty. Of a plain file of JSON
// Lines, and of row groups of Parquet if there are as many, it reads the part, and the first part
// all of the files, as bytes. Other datasets are read as a whole, and have no Size. A dataset that
// can be read only once is a *SpecError.
func Cut(ctx context.Context, ds refract.Dataset, i, n int) (part refract.Dataset, of Extent, err error) {
	d := asSet(ds)
	if d.stream != nil {
		return nil, of, specError("%s is a stream, which can be read once, and parts are cut out of files: store it in a file first", d.stream.name)
	}
	if d.ranges != nil {
		if part, of, err = d.cutFiles(ctx, i, n); !errors.Is(err, errFewGroups) {
			return part, of, err
		}
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
	return between(d, share(size, i-1, n), share(size, i, n)), Extent{Whole: hex.EncodeToString(sum.Sum(nil))}, nil
}

// InRanges reports whether Cut may read of a dataset what is in a part, and not all of it.
func InRanges(ds refract.Dataset) bool { return asSet(ds).ranges != nil }

// cutFiles is Cut for a dataset with ranges.
func (d *set) cutFiles(ctx context.Context, i, n int) (part refract.Dataset, of Extent, err error) {
	r, size := d.ranges, int64(0)
	for _, path := range r.files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, of, fileError(path, err)
		}
		size += info.Size()
	}
	if size == 0 {
		return nil, of, fileError(r.files[0], ErrEmpty)
	}
	// extent returns part i.
	extent := func(i int) (e Extent, err error) {
		e.Size = size
		if e.From, err = r.end(i-1, n, size); err == nil {
			e.To, err = r.end(i, n, size)
		}
		if err == nil {
			e.Bytes, err = checksum(r.files, e.From, e.To)
		}
		return e, cmp.Or(err, ctx.Err())
	}
	if of, err = extent(i); i == 1 {
		sum := sha256.New()
		for k, e := 1, of; err == nil && k <= n; k++ {
			if sum.Write([]byte(e.Bytes)); k < n {
				e, err = extent(k + 1)
			}
		}
		of.Whole = hex.EncodeToString(sum.Sum(nil))
	}
	if err != nil {
		return nil, Extent{}, err
	}
	cut := *r.part(of, false)
	read := cut.read
	cut.read = func(ctx context.Context, each func(*refract.Segment) error) error {
		if of.From == of.To {
			return nil
		}
		err := read(ctx, each)
		if errors.Is(err, ErrEmpty) && of.To-of.From < of.Size { // others have the segments
			return nil
		}
		return err
	}
	cut.ranges = r
	return &cut, of, nil
}

// lineEnd returns where part i of n of a file ends: before a line that is not blank, so that a
// blank one is never the first of a part.
func (in *input) lineEnd(i, n int, size int64) (int64, error) {
	at := share(size, i, n)
	if at == 0 || at == size {
		return at, nil
	}
	f, err := os.Open(in.name)
	if err != nil {
		return 0, fileError(in.name, err)
	}
	defer f.Close()
	at--
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, size-at), lineBuffer)
	for begun := false; ; {
		b, err := r.ReadSlice('\n')
		if begun && (!blank(bytes.TrimSuffix(b, []byte{'\n'})) || len(b) == 0) {
			return at, nil
		}
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return 0, fileError(in.name, err)
		}
		at += int64(len(b))
		begun = begun || err == nil || err == io.EOF
	}
}

// checksum tells files apart that differ by accident, of which it reads the bytes from one place up
// to another: SHA-256 over the XXH64 of each MiB, as SHA-256 of all would take a tenth of the time
// of scoring.
func checksum(files []string, from, to int64) (string, error) {
	sum, block := sha256.New(), make([]byte, 1<<20)
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return "", fileError(path, err)
		}
		defer f.Close()
		size, err := f.Seek(0, io.SeekEnd)
		for at := max(from, 0); err == nil && at < min(to, size); {
			n := 0
			n, err = f.ReadAt(block[:min(int64(len(block)), min(to, size)-at)], at)
			sum.Write(binary.LittleEndian.AppendUint64(nil, xxhash.Sum64(block[:n])))
			at += int64(n)
		}
		if err != nil {
			return "", fileError(path, err)
		}
		from, to = from-size, to-size
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil
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
