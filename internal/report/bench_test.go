package report

import (
	"fmt"
	"io"
	"testing"
)

// One operation writes what `score --per cell` does for a test set of
// middling size: 300,000 rows of 8 columns.
func BenchmarkWriter(b *testing.B) {
	const rows = 300_000
	columns := []Column{
		{Name: "id"}, {Name: "system"}, {Name: "metric"}, {Name: "aggregate"},
		{Name: "references", Kind: KindInt}, {Name: "score", Kind: KindFloat, Digits: 2}, {Name: "status"}, {Name: "signature"},
	}
	ids := make([]string, 2000)
	for i := range ids {
		ids[i] = fmt.Sprintf("segment-%d", i)
	}
	for _, format := range []Format{JSON, JSONLines, CSV, TSV} {
		b.Run(string(format), func(b *testing.B) {
			for b.Loop() {
				var out peak
				w, err := NewWriter(&out, format, columns, Options{})
				if err != nil {
					b.Fatal(err)
				}
				row := make([]Value, len(columns))
				row[1], row[2], row[3] = String("Online-A"), String("bleu"), String("max")
				row[6], row[7] = String("scored"), String("nrefs:11|case:mixed|eff:yes|tok:13a|smooth:exp|agg:max|version:0.1.0")
				for i := range rows {
					row[0], row[4], row[5] = String(ids[i%len(ids)]), Int(11), Float(100/float64(i+3))
					if err := w.Row(row...); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(out.total))
			}
		})
	}
}

func BenchmarkTable(b *testing.B) {
	columns := []Column{{Name: "id"}, {Name: "score", Kind: KindFloat, Digits: 2}}
	for b.Loop() {
		w, err := NewWriter(io.Discard, Table, columns, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 1000 {
			if err := w.Row(String("a system"), Float(float64(i))); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
