package dataset

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

// Accepted lines are the same after writing and reading.
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
		again, err := decode(encode(t, got...))
		require.NoError(t, err, "cannot be read back")
		require.Empty(t, cmp.Diff(got, again))
	})
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
			require.Nil(t, got, "both %v and %v", err, got)
			return
		}
		for _, s := range got {
			require.True(t, utf8.ValidString(s.Value), "%q is not UTF-8", s.Value)
			require.LessOrEqual(t, len(s.Value), len(line), "%q is longer than its line", s.Value)
		}
		for _, repr := range []string{string(AppendPythonList(nil, got))} {
			again, err := parsePythonList(repr, refract.Position{})
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(got, again))
			require.False(t, strings.ContainsAny(repr, "\n"), "more than a line: %q", repr)
		}
	})
}
