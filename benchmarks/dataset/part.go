package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"

	"github.com/refract-eval/refract"
)

// Part is a contiguous part of a dataset, with all systems of its segments. It
// may have no segment.
type Part struct {
	refract.Dataset
	Input Input
}

// Input says what a part was cut out of, wherever that is stored.
type Input struct {
	Unit  string `json:"unit"` // bytes, rows or segments: what the numbers count
	From  int64  `json:"from"`
	To    int64  `json:"to"` // where the next part begins
	Size  int64  `json:"size"`
	Whole string `json:"whole"`          // hash of the whole; of samples where each part reads no more than its own
	Part  string `json:"part,omitempty"` // hash of the part, where Whole is one of samples
}

// The units of an Input.
const (
	unitBytes    = "bytes"
	unitRows     = "rows"
	unitSegments = "segments"
)

// Cut returns part i of n of a dataset, the first of which is part 1. JSON Lines
// are cut at the ends of lines, and Parquet between rows, without reading the
// other parts. All else, as packed files and files that belong together line by
// line, is read through for each part. A dataset that can be read only once is a
// *SpecError.
func Cut(ctx context.Context, ds refract.Dataset, i, n int) (*Part, error) {
	d := asSet(ds)
	if d.stream != nil {
		return nil, specError("%s is a stream, which can be read once, and parts are cut out of files: store it in a file first", d.stream.name)
	}
	if d.cut != nil {
		if part, err := d.cut(ctx, i, n); part != nil || err != nil {
			return part, err
		}
	}
	size, h := int64(0), &segmentHash{sum: sha256.New()}
	err := d.read(ctx, func(s *refract.Segment) error {
		size++
		h.add(s)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	in := Input{Unit: unitSegments, From: share(size, i-1, n), To: share(size, i, n), Size: size, Whole: h.String()}
	return &Part{between(d, in.From, in.To), in}, nil
}

// share is where part i of n ends.
func share(size int64, i, n int) int64 {
	whole, rest := size/int64(n), size%int64(n)
	return whole*int64(i) + rest*int64(i)/int64(n)
}

// between is the segments of a dataset from one ordinal up to another.
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

// segmentHash hashes all that segments are.
type segmentHash struct {
	sum hash.Hash
	buf []byte
}

func (h *segmentHash) add(s *refract.Segment) {
	h.buf = appendSegment(h.buf[:0], s)
	h.sum.Write(h.buf)
}

func (h *segmentHash) String() string { return hex.EncodeToString(h.sum.Sum(nil)) }

const (
	samples     = 64
	sampleBytes = 4 << 10
)

// addSamples hashes the size of a file and blocks that are evenly spread over it.
func addSamples(h hash.Hash, file io.ReaderAt, size int64) error {
	block := make([]byte, sampleBytes)
	for k := range samples {
		at := share(max(0, size-sampleBytes), k, samples-1)
		n, err := file.ReadAt(block[:min(sampleBytes, size-at)], at)
		if err != nil && (err != io.EOF || int64(n) < min(sampleBytes, size-at)) {
			return err
		}
		h.Write(block[:n])
		if size <= sampleBytes {
			break
		}
	}
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	return nil
}
