package command

import (
	"path/filepath"

	"github.com/refract-eval/refract/internal/atomicfile"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/report"
)

// matrixWriter writes cells as the format says that was asked for, or the
// extension of the output.
func (s *scorer) matrixWriter(out *atomicfile.File) (matrix.Writer, error) {
	switch {
	case filepath.Ext(s.path) == ".parquet":
		if s.formatGiven {
			return nil, usagef("-o %s is Parquet; leave --format out", s.path)
		}
		return matrix.NewParquetWriter(out), nil
	case s.format == report.JSONLines:
		return matrix.NewJSONLWriter(out), nil
	}
	w, err := s.table(out, matrix.TableColumns(), report.Options{})
	if err != nil {
		return nil, err
	}
	return matrix.NewTableWriter(w), nil
}
