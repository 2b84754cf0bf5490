package matrix

import "io"

// NewJSONLReader reads a stream of JSON Lines; name stands for it in errors.
func NewJSONLReader(r io.Reader, name string) *Reader { return &Reader{src: newJSONLSource(r, name)} }

// NewParquetReader reads Parquet of a size in bytes.
func NewParquetReader(r io.ReaderAt, size int64, name string) (*Reader, error) {
	src, err := newParquetSource(r, size, name)
	return &Reader{src: src}, err
}
