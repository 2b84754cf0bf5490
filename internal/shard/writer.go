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
	besideChunk = 'r' // written by earlier versions
	totalsChunk = 't'
)

// Data is written as a chunk once there are chunkBytes of it; mostChunk is the largest
// chunk.
const (
	chunkBytes = 1 << 20
	mostChunk  = 1 << 30
)

// Writer writes a shard. The file is valid only after Close.
type Writer struct {
	w           io.Writer
	m           Manifest
	sum         hash.Hash
	index, body []byte
	packed      []byte
}

// NewWriter returns a Writer of a shard. Close fills in the fields of the manifest
// that are known only at the end.
func NewWriter(w io.Writer, m Manifest) *Writer {
	m.Format, m.Status, m.Segments = format, complete, 0
	return &Writer{w: w, m: m, sum: sha256.New()}
}

// Segment adds a segment to the index: its id, and the output of
// refract.AppendReferences, nil if the merged output names no set of references.
func (w *Writer) Segment(id string, references []byte) error {
	w.m.Segments++
	w.index = appendBytes(w.index, []byte(id))
	w.index = appendBytes(w.index, references)
	return w.full(indexChunk, &w.index)
}

func appendBytes(b, part []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(part))), part...)
}

// Write appends to the body.
func (w *Writer) Write(p []byte) (int, error) {
	if len(p) >= mostChunk-chunkBytes {
		return 0, errors.New("a part of a shard is larger than 1 GiB")
	}
	w.body = append(w.body, p...)
	return len(p), w.full(bodyChunk, &w.body)
}

// Totals writes the command's counts. It is called once.
func (w *Writer) Totals(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.chunk(totalsChunk, &b)
}

// full writes a chunk once there is enough data for one.
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

// Close ends the shard with its manifest. details come from the command.
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

// lineEnd follows the digits of the digest.
const lineEnd = "\"}\n"
