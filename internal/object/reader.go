package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
)

// What is read at places is fetched in blocks, of which the last used stay.
const (
	blockBytes = 1 << 20
	mostBlocks = 24
)

// reader is an object that is read: in one stream from its beginning, and in
// blocks at places.
type reader struct {
	ctx    context.Context
	p      place
	bucket bucket
	info   info
	stream io.ReadCloser // nil before the first Read

	mu     sync.Mutex
	blocks []block // the last used stands last
}

type block struct {
	number int64
	bytes  []byte
}

func newReader(ctx context.Context, b bucket, p place) (*reader, error) {
	size, err := b.size(ctx, p.key)
	if err != nil {
		return nil, p.fault("read", err)
	}
	return &reader{ctx: ctx, p: p, bucket: b, info: info{p.key, size}}, nil
}

func (r *reader) Stat() (fs.FileInfo, error) { return r.info, nil }

func (r *reader) Read(b []byte) (n int, err error) {
	if r.stream == nil {
		if r.stream, err = r.bucket.read(r.ctx, r.p.key, 0, -1); err != nil {
			return 0, r.p.fault("read", err)
		}
	}
	n, err = r.stream.Read(b)
	if err != nil && err != io.EOF {
		err = r.p.fault("read", err)
	}
	return n, err
}

func (r *reader) ReadAt(b []byte, at int64) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(b) {
		if at >= r.info.size {
			return n, io.EOF
		}
		bytes, err := r.block(at / blockBytes)
		if err != nil {
			return n, r.p.fault("read", err)
		}
		k := copy(b[n:], bytes[at%blockBytes:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

func (r *reader) block(number int64) ([]byte, error) {
	for i, b := range r.blocks {
		if b.number == number {
			r.blocks = append(append(r.blocks[:i], r.blocks[i+1:]...), b)
			return b.bytes, nil
		}
	}
	from := number * blockBytes
	in, err := r.bucket.read(r.ctx, r.p.key, from, min(blockBytes, r.info.size-from))
	if err != nil {
		return nil, err
	}
	bytes := make([]byte, min(blockBytes, r.info.size-from))
	_, err = io.ReadFull(in, bytes)
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	if len(r.blocks) == mostBlocks {
		r.blocks = r.blocks[1:]
	}
	r.blocks = append(r.blocks, block{number, bytes})
	return bytes, nil
}

func (r *reader) Close() error {
	var err error
	if r.stream != nil {
		err = r.stream.Close()
	}
	return errors.Join(err, r.bucket.close())
}
