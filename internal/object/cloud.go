//go:build cloud

package object

import (
	"context"
	"io"
	"io/fs"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/gcsblob" // gs://
	_ "gocloud.dev/blob/s3blob"  // s3://
	"gocloud.dev/gcerrors"
)

func openBucket(ctx context.Context, name string) (bucket, error) {
	b, err := blob.OpenBucket(ctx, name)
	if err != nil {
		return nil, err
	}
	return store{b}, nil
}

// store is a bucket of gocloud.dev.
type store struct{ b *blob.Bucket }

func (s store) size(ctx context.Context, key string) (int64, error) {
	a, err := s.b.Attributes(ctx, key)
	if err != nil {
		return 0, absent(err)
	}
	return a.Size, nil
}

func (s store) read(ctx context.Context, key string, from, n int64) (io.ReadCloser, error) {
	r, err := s.b.NewRangeReader(ctx, key, from, n, nil)
	if err != nil {
		return nil, absent(err)
	}
	return r, nil
}

func (s store) write(ctx context.Context, key string) (io.WriteCloser, error) {
	return s.b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream"})
}

func (s store) close() error { return s.b.Close() }

func absent(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fs.ErrNotExist
	}
	return err
}
