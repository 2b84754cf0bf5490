package dataset

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract"
)

// Lines are accepted only if they are JSON, hold no less than what
// encoding/json finds, and are the same after writing and reading.
func FuzzJSONL(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","source":"s","references":["r1",null,""],"variants":[{"reference":2,"prompt":"order","sample":3,"model":"m","text":"v","finish":"stop"}],"human":{"mqm":{"z":-1.5,"y":null}},"hypotheses":{"z":"h","y":null},"human_systems":["y"],"document":"d","domain":"news"}`,
		`{"id":"a","references":["r"],"variants":[{"text":"v","revision":"w","served_model":"s","sampling":{"a":[1,{"b":null}]},"raw":"1. v","cleaned":["number"],"prompt_tokens":1,"completion_tokens":2,"created":"2024-02-29T13:00:00.5+01:00","verdict":"accepted","detail":"d"},{"text":"v","raw":null},{"text":"v","raw":"v"},{"text":null,"cleaned":[],"created":null}],"rejected":[{"text":"v","verdict":"cut"}]}`,
		` { "id" : 7.0e-1 , "references" : null } `,
		`{"id":"\ud83d\ude00\"\\\/\b\f\n\r\t\u0000"}`,
		`{"id":"\ud800"}`,
		"{\"id\":\"1\"}\r\n{\"id\":\"2\"}\n\n",
		"\ufeff{\"id\":\"1\"}",
		`{"id":"1","hypotheses":{"s":"a","\u0073":"c"}}`,
		`{"id":01}`, `{"id":"1"}}`, `[]`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decode(text)
		if err != nil {
			return
		}
		text = strings.TrimPrefix(text, "\ufeff")
		lines := strings.Split(text, "\n")
		for i, s := range got {
			var std struct {
				ID         any
				Source     refract.Text
				References []refract.Text
				Hypotheses map[string]refract.Text
				Variants   []struct {
					Text, Raw refract.Text
					Created   *time.Time
					Cleaned   []string
				}
				Rejected []any
			}
			d := json.NewDecoder(strings.NewReader(lines[i]))
			d.UseNumber()
			if err := d.Decode(&std); err != nil {
				t.Fatalf("accepted, but encoding/json says %v: %q", err, lines[i])
			}
			id, ok := std.ID.(string)
			if !ok {
				id = string(std.ID.(json.Number))
			}
			if id != s.ID || std.Source != s.Source || len(std.References) != len(s.References) || len(std.Hypotheses) != len(s.Hypotheses) {
				t.Fatalf("got %+v, encoding/json has %+v", s, std)
			}
			for i, r := range s.References {
				if r != std.References[i] {
					t.Fatalf("references %v, encoding/json has %v", s.References, std.References)
				}
			}
			if len(s.Variants) != len(std.Variants) || len(s.Rejected) != len(std.Rejected) {
				t.Fatalf("got %+v, encoding/json has %+v", s, std)
			}
			for i, v := range s.Variants {
				w := std.Variants[i]
				if v.Text != w.Text || w.Raw.Valid && v.Origin.Raw != w.Raw || len(w.Cleaned) > 0 && !slices.Equal(v.Origin.Cleaned, w.Cleaned) ||
					w.Created != nil && !v.Origin.Created.Equal(*w.Created) {
					t.Fatalf("got %+v, encoding/json has %+v", v, w)
				}
			}
			for _, h := range s.Hypotheses {
				if v, ok := std.Hypotheses[h.System]; !ok || v != h.Text {
					t.Fatalf("hypotheses %v, encoding/json has %v", s.Hypotheses, std.Hypotheses)
				}
			}
		}
		again, err := decode(encode(t, got...))
		if err != nil {
			t.Fatalf("cannot be read back: %v", err)
		}
		if d := cmp.Diff(got, again); d != "" {
			t.Fatal(d)
		}
	})
}

// pythonRepr writes a list with every escape that repr may use.
func pythonRepr(texts []refract.Text) string {
	var b strings.Builder
	b.WriteByte('[')
	for _, t := range texts {
		if !t.Valid {
			b.WriteString("None, ")
			continue
		}
		b.WriteByte('\'')
		for _, r := range t.Value {
			switch {
			case r == '\\' || r == '\'':
				b.WriteByte('\\')
				b.WriteRune(r)
			case r < ' ':
				b.WriteString(`\x`)
				b.WriteByte("0123456789abcdef"[r>>4])
				b.WriteByte("0123456789abcdef"[r&15])
			default:
				b.WriteRune(r)
			}
		}
		b.WriteString("', ")
	}
	b.WriteByte(']')
	return b.String()
}

func FuzzPythonList(f *testing.F) {
	for _, s := range []string{
		`['a', "b'c", None]`, `[]`, `['\\\a\b\f\n\r\t\v\'\"\x41\u00e9\U0001f600\0\377']`, `['\ud800']`, `['a' 'b']`, `['\`, `["é", ]`, `[None`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if !utf8.ValidString(line) || strings.Contains(line, "\n") {
			return // the line reader refuses it
		}
		got, err := parsePythonList(line, refract.Position{File: "f", Line: 1})
		if err != nil {
			if got != nil {
				t.Fatalf("both %v and %v", err, got)
			}
			return
		}
		for _, s := range got {
			if !utf8.ValidString(s.Value) {
				t.Fatalf("%q is not UTF-8", s.Value)
			}
			if len(s.Value) > len(line) {
				t.Fatalf("%q is longer than its line", s.Value)
			}
		}
		for _, repr := range []string{pythonRepr(got), string(AppendPythonList(nil, got))} {
			again, err := parsePythonList(repr, refract.Position{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(got, again); d != "" {
				t.Fatal(d)
			}
			if strings.ContainsAny(repr, "\n") {
				t.Fatalf("more than a line: %q", repr)
			}
		}
	})
}

func FuzzMTMEScores(f *testing.F) {
	for _, s := range []string{
		"a\t1\na\tNone\nb b\t-1e3\nb b\t.5", "a 1\r\na 2\r\n", "\ufeffa\t1\na\t2\n", "a\tnan\na\t1", "a\t1\n", "c\t1\nc\t1\n", "a\t1\nb b\t1\n", "a\u20031\na\x1c+2\n",
	} {
		f.Add(s)
	}
	systems := []string{"a", "b b"}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := readScores(fileOf(t, text), systems, 2, func(Warning) {})
		if err != nil {
			return
		}
		if len(all) == 0 || len(strings.Split(strings.TrimSuffix(text, "\n"), "\n")) != 2*len(all) {
			t.Fatalf("%d systems of two lines in %q", len(all), text)
		}
		for i, s := range all {
			if len(s.Values) != 2 || len(s.Valid) != 2 || !slices.Contains(systems, s.System) || i > 0 && s.System == all[0].System {
				t.Fatalf("%+v", all)
			}
			for k, v := range s.Values {
				if math.IsNaN(v) || math.IsInf(v, 0) || !s.Valid[k] && v != 0 {
					t.Fatalf("the score %v is accepted", v)
				}
			}
		}
	})
}
