package answer

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// leniently writes what is read as JSON.
func leniently(text string) (string, error) {
	l := lenient{text: text}
	n, err := l.value(0)
	if n == nil || err != nil && !errors.Is(err, errEnd) {
		return "", err
	}
	b, _ := json.Marshal(n.plain())
	return string(b), err
}

// plain is the value with lists of name and value for objects.
func (n *node) plain() any {
	switch n.kind {
	case 's':
		return n.text
	case 'n':
		return n.num
	case 'b':
		return true
	case '0':
		return nil
	}
	all := []any{}
	for i, kid := range n.kids {
		if n.kind == '{' {
			all = append(all, n.names[i])
		}
		all = append(all, kid.plain())
	}
	return all
}

func TestLenient(t *testing.T) {
	for text, want := range map[string]string{
		`{'a': 'it's', "b": "say "yes" now"}`:              `["a","it's","b","say \"yes\" now"]`,
		`{"a": 1, "b": [1, 2,],}`:                          `["a",1,"b",[1,2]]`,
		"{\"a\": \"x\"\n\"b\": 2}":                         `["a","x","b",2]`,
		`{a: None, b: True, "c": Major, d: N/A}`:           `["a",null,"b",true,"c","Major","d","N/A"]`,
		"{// first\n\"a\": 1, # second\n/* third */ b: 2}": `["a",1,"b",2]`,
		`['\u00e9\n\'', "\ud83d\ude00", "C:\dir"]`:         `["é\n'","😀","C:\\dir"]`,
		`[-1.5e3, +2, .5]`:                                 `[-1500,2,0.5]`,
	} {
		if got, err := leniently(text); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"a": 1, "b": 2`:                 `["a",1]`,
		`{"a": {"b": [1, {"c": 2, "d": 3`: `["a",["b",[1,["c",2]]]]`,
		`{"a": {"b": 1}`:                  `["a",["b",1]]`,
		`{"a": 1, "b": "x"`:               `["a",1]`,
		`["a", "b`:                        `["a"]`,
	} {
		if got, err := leniently(text); got != want || !errors.Is(err, errEnd) {
			t.Errorf("%s: %s, %v; want %s and the end", text, got, err, want)
		}
	}
	for _, text := range []string{`{"a": 1]`, `[1 2]`, `[0-100]`, `{"a": 12abc}`, `{1_000: 1_000}`, `[0x10]`, `{"a": b: c}`} {
		if got, err := leniently(text); err == nil || errors.Is(err, errEnd) {
			t.Errorf("%s was taken as %s (%v)", text, got, err)
		}
	}
}

// decode reads the JSON value that the text starts with, as encoding/json does.
func decode(text string) (root *node, end int, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	root, err = readNode(d, 0)
	if err != nil {
		return nil, 0, err
	}
	return root, int(d.InputOffset()), nil
}

func readNode(d *json.Decoder, depth int) (*node, error) {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch t := t.(type) {
	case string:
		return &node{kind: 's', text: t}, nil
	case json.Number:
		n := &node{kind: 'n', text: t.String(), num: math.NaN()}
		if x, err := t.Float64(); err == nil && finite(x) {
			n.num = x
		}
		return n, nil
	case bool:
		return &node{kind: 'b', text: strconv.FormatBool(t)}, nil
	case nil:
		return &node{kind: '0'}, nil
	case json.Delim:
		if depth == deepest {
			return nil, errTooDeep
		}
		n := &node{kind: byte(t)}
		for d.More() {
			if t == '{' {
				name, err := d.Token()
				if err != nil {
					return nil, err
				}
				text, ok := name.(string)
				if !ok {
					return nil, errNoJSON
				}
				n.names = append(n.names, text)
			}
			kid, err := readNode(d, depth+1)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, kid)
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		return n, nil
	}
	return nil, errNoJSON
}

// What is JSON is read as JSON, and what is cut has a part of it.
func TestLenientReadsJSON(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalars := []*rapid.Generator[any]{rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil)}
		if depth == 0 {
			return rapid.OneOf(scalars...)
		}
		return rapid.Custom(func(t *rapid.T) any {
			if rapid.Bool().Draw(t, "list") {
				return rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "items")
			}
			return rapid.MapOfN(rapid.String(), value(depth-1), 0, 4).Draw(t, "members")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal([]any{value(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "value")})
		if err != nil {
			t.Skip()
		}
		want, _, err := decode(string(b))
		if err != nil {
			t.Fatal(err)
		}
		l := lenient{text: string(b)}
		got, err := l.value(0)
		if err != nil || l.at != len(b) || !cmp.Equal(want, got, cmp.AllowUnexported(node{}), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()) {
			t.Fatalf("%s: %v\n%s", b, err, cmp.Diff(want, got, cmp.AllowUnexported(node{}), cmpopts.EquateEmpty()))
		}
		l = lenient{text: string(b[:rapid.IntRange(0, len(b)-1).Draw(t, "end")])}
		if got, err := l.value(0); !errors.Is(err, errEnd) {
			t.Fatalf("%s: %v, %v", l.text, got, err)
		}
	})
}
