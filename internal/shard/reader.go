package shard

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/s2"

	"github.com/refract-eval/refract/internal/text"
)

// Error says what is wrong with the file of a shard.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return text.Path(e.File) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrDamaged says that a file is not a complete shard.
var ErrDamaged = errors.New("the shard is cut off, damaged or not a shard: run its command again")

// Verify reads a whole file and returns its manifest, or ErrDamaged. Unless each is
// nil, Verify calls it with every segment of the index.
func Verify(ctx context.Context, path string, each func(id string, references []byte) error) (*Manifest, error) {
	m, err := verify(ctx, path, each)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	if err != nil {
		return nil, &Error{path, err}
	}
	return m, nil
}

func verify(ctx context.Context, path string, each func(id string, references []byte) error) (*Manifest, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, size, err := manifest(f)
	if err != nil {
		return nil, err
	}
	sum, segments := sha256.New(), 0
	r := newChunks(ctx, io.TeeReader(io.NewSectionReader(f, 0, size), sum))
	for {
		kind, chunk, err := r.next(func(kind byte) bool { return kind == indexChunk && each != nil })
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for kind == indexChunk && len(chunk) > 0 {
			var id, references []byte
			if id, chunk, err = cutBytes(chunk); err == nil {
				references, chunk, err = cutBytes(chunk)
			}
			if err == nil {
				segments++
				err = each(string(id), references)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if _, err := io.Copy(io.Discard, r.r); err != nil { // up to the digest
		return nil, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != m.SHA256 || each != nil && segments != m.Segments {
		return nil, ErrDamaged
	}
	return m, nil
}

func cutBytes(b []byte) (part, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, ErrDamaged
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}

// mostManifest bounds a manifest, in bytes.
const mostManifest = 16 << 20

// manifest reads the last line of a file. It also returns the number of bytes before the
// digits of the digest.
func manifest(f *os.File) (*Manifest, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("not a regular file, as shards must be")
	}
	end := info.Size()
	for n := int64(4 << 10); ; n *= 16 {
		n = min(n, end)
		tail := make([]byte, n)
		if _, err := f.ReadAt(tail, end-n); err != nil && err != io.EOF {
			return nil, 0, err
		}
		if !bytes.HasSuffix(tail, []byte(lineEnd)) {
			return nil, 0, ErrDamaged
		}
		begin := bytes.LastIndexByte(tail[:len(tail)-1], '\n')
		if begin < 0 && n < end && n < mostManifest {
			continue
		}
		m := &Manifest{}
		if begin < 0 || json.Unmarshal(tail[begin:], m) != nil || len(m.SHA256) != 2*sha256.Size {
			return nil, 0, ErrDamaged
		}
		if m.Format != format || m.Status != complete {
			return nil, 0, fmt.Errorf("a shard in the format %s, which this version of refract does not read", text.Quote(m.Format))
		}
		return m, end - int64(len(lineEnd)) - int64(len(m.SHA256)), nil
	}
}

// chunks reads the chunks of a file, up to the manifest.
type chunks struct {
	ctx context.Context
	r   *bufio.Reader
	in  []byte
	out []byte
}

func newChunks(ctx context.Context, r io.Reader) *chunks {
	return &chunks{ctx: ctx, r: bufio.NewReaderSize(r, 256<<10)}
}

// next returns the next chunk, unpacked if its kind is wanted, and io.EOF at the
// manifest. The bytes are valid until the next call.
func (c *chunks) next(wanted func(kind byte) bool) (kind byte, chunk []byte, err error) {
	if err := c.ctx.Err(); err != nil {
		return 0, nil, err
	}
	head, err := c.r.Peek(chunkHead)
	if len(head) > 0 && head[0] == '\n' {
		return 0, nil, io.EOF
	}
	if err != nil || !bytes.ContainsRune([]byte{indexChunk, bodyChunk, besideChunk, totalsChunk}, rune(head[0])) {
		return 0, nil, ErrDamaged
	}
	kind = head[0]
	n := int64(binary.LittleEndian.Uint32(head[1:]))
	c.r.Discard(chunkHead)
	if !wanted(kind) {
		if k, err := io.CopyN(io.Discard, c.r, n); err != nil || k < n {
			return 0, nil, ErrDamaged
		}
		return kind, nil, nil
	}
	buf := bytes.NewBuffer(c.in[:0]) // grows with the data, not with the length that damage may claim
	if _, err := io.CopyN(buf, c.r, n); err != nil {
		return 0, nil, ErrDamaged
	}
	c.in = buf.Bytes()
	if n, err := s2.DecodedLen(c.in); err != nil || n > mostChunk {
		return 0, nil, ErrDamaged
	}
	if c.out, err = s2.Decode(c.out[:cap(c.out)], c.in); err != nil {
		return 0, nil, ErrDamaged
	}
	return kind, c.out, nil
}

// body reads the chunks of one kind as a stream.
type body struct {
	*chunks
	kind byte
	left []byte
}

func (b *body) Read(p []byte) (int, error) {
	for len(b.left) == 0 {
		var err error
		if _, b.left, err = b.next(func(kind byte) bool { return kind == b.kind }); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
