package matrix_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/aggregate"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/matrix"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/bleu"
	"github.com/refract-eval/refract/metrics/ter"
)

var update = flag.Bool("update", false, "write the golden files anew")

// same compares matrices bit by bit. Whether a metric needs references is
// compared only where its rows tell.
func same(t require, got, want stored) {
	t.Helper()
	bits := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	shown := forgetUnseen(want)
	if d := cmp.Diff(shown.Segments, got.Segments, bits); d != "" {
		t.Fatalf("segments (-want +got):\n%s", d)
	}
	if len(got.Metrics) != len(want.Metrics) {
		t.Fatalf("%d metrics, want %d", len(got.Metrics), len(want.Metrics))
	}
	for k, g := range got.Metrics {
		w := want.Metrics[k]
		if g.Name != w.Name || g.Direction != w.Direction || g.CellSignature != w.CellSignature {
			t.Fatalf("metric %d is %+v, want %+v", k, g, w)
		}
		needs, native := false, false
		for _, s := range want.Segments {
			ms := s.Metrics[k]
			native = native || ms.Native != nil
			for _, st := range ms.Status {
				needs = needs || w.NeedsReferences && (len(s.Segment.References) > 0 || st == metrics.MissingReference)
			}
		}
		if g.NeedsReferences != needs {
			t.Fatalf("%q needs references: %v, want %v", g.Name, g.NeedsReferences, needs)
		}
		if g.HasNative() != native {
			t.Fatalf("%q has native scores: %v, want %v", g.Name, g.HasNative(), native)
		}
		for _, s := range want.Segments {
			if s.Metrics[k].Native == nil {
				continue
			}
			n := 0
			for _, r := range s.Segment.References {
				if r.Valid && w.NeedsReferences {
					n++
				}
			}
			if g.NativeSignature(n) != w.NativeSignature(n) {
				t.Fatalf("signature of native scores %q, want %q", g.NativeSignature(n), w.NativeSignature(n))
			}
		}
	}
}

// forgetUnseen is the matrix without what no row tells: references that no
// metric looks at, and the absence of those that have no hypothesis to be
// scored against them.
func forgetUnseen(m stored) stored {
	out := stored{Metrics: m.Metrics}
	for _, s := range m.Segments {
		seg := *s.Segment
		seg.References = nil
		for k, ms := range s.Metrics {
			if !m.Metrics[k].NeedsReferences || len(s.Segment.References) == 0 {
				continue
			}
			if seg.References == nil {
				seg.References = make([]refract.Text, len(s.Segment.References))
				for i := range seg.References {
					seg.References[i].Valid = true
				}
			}
			for i, st := range ms.Status {
				if st == metrics.MissingReference {
					seg.References[i%ms.Columns].Valid = false
				}
			}
		}
		out.Segments = append(out.Segments, &refract.SegmentScores{Segment: &seg, Metrics: s.Metrics})
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t)
		lines := writeAll(t, m, jsonl)
		fromLines, err := readJSONL(lines)
		if err != nil {
			t.Fatalf("%v in\n%s", err, lines)
		}
		same(t, fromLines, m)
		if again := writeAll(t, fromLines, jsonl); !bytes.Equal(lines, again) {
			t.Fatalf("written again:\n%s\nfirst:\n%s", again, lines)
		}
		columns := writeAll(t, m, pq)
		fromParquet, err := readParquet(columns)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fromParquet, m)
		if again := writeAll(t, fromParquet, pq); !bytes.Equal(columns, again) {
			t.Fatal("Parquet written again has other bytes")
		}
	})
}

// Rows of a segment may stand in any order: a database may have sorted them.
func TestOrderOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := sample()
		lines := bytes.SplitAfter(writeAll(t, m, jsonl), []byte("\n"))
		lines = lines[:len(lines)-1]
		ends := []int{0}
		for i := 1; i <= len(lines); i++ {
			if i == len(lines) || !bytes.Equal(lines[i][:9], lines[i-1][:9]) {
				ends = append(ends, i)
			}
		}
		var mixed []byte
		for i := 1; i < len(ends); i++ {
			part := lines[ends[i-1]:ends[i]]
			for _, line := range rapid.Permutation(part).Draw(t, "rows") {
				mixed = append(mixed, line...)
			}
		}
		got, err := readJSONL(mixed)
		if err != nil {
			t.Fatalf("%v in\n%s", err, mixed)
		}
		if len(got.Segments) != len(m.Segments) {
			t.Fatalf("%d segments", len(got.Segments))
		}
		for k, info := range got.Metrics {
			for w, want := range m.Metrics {
				if info.Name != want.Name {
					continue
				}
				for i, s := range got.Segments {
					for h, hyp := range s.Segment.Hypotheses {
						for wh, wantHyp := range m.Segments[i].Segment.Hypotheses {
							if hyp.System != wantHyp.System {
								continue
							}
							g, w := s.Metrics[k], m.Segments[i].Metrics[w]
							if d := cmp.Diff(w.Values[wh*w.Columns:(wh+1)*w.Columns], g.Values[h*g.Columns:(h+1)*g.Columns]); d != "" {
								t.Fatal(d)
							}
						}
					}
				}
			}
		}
	})
}

func TestGolden(t *testing.T) {
	got := writeAll(t, sample(), jsonl)
	path := filepath.Join("testdata", "matrix.jsonl")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r, err := matrix.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.Metrics()) != 0 {
		t.Error("metrics are known before a segment is read")
	}
	line := 1
	for s, err := range r.Segments(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Metrics()) != 3 {
			t.Errorf("%d metrics after a segment", len(r.Metrics()))
		}
		if want := (refract.Position{File: path, Line: line}); s.Segment.Pos != want {
			t.Errorf("segment at %v, want %v", s.Segment.Pos, want)
		}
		for _, ms := range s.Metrics {
			line += len(ms.Values) + len(ms.Native)
		}
	}
}

