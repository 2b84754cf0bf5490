package publish

import (
	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// whole writes segments with all that is known of them, to one file.
type whole struct {
	encode   func(*refract.Segment) error
	close    func() error
	rejected int
	err      error // of creating the file
}

const (
	jsonlPath   = "references.jsonl"
	parquetPath = "data/test-00000-of-00001.parquet" // the name by which Hugging Face knows a split
)

func newJSONL(d *folder) exporter {
	f, err := d.create(jsonlPath, dataset.RoleSegments)
	if err != nil {
		return &whole{err: err}
	}
	return &whole{encode: dataset.NewEncoder(f).Encode, close: func() error { return nil }}
}

func newParquet(d *folder) exporter {
	f, err := d.create(parquetPath, dataset.RoleSegments)
	if err != nil {
		return &whole{err: err}
	}
	e := dataset.NewParquetEncoder(f)
	return &whole{encode: e.Encode, close: e.Close}
}

func (w *whole) add(s *refract.Segment) error {
	if w.err != nil {
		return w.err
	}
	w.rejected += len(s.Rejected)
	return w.encode(s)
}

func (w *whole) finish(m *dataset.Manifest) error {
	m.Rejected = w.rejected
	return w.close()
}
