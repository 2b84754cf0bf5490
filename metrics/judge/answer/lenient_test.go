package answer

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// json writes the value, with unchanged numbers.
func (n *node) json() string {
	quoted := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	switch n.kind {
	case 's':
		return quoted(n.text)
	case '0':
		return "null"
	case '{', '[':
		var all []string
		for i, kid := range n.kids {
			text := kid.json()
			if n.kind == '{' {
				text = quoted(n.names[i]) + ":" + text
			}
			all = append(all, text)
		}
		return string(n.kind) + strings.Join(all, ",") + string(n.kind+2)
	}
	return n.text
}

func leniently(text string) (string, error) {
	d, err := documentAt(text)
	if err != nil {
		return "", err
	}
	return d.root.json(), nil
}

func TestLenient(t *testing.T) {
	for text, want := range map[string]string{
		`{'a': 'it's', "b": "say "yes" now"}`:              `{"a":"it's","b":"say \"yes\" now"}`,
		`{"a": 1, "b": [1, 2,],}`:                          `{"a":1,"b":[1,2]}`,
		"{\"a\": \"x\"\n\"b\": 2}":                         `{"a":"x","b":2}`,
		`{a: None, b: True, "c": Major, d: N/A}`:           `{"a":null,"b":true,"c":"Major","d":"N/A"}`,
		"{// first\n\"a\": 1, # second\n/* third */ b: 2}": `{"a":1,"b":2}`,
		`['\u00e9\n\'', "\ud83d\ude00", "C:\dir"]`:         `["é\n'","😀","C:\\dir"]`,
		`[-1.5e3, +2, .5]`:                                 `[-1.5e3,+2,.5]`,
	} {
		got, err := leniently(text)
		assert.True(t, got == want && err == nil, "%s: %s, %v; want %s", text, got, err, want)
	}
	for _, text := range []string{`{"a": 1]`, `[1 2]`, `[0-100]`, `{"a": 12abc}`, `{1_000: 1_000}`, `[0x10]`, `{"a": b: c}`} {
		got, err := leniently(text)
		assert.True(t, err != nil && !errors.Is(err, errEnd), "%s was taken as %s (%v)", text, got, err)
	}
}

// Valid JSON is read as such, and cut JSON is detected.
func TestLenientReadsJSON(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return rapid.OneOf(rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
		}
		return rapid.OneOf(rapid.SliceOfN(value(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.String(), value(depth-1), 0, 4).AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal([]any{value(rapid.IntRange(0, 3).Draw(t, "depth")).Draw(t, "value")})
		if err != nil {
			t.Skip()
		}
		got, err := leniently(string(b))
		require.True(t, got == string(b) && err == nil, "%s\nis read as\n%s (%v)", b, got, err)
		cut := string(b[:rapid.IntRange(0, len(b)-1).Draw(t, "end")])
		if got, err := leniently(cut); !errors.Is(err, errEnd) {
			t.Fatalf("%s: %v, %v", cut, got, err)
		}
	})
}
