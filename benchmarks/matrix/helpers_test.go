package matrix_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/metrics"
)

// stored is a whole matrix.
type stored struct {
	Metrics  []matrix.Info
	Segments []*refract.SegmentScores
}

// readAll reads a matrix, without the positions of its segments.
func readAll(r *matrix.Reader) (stored, error) {
	var m stored
	for s, err := range r.Segments(context.Background()) {
		if err != nil {
			return m, err
		}
		s.Segment.Pos = refract.Position{}
		m.Segments = append(m.Segments, s)
	}
	m.Metrics = r.Metrics()
	return m, nil
}

func readJSONL(b []byte) (stored, error) {
	return readAll(matrix.NewJSONLReader(bytes.NewReader(b), "m.jsonl"))
}

func readParquet(b []byte) (stored, error) {
	r, err := matrix.NewParquetReader(bytes.NewReader(b), int64(len(b)), "m.parquet")
	if err != nil {
		return stored{}, err
	}
	return readAll(r)
}

// writeAll writes a matrix and returns its bytes.
func writeAll(t rapid.TB, m stored, create func(*bytes.Buffer) *matrix.Writer) []byte {
	t.Helper()
	var b bytes.Buffer
	w := create(&b)
	for _, s := range m.Segments {
		require.NoError(t, w.WriteSegment(s, m.Metrics))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func jsonl(b *bytes.Buffer) *matrix.Writer { return matrix.NewJSONLWriter(b) }
func pq(b *bytes.Buffer) *matrix.Writer    { return matrix.NewParquetWriter(b) }

func nativeSignature(name string) func(int) string {
	return func(n int) string { return fmt.Sprintf("%s|nrefs:%d", name, n) }
}

// texts draws references or hypotheses, some of them missing.
func texts(t *rapid.T, label string, lo, hi int) []refract.Text {
	return rapid.Map(rapid.SliceOfN(rapid.IntRange(0, 5), lo, hi), func(draws []int) []refract.Text {
		out := make([]refract.Text, len(draws))
		for i, d := range draws {
			out[i].Valid = d > 0
		}
		return out
	}).Draw(t, label)
}

// drawMatrix draws a matrix that an engine could have yielded.
func drawMatrix(t *rapid.T) stored {
	name := rapid.StringN(1, 8, -1)
	var m stored
	names := rapid.SliceOfNDistinct(name, 1, 3, rapid.ID[string]).Draw(t, "metrics")
	natives := make([]bool, len(names))
	for k, n := range names {
		info := matrix.Info{
			Name: n, Direction: metrics.HigherIsBetter, CellSignature: rapid.String().Draw(t, "signature"),
			NeedsReferences: rapid.Bool().Draw(t, "needs references"),
		}
		if rapid.Bool().Draw(t, "lower") {
			info.Direction = metrics.LowerIsBetter
		}
		if natives[k] = rapid.Bool().Draw(t, "native"); natives[k] {
			info.NativeSignature = nativeSignature(n)
		}
		m.Metrics = append(m.Metrics, info)
	}
	for _, id := range rapid.SliceOfNDistinct(name, 1, 4, rapid.ID[string]).Draw(t, "ids") {
		seg := &refract.Segment{ID: id, References: texts(t, "references", 0, 4)}
		systems := rapid.SliceOfNDistinct(name, 1, 4, rapid.ID[string]).Draw(t, "systems")
		for h, text := range texts(t, "hypotheses", len(systems), len(systems)) {
			seg.Hypotheses = append(seg.Hypotheses, refract.Hypothesis{System: systems[h], Text: text})
		}
		noSource := rapid.IntRange(0, 9).Draw(t, "no source") == 0
		s := &refract.SegmentScores{Segment: seg}
		for k, info := range m.Metrics {
			s.Metrics = append(s.Metrics, drawScores(t, seg, info, natives[k], noSource))
		}
		m.Segments = append(m.Segments, s)
	}
	return m
}

func drawScores(t *rapid.T, seg *refract.Segment, info matrix.Info, native, noSource bool) refract.MetricScores {
	ms := refract.MetricScores{Columns: 1}
	if info.NeedsReferences {
		ms.Columns = max(1, len(seg.References))
	}
	score := func(st metrics.Status) (float64, metrics.Status) {
		if st == metrics.Scored && rapid.IntRange(0, 9).Draw(t, "failed") == 0 {
			st = rapid.SampledFrom([]metrics.Status{
				metrics.Failed, metrics.Unparseable, metrics.Blocked, metrics.Cut, metrics.Unneeded,
			}).Draw(t, "status")
		}
		if st != metrics.Scored {
			return 0, st
		}
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "score"), st
	}
	present := false
	for _, h := range seg.Hypotheses {
		for c := range ms.Columns {
			st := metrics.Scored
			switch {
			case !h.Text.Valid:
				st = metrics.MissingHypothesis
			case info.NeedsReferences && (len(seg.References) == 0 || !seg.References[c].Valid):
				st = metrics.MissingReference
			case noSource:
				st = metrics.MissingSource
			}
			v, st := score(st)
			present = present || st == metrics.Scored
			ms.Values, ms.Status = append(ms.Values, v), append(ms.Status, st)
		}
	}
	if native && present {
		for _, h := range seg.Hypotheses {
			st := metrics.Scored
			if !h.Text.Valid {
				st = metrics.MissingHypothesis
			}
			v, st := score(st)
			ms.Native, ms.NativeStatus = append(ms.Native, v), append(ms.NativeStatus, st)
		}
	}
	return ms
}

// sample returns a small matrix with every kind of row.
func sample() stored {
	text := refract.Text{Valid: true}
	return stored{
		Metrics: []matrix.Info{
			{Name: "bleu:tokenize=intl", Direction: metrics.HigherIsBetter, NeedsReferences: true,
				CellSignature: "nrefs:1|tok:intl", NativeSignature: func(n int) string { return fmt.Sprintf("nrefs:%d|tok:intl", n) }},
			{Name: "ter", Direction: metrics.LowerIsBetter, NeedsReferences: true, CellSignature: "nrefs:1|case:lc"},
			{Name: "length", Direction: metrics.HigherIsBetter, CellSignature: `unit:"word"`},
		},
		Segments: []*refract.SegmentScores{
			{
				Segment: &refract.Segment{ID: "a", References: []refract.Text{text, {}, text},
					Hypotheses: []refract.Hypothesis{{System: "émile <1>", Text: text}, {System: "B"}}},
				Metrics: []refract.MetricScores{
					{Columns: 3, Values: []float64{12.5, 0, 1e-9, 0, 0, 0},
						Status: []metrics.Status{metrics.Scored, metrics.MissingReference, metrics.Scored, metrics.MissingHypothesis, metrics.MissingHypothesis, metrics.MissingHypothesis},
						Native: []float64{14.75, 0}, NativeStatus: []metrics.Status{metrics.Scored, metrics.MissingHypothesis}},
					{Columns: 3, Values: []float64{80, 0, 100.0 / 3, 0, 0, 0},
						Status: []metrics.Status{metrics.Scored, metrics.MissingReference, metrics.Scored, metrics.MissingHypothesis, metrics.MissingHypothesis, metrics.MissingHypothesis}},
					{Columns: 1, Values: []float64{7, 0}, Status: []metrics.Status{metrics.Scored, metrics.MissingHypothesis}},
				},
			},
			{
				Segment: &refract.Segment{ID: "b", References: []refract.Text{text},
					Hypotheses: []refract.Hypothesis{{System: "B", Text: text}}},
				Metrics: []refract.MetricScores{
					{Columns: 1, Values: []float64{0}, Status: []metrics.Status{metrics.Scored},
						Native: []float64{0}, NativeStatus: []metrics.Status{metrics.Scored}},
					{Columns: 1, Values: []float64{0}, Status: []metrics.Status{metrics.Failed}},
					{Columns: 1, Values: []float64{0}, Status: []metrics.Status{metrics.MissingSource}},
				},
			},
			{
				Segment: &refract.Segment{ID: "no references", Hypotheses: []refract.Hypothesis{{System: "B", Text: text}}},
				Metrics: []refract.MetricScores{
					{Columns: 1, Values: []float64{0}, Status: []metrics.Status{metrics.MissingReference}},
					{Columns: 1, Values: []float64{0}, Status: []metrics.Status{metrics.MissingReference}},
					{Columns: 1, Values: []float64{3}, Status: []metrics.Status{metrics.Scored}},
				},
			},
		},
	}
}
