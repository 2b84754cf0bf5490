package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseFormat(t *testing.T) {
	for _, f := range Formats() {
		got, err := ParseFormat(string(f))
		assert.True(t, err == nil && got == f, "ParseFormat(%q) = %q, %v", f, got, err)
	}
	list := "(known: table, json, jsonl, csv, tsv, markdown, latex)"
	tests := []struct{ in, hint string }{
		{"jsno", `"json"`}, {"JSON", `"json"`}, {"jsonlines", ""}, {"Latex", `"latex"`}, {"cvs", `"csv"`}, {"xml", ""}, {"", ""},
	}
	for _, tt := range tests {
		_, err := ParseFormat(tt.in)
		if err == nil || !strings.Contains(err.Error(), list) {
			t.Errorf("ParseFormat(%q): error %v does not list the formats", tt.in, err)
			continue
		}
		_, hint, _ := strings.Cut(err.Error(), "; did you mean ")
		hint, _, _ = strings.Cut(hint, "?")
		assert.Equal(t, tt.hint, hint, "ParseFormat(%q): hint", tt.in)
	}
}

var errFull = errors.New("disk full")

// failing accepts a number of bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	for _, format := range Formats() {
		t.Run(string(format), func(t *testing.T) {
			w := NewWriter(&failing{left: flushSize}, format, []Column{{Name: "s"}}, Options{})
			for range 200 { // a stream fails on the way, and goes on to; a held table when closed
				if err := w.Row(String(strings.Repeat("x", 1000))); err != nil && !errors.Is(err, errFull) {
					t.Errorf("Row: %v", err)
				}
			}
			assert.ErrorIs(t, w.Close(), errFull, "Close")
		})
	}
}

// peak remembers the longest write.
type peak struct{ longest, total int }

func (p *peak) Write(b []byte) (int, error) {
	p.longest = max(p.longest, len(b))
	p.total += len(b)
	return len(b), nil
}

// Streams write as they go, and need no memory for a row once it is encoded.
func TestStreamsDoNotHoldRows(t *testing.T) {
	for _, format := range []Format{JSON, JSONLines, CSV, TSV} {
		t.Run(string(format), func(t *testing.T) {
			var out peak
			w := NewWriter(&out, format, []Column{{Name: "s"}, {Name: "x", Kind: KindFloat}}, Options{})
			row := []Value{String("some text, of \"some\" length\n"), Float(0.1)}
			allocs := testing.AllocsPerRun(20_000, func() {
				require.NoError(t, w.Row(row...))
			})
			if allocs > 0 {
				t.Errorf("%v allocations a row", allocs)
			}
			if out.total < 5*flushSize || out.longest > 2*flushSize {
				t.Errorf("%d bytes before Close, the longest write %d", out.total, out.longest)
			}
		})
	}
}
