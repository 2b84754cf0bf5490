package jsonline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

func reader(s string) *jsonline.Reader {
	return jsonline.NewReader([]byte(s))
}

// walk reads any value and writes it in one form.
func walk(r *jsonline.Reader, b *strings.Builder) error {
	switch r.Kind() {
	case jsonline.Object:
		b.WriteByte('{')
		err := r.Members("field", func(name []byte) error {
			fmt.Fprintf(b, "%q:", name)
			return walk(r, b)
		})
		b.WriteByte('}')
		return err
	case jsonline.Array:
		b.WriteByte('[')
		err := r.Elements(func(int) error { return walk(r, b) })
		b.WriteByte(']')
		return err
	case jsonline.String:
		s, err := r.String()
		fmt.Fprintf(b, "%q,", s)
		return err
	case jsonline.Number:
		v, ok, err := r.OptionalFloat()
		fmt.Fprintf(b, "%v %v,", v, ok)
		return err
	case jsonline.Null:
		null, err := r.Null()
		fmt.Fprintf(b, "null %v,", null)
		return err
	default:
		v, err := r.Bool()
		fmt.Fprintf(b, "%v,", v)
		return err
	}
}

func TestValues(t *testing.T) {
	const line = ` {"a":[1, -2.5e3,null ,true,false],"b\u00e9\n":{"":"x\ud83d\ude00\/"},"c":"plain", "d":[]} `
	var b strings.Builder
	r := reader(line)
	if err := walk(r, &b); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":[1 true,-2500 true,null true,true,false,]"bé\n":{"":"x😀/",}"c":"plain","d":[]}`; b.String() != want {
		t.Errorf("%s, want %s", b.String(), want)
	}
}

