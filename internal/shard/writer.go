package shard

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
)

// The kinds of chunks.
const (
	indexChunk  = 'i'
	bodyChunk   = 'b'
	besideChunk = 'r' // of earlier versions
	totalsChunk = 't'
)

// chunkBytes is from where on what is gathered becomes a chunk, and mostChunk
// what a chunk holds at most.
const (
	chunkBytes = 1 << 20
	mostChunk  = 1 << 30
)

// Writer writes a shard. What it writes counts once Close has ended it.
type Writer struct {
	w           io.Writer
	m           Manifest
	sum         hash.Hash
	index, body []byte
	packed      []byte
}

// NewWriter returns a Writer of a shard, of which the manifest says all but what
// is known at its end.
func NewWriter(w io.Writer, m Manifest) *Writer {
	m.Format, m.Status, m.Segments = format, complete, 0
	return &Writer{w: w, m: m, sum: sha256.New()}
}

// Segment adds a segment to the index: its id, and what refract.AppendReferences
// gave of it, nil where the merged output names no set of references.
func (w *Writer) Segment(id string, references []byte) error {
	w.m.Segments++
	w.index = appendBytes(w.index, []byte(id))
	w.index = appendBytes(w.index, references)
	return w.full(indexChunk, &w.index)
}

func appendBytes(b, part []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

// Write adds to the body.
func (w *Writer) Write(p []byte) (int, error) {
	if len(p) >= mostChunk-chunkBytes {
		return 0, errors.New("a part of a shard is larger than 1 GiB")
	}
	w.body = append(w.body, p...)
	return len(p), w.full(bodyChunk, &w.body)
}

// Totals writes what the command has counted, once.
func (w *Writer) Totals(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.chunk(totalsChunk, &b)
}

// full writes a chunk once there is enough of it.
func (w *Writer) full(kind byte, chunk *[]byte) error {
	if len(*chunk) < chunkBytes {
		return nil
	}
	return w.chunk(kind, chunk)
}

func (w *Writer) chunk(kind byte, chunk *[]byte) error {
	if len(*chunk) == 0 {
		return nil
	}
	w.packed = slices.Grow(w.packed[:0], chunkHead+s2.MaxEncodedLen(len(*chunk)))[:chunkHead]
	body := s2.Encode(w.packed[chunkHead:cap(w.packed)], *chunk)
	*chunk = (*chunk)[:0]
	w.packed[0] = kind
	binary.LittleEndian.PutUint32(w.packed[1:], uint32(len(body)))
	return w.put(w.packed[:chunkHead+len(body)])
}

const chunkHead = 5

func (w *Writer) put(b []byte) error {
	w.sum.Write(b)
	_, err := w.w.Write(b)
	return err
}

// Close ends the shard with its manifest. details are those of the command.
func (w *Writer) Close(details any) error {
	if err := errors.Join(w.chunk(indexChunk, &w.index), w.chunk(bodyChunk, &w.body)); err != nil {
		return err
	}
	var err error
	if w.m.Details, err = json.Marshal(details); err != nil {
		return err
	}
	w.m.SHA256 = ""
	line, err := json.Marshal(w.m)
	if err != nil {
		return err
	}
	line = append([]byte{'\n'}, line[:len(line)-len(lineEnd)+1]...)
	if err := w.put(line); err != nil {
		return err
	}
	_, err = io.WriteString(w.w, hex.EncodeToString(w.sum.Sum(nil))+lineEnd)
	return err
}

// lineEnd is what stands behind the digits of the digest.
const lineEnd = "\"}\n"
