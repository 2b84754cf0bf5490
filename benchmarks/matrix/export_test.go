package matrix

import "io"

// NewJSONLReader reads a stream of JSON Lines, which errors call name.
func NewJSONLReader(r io.Reader, name string) *Reader {
	return &Reader{name: name, src: newJSONLSource(r, name)}
}

// NewParquetReader reads Parquet; size is in bytes.
func NewParquetReader(r io.ReaderAt, size int64, name string) (*Reader, error) {
	src, err := newParquetSource(r, size, name)
	return &Reader{name: name, src: src}, err
}