// Paths lead to the field at fault; offsets to the byte.
func TestErrors(t *testing.T) {
	read := func(r *jsonline.Reader) error {
		var id string
		var n int
		return r.Whole(
			jsonline.To("id", &id, r.String),
			jsonline.With("scores", func() error {
				return r.Members("system", func([]byte) error {
					_, _, err := r.OptionalFloat()
					return err
				})
			}),
			jsonline.With("rows", func() error {
				return r.Elements(func(int) error { return r.Object(jsonline.To("n", &n, r.Index)) })
			}),
			jsonline.With("raw", r.Skip),
		)
	}
	many := make([]string, 50)
	for i := range many {
		many[i] = fmt.Sprintf(`"s%d":1`, i)
	}
	for _, c := range []struct {
		in   string
		at   int
		want string
	}{
		{``, 0, `bad JSON: it ends before its value does`},
		{`[]`, 0, "the value must be an object, not an array"},
		{`{"id":1}`, 6, "field id must be a string, not a number"},
		{`{"id":"a"`, 9, `bad JSON: it ends before its value does`},
		{`{"id":"a" "b"}`, 10, `bad JSON: invalid character '"' after object value (expecting ',' or '}')`},
		{`{"id"}`, 5, `bad JSON: invalid character '}' after object name (expecting ':')`},
		{`{,}`, 1, `bad JSON: invalid character ',' at start of value`},
		{`{1:2}`, 1, `bad JSON: object member name must be a string`},
		{`{"id":tru}`, 9, `bad JSON: invalid character '}' in literal true (expecting 'e')`},
		{`{"id":"a"}}`, 10, `bad JSON: text after the end of the value; write one value a line`},
		{`{"scores":{"a":1,"b":"x"}}`, 21, `field scores["b"] must be a number or null, not a string`},
		{`{"scores":{"a":1e999}}`, 15, `field scores["a"] must be a number or null, not one that is out of range`},
		{`{"scores":{"a":1,"\u0061":2}}`, 17, `system "a" is twice in scores`},
		{`{"scores":{` + strings.Join(many, ",") + `,"s40":2}}`, 11 + len(strings.Join(many, ",")) + 1, `system "s40" is twice in scores`},
		{`{"rows":[{"n":1},{"n":-1}]}`, 22, "field rows[1].n must be an integer from 0, not -1"},
		{`{"rows":[{"n":1},{"m":1}]}`, 18, `unknown field of rows[1]: "m" (did you mean "n"?)`},
		{`{"rows":[{"n":1,"n":1}]}`, 16, `field "n" of rows[0] is there twice`},
		{`{"rows":[{"n":1},]}`, 16, `bad JSON: invalid character ',' at start of value`},
		{`{"rows":[{"n":1}}`, 16, `bad JSON: invalid character '}' after array element (expecting ',' or ']')`},
		{`{"x":1}`, 1, `unknown field "x"; the fields are id, scores, rows, raw`},
		{`{"id":"a","id":"b"}`, 10, `field "id" is there twice`},
		{`{"raw":{"a":[1,{"b":nul}]}}`, 23, `bad JSON: invalid character '}' in literal null (expecting 'l')`},
		{`{"raw":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, 39, "bad JSON: the values are nested too deep"},
		{"{\"id\":\"a\xff\"}", 8, `bad JSON: invalid UTF-8`},
		{`{"id":"\ud800"}`, 7, "bad JSON: invalid surrogate pair `\\ud800\"}` in string"},
		{`{"id":"\x"}`, 7, "bad JSON: invalid escape sequence `\\x` in string"},
		{"{\"id\":\"\n\"}", 7, `bad JSON: invalid character '\n' in string (expecting non-control character)`},
		{`{"scores":{"a":01}}`, 16, `bad JSON: invalid character '1' after object value (expecting ',' or '}')`},
		{`{"scores":{"a":-}}`, 16, `bad JSON: invalid character '}' in number (expecting digit)`},
	} {
		err := read(reader(c.in))
		e, ok := err.(*jsonline.Error)
		if !ok {
			t.Errorf("%.40s: %v", c.in, err)
			continue
		}
		if e.Error() != c.want || e.Offset != c.at {
			t.Errorf("%.40s: %d: %v, want %d: %s", c.in, e.Offset, e, c.at, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	var n jsonline.Names
	for range 3 {
		n.Line()
		for _, name := range []string{"a", "b", "", "a"} {
			if got := n.Get([]byte(name)); got != name {
				t.Errorf("%q, want %q", got, name)
			}
		}
	}
	for i := range 10_000 {
		if name := fmt.Sprint(i); n.Get([]byte(name)) != name {
			t.Fatal(name)
		}
	}
}

func TestAppendFloat(t *testing.T) {
	for _, f := range []float64{0, 1, -1.5, 1e-6, 9.9e-7, 1e-10, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		want, _ := json.Marshal(f)
		if got := jsonline.AppendFloat(nil, f); string(got) != string(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A value is accepted where encoding/json accepts it, but for repeated names,
// broken texts, and numbers beyond a float64; and it is the same value.
func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}],"c":"\u00e9"}`, `"\ud83d\ude00"`, `[01]`, ` [ true , false ] `, `{"a":1,"a":2}`, `-0.0e-1`, `{"a" :"\n"} x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b strings.Builder
		r := reader(s)
		err := walk(r, &b)
		if err == nil {
			err = r.End()
		}
		if err == nil {
			if !json.Valid([]byte(s)) || !utf8.ValidString(s) {
				t.Fatalf("accepted, but encoding/json does not: %q", s)
			}
			return
		}
		e, ok := err.(*jsonline.Error)
		if !ok || e.Offset < 0 || e.Offset > len(s) || e.Error() == "" {
			t.Fatalf("%q: %v", s, err)
		}
		lost := []string{"is there twice", "is twice", "lone surrogate", "invalid UTF-8", "out of range"}
		if json.Valid([]byte(s)) && !slices.ContainsFunc(lost, func(w string) bool { return strings.Contains(e.Error(), w) }) {
			t.Fatalf("%q: %v, but encoding/json accepts it", s, err)
		}
	})
}

// A string that is written reads as itself, and shows nothing hidden.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\x7f\u0085\u2028\U000e0001é😀")
	f.Fuzz(func(t *testing.T, s string) {
		b := jsonline.AppendString(nil, s)
		if strings.ContainsFunc(string(b), text.Hidden) {
			t.Errorf("%q has a hidden character", b)
		}
		got, err := reader(string(b)).String()
		if want := strings.ToValidUTF8(s, "\ufffd"); err != nil || utf8.ValidString(s) && got != want {
			t.Errorf("%q reads as %q: %v", b, got, err)
		}
	})
}
