package matrix_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/matrix"
	"github.com/refract-eval/refract/metrics"
)

// large is 1,875 segments × 14 systems × 11 references with native scores:
// 315,000 rows.
func large() stored {
	rng := rand.New(rand.NewPCG(1, 2))
	const systems, references = 14, 11
	m := stored{Metrics: []matrix.Info{{
		Name: "bleu", Direction: metrics.HigherIsBetter, NeedsReferences: true,
		CellSignature: "nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:0.1.0",
		NativeSignature: func(n int) string {
			return fmt.Sprintf("nrefs:%d|case:mixed|eff:yes|tok:13a|smooth:exp|version:0.1.0", n)
		},
	}}}
	random := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = 100 * rng.Float64()
		}
		return out
	}
	for i := range 1875 {
		seg := &refract.Segment{ID: fmt.Sprintf("zh-en:%d", i), References: make([]refract.Text, references)}
		for r := range seg.References {
			seg.References[r].Valid = true
		}
		for h := range systems {
			seg.Hypotheses = append(seg.Hypotheses, refract.Hypothesis{System: fmt.Sprintf("system-%d", h), Text: refract.Text{Valid: true}})
		}
		m.Segments = append(m.Segments, &refract.SegmentScores{Segment: seg, Metrics: []refract.MetricScores{{
			Columns: references, Values: random(systems * references), Status: make([]metrics.Status, systems*references),
			Native: random(systems), NativeStatus: make([]metrics.Status, systems),
		}}})
	}
	return m
}

// Row groups and buffers end in the midst of segments.
func TestLarge(t *testing.T) {
	m := large()
	want := writeAll(t, m, jsonl)
	fromParquet, err := readParquet(writeAll(t, m, pq))
	if err != nil {
		t.Fatal(err)
	}
	fromJSONL, err := readJSONL(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]stored{"Parquet": fromParquet, "JSON Lines": fromJSONL} {
		if !bytes.Equal(writeAll(t, got, jsonl), want) {
			t.Errorf("%s: another matrix", name)
		}
	}
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func benchmarkWrite(b *testing.B, create func(io.Writer) *matrix.Writer) {
	m := large()
	var size counter
	b.ReportAllocs()
	for b.Loop() {
		size = 0
		w := create(&size)
		for _, s := range m.Segments {
			if err := w.WriteSegment(s, m.Metrics); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/1e6, "MB")
}

func benchmarkRead(b *testing.B, create func(*bytes.Buffer) *matrix.Writer, open func([]byte) (*matrix.Reader, error)) {
	var out bytes.Buffer
	m := large()
	w := create(&out)
	for _, s := range m.Segments {
		if err := w.WriteSegment(s, m.Metrics); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, err := open(out.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range r.Segments(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != len(m.Segments) {
			b.Fatal(n)
		}
	}
}

func BenchmarkWriteJSONL(b *testing.B)   { benchmarkWrite(b, matrix.NewJSONLWriter) }
func BenchmarkWriteParquet(b *testing.B) { benchmarkWrite(b, matrix.NewParquetWriter) }

func BenchmarkReadJSONL(b *testing.B) {
	benchmarkRead(b, jsonl, func(in []byte) (*matrix.Reader, error) {
		return matrix.NewJSONLReader(bytes.NewReader(in), "m.jsonl"), nil
	})
}

func BenchmarkReadParquet(b *testing.B) {
	benchmarkRead(b, pq, func(in []byte) (*matrix.Reader, error) {
		return matrix.NewParquetReader(bytes.NewReader(in), int64(len(in)), "m.parquet")
	})
}
