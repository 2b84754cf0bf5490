package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// checkJSON compares one decoded object with the row that it was made from.
func checkJSON(t fatalf, object map[string]json.RawMessage, columns []Column, row []Value) {
	if len(object) != len(columns) {
		t.Fatalf("%d keys for %d columns", len(object), len(columns))
	}
	for i, c := range columns {
		raw, v := object[c.Name], row[i]
		if !v.present || math.IsInf(v.low, 0) || math.IsInf(v.high, 0) {
			if string(raw) != "null" {
				t.Fatalf("column %s: %s, want null", c.Name, raw)
			}
			continue
		}
		var err error
		same := false
		switch c.Kind {
		case KindString:
			var got string
			err = json.Unmarshal(raw, &got)
			same = got == validUTF8(v.text)
		case KindInt:
			var got int
			err = json.Unmarshal(raw, &got)
			same = got == v.integer
		case KindFloat:
			var got float64
			err = json.Unmarshal(raw, &got)
			same = sameFloat(got, v.low)
		case KindInterval:
			var got []float64
			err = json.Unmarshal(raw, &got)
			same = len(got) == 2 && sameFloat(got[0], v.low) && sameFloat(got[1], v.high)
		}
		if err != nil || !same {
			t.Fatalf("column %s: %s does not decode to %+v (error %v)", c.Name, raw, v, err)
		}
	}
}

func TestJSONLinesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := anyRows(t)
		var out bytes.Buffer
		w, err := NewWriter(&out, JSONLines, columns, Options{})
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, w, rows)
		if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && text.Hidden(r) }) {
			t.Fatalf("hidden character in %q", out.String())
		}
		lines := strings.SplitAfter(out.String(), "\n")
		if len(lines) != len(rows)+1 || lines[len(rows)] != "" {
			t.Fatalf("%d lines for %d rows", len(lines)-1, len(rows))
		}
		for i, row := range rows {
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(lines[i]), &object); err != nil {
				t.Fatalf("%s: %v", lines[i], err)
			}
			checkJSON(t, object, columns, row)
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := anyRows(t)
		var out bytes.Buffer
		w, err := NewWriter(&out, JSON, columns, Options{})
		if err != nil {
			t.Fatal(err)
		}
		writeAll(t, w, rows)
		var objects []map[string]json.RawMessage
		if err := json.Unmarshal(out.Bytes(), &objects); err != nil {
			t.Fatalf("%s: %v", out.Bytes(), err)
		}
		if objects == nil || len(objects) != len(rows) {
			t.Fatalf("%d objects for %d rows", len(objects), len(rows))
		}
		for i, row := range rows {
			checkJSON(t, objects[i], columns, row)
		}
	})
}

// The keys of an object keep the order of the columns, whatever they hold.
func TestJSONKeys(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, JSONLines, []Column{{Name: `z"`}, {Name: "a\n"}, {Name: "ü"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	writeAll(t, w, [][]Value{{String("1"), String("<&>"), Null()}})
	if want := `{"z\"":"1","a\n":"<&>","ü":null}` + "\n"; out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
}

func FuzzJSONString(f *testing.F) {
	for _, s := range []string{
		"", "a", `"\`, "\x00\x1f\x7f", "\u0080\u2028\u2029\u202e\ufeff", "<>&", "\U000e0041😀", "\xff", "\xed\xa0\x80", "中\xe4", "\ufffd",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := jsonline.AppendString([]byte("kept"), s)
		if !bytes.HasPrefix(b, []byte("kept")) {
			t.Fatalf("%q: what was there before is gone", s)
		}
		b = b[len("kept"):]
		if !utf8.Valid(b) {
			t.Fatalf("%q: output %q is not UTF-8", s, b)
		}
		if i := bytes.IndexFunc(b, text.Hidden); i >= 0 {
			t.Fatalf("%q: hidden character at byte %d of %q", s, i, b)
		}
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q: %s: %v", s, b, err)
		}
		want := s
		if !utf8.ValidString(s) {
			want = string([]rune(s))
		}
		if got != want {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}
