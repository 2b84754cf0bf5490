package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
)

// blocks unpacks the data of a page as a browser does.
func blocks(t testing.TB, b []byte, kind string) [][]byte {
	t.Helper()
	var out [][]byte
	for _, s := range element(b, `<script type="text/plain" data-block="`+kind+`">`, "</script>") {
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(s)))
		require.NoError(t, err)
		data, err := io.ReadAll(z)
		require.NoError(t, err)
		out = append(out, data)
	}
	return out
}

type storedSegment struct {
	ID         string
	Document   string
	Source     *string
	References []struct{ Text *string }
	Outputs    []struct {
		Text    *string
		Cells   [][]*float64
		Reports []struct {
			Outcome string
			Errors  []struct{ Span [2]int }
		}
	}
}

func storedSegments(t testing.TB, b []byte) []storedSegment {
	t.Helper()
	var out []storedSegment
	for _, data := range blocks(t, b, "segments") {
		// JavaScript reads as infinite what Go refuses
		data = bytes.ReplaceAll(data, []byte("1e999"), []byte("1e300"))
		var chunk []storedSegment
		require.NoError(t, json.Unmarshal(data, &chunk))
		out = append(out, chunk...)
	}
	return out
}

func sameText(got *string, want refract.Text) bool {
	if got == nil || !want.Valid {
		return got == nil && !want.Valid
	}
	return *got == strings.ToValidUTF8(string([]rune(want.Value)), "\ufffd")
}

func TestSegmentsAreStored(t *testing.T) {
	e := demoExplorer(60)
	want := collect(t, e.Segments)
	b := written(t, &page.Document{Title: "x", Explorer: e})
	assert.GreaterOrEqual(t, len(blocks(t, b, "segments")), 2)
	got := storedSegments(t, b)
	require.Len(t, got, len(want), "%d segments", len(got))
	for i, s := range want {
		g := got[i]
		if !sameText(&g.ID, text(s.ID)) || !sameText(g.Source, s.Source) || len(g.Outputs) != len(s.Outputs) || len(g.References) != len(s.References) {
			t.Fatalf("segment %d is stored as %+v", i+1, g)
		}
		for k, r := range s.References {
			if !sameText(g.References[k].Text, r.Text) {
				t.Errorf("segment %d: reference %d is stored as %v", i+1, k+1, g.References[k].Text)
			}
		}
		for k, o := range s.Outputs {
			if !sameText(g.Outputs[k].Text, o.Text) {
				t.Errorf("segment %d: output %d is stored as %v", i+1, k+1, g.Outputs[k].Text)
			}
			for m, r := range o.Reports {
				for n, e := range r.Errors {
					assert.Equal(t, e.Span, g.Outputs[k].Reports[m].Errors[n].Span)
				}
			}
			for m, row := range o.Cells {
				for r, f := range row {
					if c := g.Outputs[k].Cells[m][r]; (c == nil) != math.IsNaN(f) || c != nil && math.Abs(*c-f) > 1e-4 {
						t.Errorf("segment %d: output %d: cell %d of metric %d is stored as %v, want %v", i+1, k+1, r+1, m+1, c, f)
					}
				}
			}
		}
	}
}

func TestColumns(t *testing.T) {
	e := demoExplorer(3)
	want := collect(t, e.Segments)
	b := written(t, &page.Document{Title: "x", Explorer: e})
	var header struct {
		Chunks              []int
		Domains             []string
		Outputs, References int
	}
	require.NoError(t, json.Unmarshal(blocks(t, b, "header")[0], &header))
	data := blocks(t, b, "columns")[0]
	floats := func() []float32 {
		out := make([]float32, header.Outputs)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		data = data[4*len(out):]
		return out
	}
	shorts := func(n int) []uint16 {
		out := make([]uint16, n)
		for i := range out {
			out[i] = binary.LittleEndian.Uint16(data[2*i:])
		}
		data = data[2*n:]
		return out
	}
	human := floats()
	var scores [][]float32
	for range e.Settings {
		scores = append(scores, floats())
	}
	var decided [][]uint16
	for range e.Settings {
		decided = append(decided, shorts(header.Outputs))
	}
	system, outputs, references, domain, prompt := shorts(header.Outputs), shorts(len(want)), shorts(len(want)), shorts(len(want)), shorts(header.References)
	flags := data
	require.Len(t, flags, header.Outputs, "%d bytes are left for the flags of", len(flags))
	at, ref := 0, 0
	for i, s := range want {
		if int(outputs[i]) != len(s.Outputs) || int(references[i]) != len(s.References) || header.Domains[domain[i]] != s.Domain {
			t.Fatalf("segment %d: %d outputs, %d references, domain %q", i+1, outputs[i], references[i], header.Domains[domain[i]])
		}
		for _, r := range s.References {
			if int(prompt[ref]) != r.Prompt+1 {
				t.Errorf("segment %d: prompt %d, want %d", i+1, int(prompt[ref])-1, r.Prompt)
			}
			ref++
		}
		for _, o := range s.Outputs {
			errors := byte(0)
			for _, r := range o.Reports {
				if len(r.Errors) > 0 {
					errors = 1
				}
			}
			if int(system[at]) != o.System || flags[at] != errors || !same(human[at], o.Human[0]) {
				t.Errorf("segment %d: system %d, flags %d, human %v of %+v", i+1, system[at], flags[at], human[at], o)
			}
			for k, c := range o.Scores {
				if !same(scores[k][at], c.Value) || int(decided[k][at]) != c.Decided {
					t.Errorf("segment %d: score %v decided by %d, want %+v", i+1, scores[k][at], decided[k][at], c)
				}
			}
			at++
		}
	}
}

func same(got float32, want float64) bool {
	return got == float32(want) || math.IsNaN(float64(got)) && math.IsNaN(want)
}

// Texts of any bytes keep their number of runes, which the offsets of marks count.
func TestAnyTextKeepsItsRunes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(r, "text"))
		if rapid.Bool().Draw(r, "valid") {
			s = rapid.String().Draw(r, "string")
		}
		e := textExplorer(s)
		got := storedSegments(t, written(t, &page.Document{Title: "x", Explorer: e}))
		if !sameText(got[0].Outputs[0].Text, text(s)) {
			r.Errorf("%q is stored as %q", s, *got[0].Outputs[0].Text)
		}
		assert.Equal(r, len([]rune(s)), len([]rune(*got[0].Outputs[0].Text)), s)
	})
}
