package jsonline_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// Errors name the path of the bad field and the offset of the bad byte.
func TestErrors(t *testing.T) {
	type row struct {
		N int `json:"n"`
	}
	for _, c := range []struct {
		in   string
		at   int
		want string
	}{
		{``, 0, `bad JSON: it ends before its value does`},
		{`[]`, 0, "a thing must be a JSON object, not an array"},
		{`{"id":1}`, 6, "field id must be a string or null, not a number"},
		{`{"id":"a"`, 9, `bad JSON: it ends before its value does`},
		{`{"id":tru}`, 9, `bad JSON: invalid character '}' in literal true (expecting 'e')`},
		{`{"id":"a"}}`, 10, `bad JSON: invalid character '}' after top-level value`},
		{`{"rows":[{"n":1},{"n":1.5}]}`, 22, "field rows[1].n must be an integer from 0"},
		{`{"rows":[{"n":1},{"m":1}]}`, 18, `rows[1]: unknown field "m"; the fields are n`},
		{`{"rows":[{"n":1,"n":1}]}`, 16, `field "n" is there twice`},
		{`{"x":1}`, 1, `unknown field "x"; the fields are id, rows`},
		{"{\"id\":\"a\xff\"}", 8, `bad JSON: invalid UTF-8`},
		{`{"id":"\ud800"}`, 7, "bad JSON: invalid surrogate pair `\\ud800\"}` in string"},
	} {
		var v struct {
			ID   string `json:"id"`
			Rows []row  `json:"rows"`
		}
		err := jsonline.Unmarshal([]byte(c.in), &v, "a thing")
		e, ok := err.(*jsonline.Error)
		assert.True(t, ok && e.Error() == c.want && e.Offset == c.at, "%s: %+v, want %d: %s", c.in, err, c.at, c.want)
	}
}

func TestAppendFloat(t *testing.T) {
	for _, f := range []float64{0, 1, -1.5, 1e-6, 9.9e-7, 1e-10, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		want, _ := json.Marshal(f)
		got := jsonline.AppendFloat(nil, f)
		assert.Equal(t, string(want), string(got), "%s, want %s", got, want)
	}
}

// A written string reads back unchanged and contains no invisible character.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\x7f\u0085\u2028\U000e0001é😀")
	f.Fuzz(func(t *testing.T, s string) {
		b := jsonline.AppendString(nil, s)
		assert.False(t, strings.ContainsFunc(string(b), text.Hidden), "%q has a hidden character", b)
		var got string
		if err := jsonline.Unmarshal(b, &got, "a text"); err != nil || utf8.ValidString(s) && got != s {
			t.Errorf("%q reads as %q: %v", b, got, err)
		}
	})
}
