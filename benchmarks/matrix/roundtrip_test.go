package matrix_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/matrix"
	"github.com/refract-eval/refract/metrics"
)

var update = flag.Bool("update", false, "write the golden files anew")

// same compares matrices bit by bit. It compares whether a metric needs references only if the
// rows show it.
func same(t rapid.TB, got, want stored) {
	t.Helper()
	bits := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	shown := forgetUnseen(want)
	require.Empty(t, cmp.Diff(shown.Segments, got.Segments, bits), "segments (-want +got)")
	require.Equal(t, len(want.Metrics), len(got.Metrics))
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
		require.Equal(t, needs, g.NeedsReferences, "%q needs references", g.Name)
		require.Equal(t, native, g.HasNative(), "%q has native scores", g.Name)
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
			require.Equal(t, w.NativeSignature(n), g.NativeSignature(n), "signature of native scores")
		}
	}
}

// forgetUnseen returns the matrix without references that no metric uses, because no row shows
// them.
func forgetUnseen(m stored) stored {
	out := stored{Metrics: m.Metrics}
	for _, s := range m.Segments {
		seg := *s.Segment
		if !slices.ContainsFunc(m.Metrics, func(i matrix.Info) bool { return i.NeedsReferences }) || len(seg.References) == 0 {
			seg.References = nil
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
		require.NoError(t, err, "%s", lines)
		same(t, fromLines, m)
		again := writeAll(t, fromLines, jsonl)
		require.True(t, bytes.Equal(lines, again), "written again:\n%s\nfirst:\n%s", again, lines)
		columns := writeAll(t, m, pq)
		fromParquet, err := readParquet(columns)
		require.NoError(t, err)
		same(t, fromParquet, m)
		if again := writeAll(t, fromParquet, pq); !bytes.Equal(columns, again) {
			t.Fatal("Parquet written again has other bytes")
		}
	})
}

// Changed, missing and reordered rows are refused anywhere in the file.
func TestChangedRows(t *testing.T) {
	whole := bytes.SplitAfter(writeAll(t, sample(), jsonl), []byte("\n"))
	whole = whole[:len(whole)-1]
	for n := range whole {
		_, err := readJSONL(bytes.Join(whole[:n], nil))
		assert.ErrorContains(t, err, "refract score DATASET", "%d of %d lines", n, len(whole))
		less := slices.Delete(slices.Clone(whole), n, n+1)
		_, err = readJSONL(bytes.Join(less, nil))
		assert.Error(t, err, "line %d is left out, without an error", n+1)
		twice := slices.Insert(slices.Clone(whole), n, whole[n])
		_, err = readJSONL(bytes.Join(twice, nil))
		assert.Error(t, err, "line %d is there twice, without an error", n+1)
		for k := range n {
			mixed := slices.Clone(whole)
			mixed[k], mixed[n] = mixed[n], mixed[k]
			_, err := readJSONL(bytes.Join(mixed, nil))
			assert.Error(t, err, "lines %d and %d are swapped, without an error", k+1, n+1)
		}
	}
	other := bytes.Replace(bytes.Join(whole, nil), []byte("12.5"), []byte("12.6"), 1)
	_, err := readJSONL(other)
	assert.ErrorContains(t, err, "m.jsonl: the digest of the matrix does not match", "a digit is changed")
}

// Match distinguishes the scored texts from others.
func TestMatch(t *testing.T) {
	m := sample()
	for _, s := range m.Segments {
		for i := range s.Segment.References {
			s.Segment.References[i].Value = "reference"
		}
		for i := range s.Segment.Hypotheses {
			s.Segment.Hypotheses[i].Text.Value = "output"
		}
	}
	r := matrix.NewJSONLReader(bytes.NewReader(writeAll(t, m, jsonl)), "m.jsonl")
	i := 0
	for _, err := range r.Segments(t.Context()) {
		require.NoError(t, err)
		seg := m.Segments[i].Segment
		i++
		assert.NoError(t, r.Match(seg), seg.ID)
		for k := range seg.References {
			other := *seg
			other.References = slices.Clone(seg.References)
			other.References[k] = refract.NewText("another")
			if err := r.Match(&other); err == nil || err.Error() != fmt.Sprintf("reference %d is not the one that was scored", k+1) {
				t.Errorf("%s: %v", seg.ID, err)
			}
		}
		for k, h := range seg.Hypotheses {
			other := *seg
			other.Hypotheses = slices.Clone(seg.Hypotheses)
			other.Hypotheses[k].Text.Valid = !h.Text.Valid
			if err := r.Match(&other); err == nil || err.Error() != fmt.Sprintf("the output of system %q is not the one that was scored", h.System) {
				t.Errorf("%s: %v", seg.ID, err)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	got := writeAll(t, sample(), jsonl)
	path := filepath.Join("testdata", "matrix.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(got, want), "got\n%s\nwant\n%s", got, want)
	r, err := matrix.Open(path)
	require.NoError(t, err)
	defer r.Close()
	assert.Len(t, r.Metrics(), 0, "metrics are known before a segment is read")
	line := 1
	for s, err := range r.Segments(context.Background()) {
		require.NoError(t, err)
		assert.Len(t, r.Metrics(), 3)
		want := (refract.Position{File: path, Line: line})
		assert.True(t, s.Segment.Pos == want, "segment at %v, want %v", s.Segment.Pos, want)
		for _, ms := range s.Metrics {
			line += len(ms.Values) + len(ms.Native)
		}
	}
}
