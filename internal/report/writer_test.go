package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestParseFormat(t *testing.T) {
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
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
		if hint != tt.hint {
			t.Errorf("ParseFormat(%q): hint %q, want %q", tt.in, hint, tt.hint)
		}
	}
}

func TestNewWriterErrors(t *testing.T) {
	tests := []struct {
		name    string
		format  Format
		columns []Column
		want    string
	}{
		{"unknown format", "tabel", []Column{{Name: "a"}}, `did you mean "table"?`},
		{"no columns", CSV, nil, "at least one column"},
		{"no name", CSV, []Column{{Name: "a"}, {Header: "B"}}, "column 2 has no name"},
		{"twice", JSON, []Column{{Name: "a"}, {Name: "a"}}, `two columns are named "a"`},
		{"kind", JSON, []Column{{Name: "a", Kind: 9}}, "unknown kind 9"},
		{"all hidden", Table, []Column{{Name: "a", Hide: true}}, "every column is hidden"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := NewWriter(io.Discard, tt.format, tt.columns, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := NewWriter(io.Discard, JSON, []Column{{Name: "a", Hide: true}}, Options{}); err != nil {
		t.Errorf("a hidden column is no error for programs: %v", err)
	}
}

func TestRowErrors(t *testing.T) {
	columns := []Column{{Name: "id"}, {Name: "score", Kind: KindFloat}}
	tests := []struct {
		name string
		row  []Value
		want string
	}{
		{"too few", []Value{String("a")}, "row 2 has 1 values for 2 columns"},
		{"too many", []Value{String("a"), Float(1), Null()}, "row 2 has 3 values for 2 columns"},
		{"kind", []Value{String("a"), Int(1)}, `row 2: column "score" is of kind float, its value of kind int`},
	}
	for _, format := range Formats() {
		for _, tt := range tests {
			t.Run(string(format)+"/"+tt.name, func(t *testing.T) {
				var out bytes.Buffer
				w, err := NewWriter(&out, format, columns, Options{})
				if err != nil {
					t.Fatal(err)
				}
				good := []Value{String("good"), Null()}
				if err := w.Row(good...); err != nil {
					t.Fatal(err)
				}
				err = w.Row(tt.row...)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error %v, want %q", err, tt.want)
				}
				if again := w.Row(good...); again != err {
					t.Errorf("the next row's error is %v, want the first one", again)
				}
				if closed := w.Close(); closed != err {
					t.Errorf("Close returns %v, want the first error", closed)
				}
			})
		}
		t.Run(string(format)+"/after Close", func(t *testing.T) {
			var out bytes.Buffer
			w, err := NewWriter(&out, format, columns, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			before := out.String()
			if err := w.Close(); err != nil || out.String() != before {
				t.Errorf("closing twice: error %v, output %q", err, out.String())
			}
			if err := w.Row(Null(), Null()); err == nil {
				t.Error("a row after Close is accepted")
			}
		})
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
			w, err := NewWriter(&failing{left: flushSize}, format, []Column{{Name: "s"}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			long := strings.Repeat("x", 1000)
			for range 200 { // a stream fails on the way, a held table when closed
				if err = w.Row(String(long)); err != nil {
					break
				}
			}
			if err != nil && !errors.Is(err, errFull) {
				t.Errorf("Row: %v", err)
			}
			if err := w.Close(); !errors.Is(err, errFull) {
				t.Errorf("Close: %v, want the cause %v", err, errFull)
			}
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
			w, err := NewWriter(&out, format, []Column{{Name: "s"}, {Name: "x", Kind: KindFloat}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			row := []Value{String("some text, of \"some\" length\n"), Float(0.1)}
			allocs := testing.AllocsPerRun(20_000, func() {
				if err := w.Row(row...); err != nil {
					t.Fatal(err)
				}
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
