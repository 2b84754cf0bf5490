package cache_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cache"
)

var sampleRequest = cache.Request{
	Kind: "chat", Model: "gpt-3.5-turbo", Revision: "main", Prompt: "Reword: the sea is calm.\x00é",
	Params: `{"max_tokens":256,"temperature":1,"top_p":0.9}`, Sample: 2,
}

// The digests were computed without Go, from the encoding that Key's comment describes. If
// this test fails, no stored answer can be found any more: either the change is wrong, or
// keyVersion and schemaVersion must change as well.
func TestKeyGolden(t *testing.T) {
	for _, test := range []struct {
		request cache.Request
		want    string
	}{
		{sampleRequest, "a8095825169f2bc4f6d066cf59b5f6cee97533dc019b77467415a19bf6fe368b"},
		{cache.Request{Kind: "completions", Model: "m"}, "701476c8e7e4e7523c8b2922186ac8be6e4502f990c1f0bfe610e93b27eaf038"},
	} {
		assert.Equal(t, test.want, test.request.Key().String(), "key of %+v", test.request)
	}
}

func TestKeyIsUnambiguous(t *testing.T) {
	part := rapid.StringMatching(`[ab\x00]{0,3}`)
	request := rapid.Custom(func(t *rapid.T) cache.Request {
		return cache.Request{
			Kind: part.Draw(t, "kind"), Model: part.Draw(t, "model"), Revision: part.Draw(t, "revision"),
			Prompt: part.Draw(t, "prompt"), Params: cache.Params(part.Draw(t, "params")), Sample: rapid.IntRange(-1, 1).Draw(t, "sample"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := request.Draw(t, "a"), request.Draw(t, "b")
		assert.Equal(t, a.Key() == b.Key(), a == b, "requests %+v and %+v, keys %s and %s", a, b, a.Key(), b.Key())
	})
}

func TestNewParams(t *testing.T) {
	for _, test := range []struct {
		values map[string]any
		want   cache.Params
	}{
		{nil, ""},
		{map[string]any{}, ""},
		{map[string]any{"top_p": 0.9, "temperature": 1.0, "max_tokens": 256}, `{"max_tokens":256,"temperature":1,"top_p":0.9}`},
		{map[string]any{"temperature": 0.0}, `{"temperature":0}`},
		{map[string]any{"temperature": math.Copysign(0, -1)}, `{"temperature":0}`},
		{map[string]any{"top_p": float32(0.9)}, `{"top_p":0.9}`},
		{map[string]any{"seed": uint64(math.MaxUint64)}, `{"seed":18446744073709551615}`},
		{map[string]any{"seed": nil, "echo": false}, `{"echo":false,"seed":null}`},
		{map[string]any{"stop": []string{"\n", "\"\\\x00é\u2028"}}, `{"stop":["\u000a","\"\\\u0000é` + "\u2028" + `"]}`},
		{map[string]any{"a": []any{1, "x", map[string]any{}}}, `{"a":[1,"x",{}]}`},
		{map[string]any{"tiny": 1e-7, "huge": 1e21}, `{"huge":1e+21,"tiny":1e-07}`},
		{map[string]any{"n": json.Number("-0"), "m": json.Number("1.50")}, `{"m":1.5,"n":0}`},
	} {
		got, err := cache.NewParams(test.values)
		require.NoError(t, err)
		assert.Equal(t, test.want, got)
	}
	for _, bad := range []any{math.NaN(), math.Inf(1), "\xff", json.Number("x"), []any{make(chan int)}} {
		p, err := cache.NewParams(map[string]any{"p": bad})
		assert.Error(t, err, "NewParams of %v = %q, want an error", bad, p)
	}
}

// FuzzParseParams tests that the canonical form is JSON, is its own canonical form, and is
// accepted by a store.
func FuzzParseParams(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":[1.50,-0,"\ud800\u0000",{"b":null}]}`, `{"a":1,"a":2}`, `{"n":1e21}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := cache.ParseParams(s)
		if err != nil || p == "" {
			return
		}
		require.True(t, json.Valid([]byte(p)), "%q gives %q, which is no JSON", s, p)
		again, err := cache.ParseParams(string(p))
		require.True(t, err == nil && again == p, "%q gives %q, and that gives %q, %v", s, p, again, err)
		e := newEntry(1)
		e.Request.Params = p
		require.NoError(t, putEntry(t.Context(), cache.NewMemory(), e))
	})
}