// The lines are those of encoding/json.
func TestJSONLIsEncodingJSON(t *testing.T) {
	type object struct {
		ID         string   `json:"id"`
		System     string   `json:"system"`
		Metric     string   `json:"metric"`
		Aggregate  *string  `json:"aggregate"`
		Reference  *int     `json:"reference"`
		References int      `json:"references"`
		Score      *float64 `json:"score"`
		Status     string   `json:"status"`
		Direction  string   `json:"direction"`
		Signature  string   `json:"signature"`
	}
	texts := rapid.OneOf(rapid.StringN(1, -1, -1), rapid.StringOfN(rapid.RuneFrom([]rune("a\"\\/<>&\x00\x01\x1f\x7f\b\f\n\r\t\u2028\u2029\ufffd\U0001f600é")), 1, 20, -1))
	score := rapid.OneOf(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), rapid.Float64Range(-100, 100), rapid.SampledFrom([]float64{
		0, math.Copysign(0, -1), 1e-6, 9.999e-7, 1e-7, 1e-10, 1e20, 1e21, 1e22, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 100, 1.0 / 3,
	}))
	rapid.Check(t, func(t *rapid.T) {
		row := matrix.Row{
			ID: texts.Draw(t, "id"), System: texts.Draw(t, "system"), Metric: texts.Draw(t, "metric"), Reference: 3, References: 1,
			Score: score.Draw(t, "score"), Direction: metrics.LowerIsBetter, Signature: texts.Draw(t, "signature"),
		}
		var got, want bytes.Buffer
		w := matrix.NewJSONLWriter(&got)
		if err := w.Write(&row); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(object{row.ID, row.System, row.Metric, nil, &row.Reference, 1, &row.Score, "scored", "lower", row.Signature}); err != nil {
			t.Fatal(err)
		}
		if !strings.ContainsFunc(row.ID+row.System+row.Metric+row.Signature, text.Hidden) && got.String() != want.String() { // which it does not escape
			t.Fatalf("got  %swant %s", got.String(), want.String())
		}
		m, err := readJSONL(bytes.Replace(got.Bytes(), []byte(`"reference":3`), []byte(`"reference":0`), 1))
		if err != nil {
			t.Fatal(err)
		}
		s := m.Segments[0]
		if s.Segment.ID != row.ID || s.Segment.Hypotheses[0].System != row.System || m.Metrics[0].Name != row.Metric ||
			m.Metrics[0].CellSignature != row.Signature || math.Float64bits(s.Metrics[0].Values[0]) != math.Float64bits(row.Score) {
			t.Fatalf("read back %+v of %+v", s, row)
		}
	})
}

// What an engine gives is stored and read back, whatever is missing.
func TestEngine(t *testing.T) {
	b, err := bleu.New(bleu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	native, err := aggregate.Parse("native")
	if err != nil {
		t.Fatal(err)
	}
	e, err := refract.NewEngine([]refract.Setting{{Metric: b, Aggregator: native}, {Metric: ter.New(ter.Options{}), Aggregator: native}}, refract.Options{AllowNoReferences: true})
	if err != nil {
		t.Fatal(err)
	}
	var infos []matrix.Info
	for _, m := range e.Metrics() {
		i := m.Info()
		infos = append(infos, matrix.Info{
			Name: i.Name, Direction: i.Direction, NeedsReferences: i.NeedsReferences,
			CellSignature: m.Signature(metrics.Sentence).String(), NativeSignature: nativeSignature(i.Name),
		})
	}
	text := rapid.Custom(func(t *rapid.T) refract.Text {
		if rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
			return refract.Text{}
		}
		return refract.NewText(rapid.SampledFrom([]string{"", "a", "a b c d e", "b c d e f", "the same words again"}).Draw(t, "text"))
	})
	rapid.Check(t, func(t *rapid.T) {
		var segments []*refract.Segment
		for i := range rapid.IntRange(1, 4).Draw(t, "segments") {
			s := &refract.Segment{ID: string(rune('a' + i)), References: rapid.SliceOfN(text, 0, 3).Draw(t, "references")}
			for range rapid.IntRange(0, 2).Draw(t, "variants") {
				s.Variants = append(s.Variants, refract.Variant{Text: text.Draw(t, "variant")})
			}
			for h, hyp := range rapid.SliceOfN(text, 1, 3).Draw(t, "hypotheses") {
				s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: string(rune('A' + h)), Text: hyp})
			}
			segments = append(segments, s)
		}
		scores, err := e.Score(context.Background(), segments)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readJSONL(writeAll(t, stored{infos, scores}, jsonl))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			for k := range s.Metrics {
				g, w := got.Segments[i].Metrics[k], s.Metrics[k]
				w.First, w.All = nil, nil
				for j, st := range w.Status {
					if st != metrics.Scored {
						w.Values[j] = 0
					}
				}
				if d := cmp.Diff(w, g); d != "" {
					t.Fatalf("segment %q, %s (-engine +stored):\n%s", s.Segment.ID, infos[k].Name, d)
				}
			}
			for h, hyp := range s.Segment.Hypotheses {
				if g := got.Segments[i].Segment.Hypotheses[h]; g.System != hyp.System || g.Text.Valid != hyp.Text.Valid {
					t.Fatalf("hypothesis %+v of %+v", g, hyp)
				}
			}
		}
	})
}
