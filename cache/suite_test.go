package cache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cache"
)

// runSuite is the conformance suite of cache.Store, which every implementation must pass.
// open returns a new, empty store and registers its clean-up.
func runSuite(t *testing.T, open func(t *testing.T) cache.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) cache.Store)
	}{
		{"exact", suiteExact},
		{"first answer stays", suiteFirstStays},
		{"refused", suiteRefused},
		{"cancelled", suiteCancelled},
		{"concurrent", suiteConcurrent},
		{"model of records", suiteRecords},
		{"scores", suiteScores},
		{"claims", suiteClaims},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// newEntry returns a valid entry that differs for every n.
func newEntry(n int) cache.Entry {
	return cache.Entry{
		Request: cache.Request{
			Kind: "chat", Model: "model-a", Revision: "r1",
			Prompt: fmt.Sprintf("Say %d differently.", n),
			Params: `{"max_tokens":256,"temperature":1,"top_p":0.9}`,
			Sample: n % 3,
		},
		Answer: cache.Answer{
			Text: fmt.Sprintf("answer %d", n), HasText: true,
			FinishReason: "stop", ServedModel: "model-a-0613",
			PromptTokens: 5 + n, CompletionTokens: 2,
			Created: time.Date(2024, 5, 6, 7, 8, 9, n, time.UTC),
		},
	}
}

// putEntry stores an entry.
func putEntry(ctx context.Context, s cache.Store, e cache.Entry) error {
	_, err := cache.NewAnswers(s).Put(ctx, e)
	return err
}

// getAnswer returns the answer of a key, and whether there is one.
func getAnswer(ctx context.Context, s cache.Store, key cache.Key) (cache.Answer, bool, error) {
	answers, found, err := cache.NewAnswers(s).Get(ctx, []cache.Key{key})
	if err != nil {
		return cache.Answer{}, false, err
	}
	return answers[0], found[0], nil
}

// verified wants this number of records and no problem.
func verified[N int | int64](t testing.TB, s *cache.Database, want N) {
	t.Helper()
	if n, problems, err := s.Verify(t.Context()); err != nil || n != int64(want) || len(problems) > 0 {
		t.Errorf("Verify = %d, %v, %v, want %d records", n, problems, err, want)
	}
}

func mustPut(t testing.TB, s cache.Store, e cache.Entry) {
	t.Helper()
	require.NoError(t, putEntry(t.Context(), s, e))
}

func mustGet(t testing.TB, s cache.Store, r cache.Request) cache.Answer {
	t.Helper()
	e, ok, err := getAnswer(t.Context(), s, r.Key())
	require.True(t, err == nil && ok, "Get = %v, %v, want an entry", ok, err)
	return e
}

func suiteExact(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	for i, change := range []func(*cache.Entry){
		func(e *cache.Entry) {},
		func(e *cache.Entry) { e.Text = "" },
		func(e *cache.Entry) { e.Text, e.HasText, e.FinishReason = "", false, "content_filter" },
		func(e *cache.Entry) { e.Text = "\x00 NUL \x00" },
		func(e *cache.Entry) { e.Request.Prompt = "" },
		func(e *cache.Entry) { e.Request.Revision, e.Request.Params = "", "" },
		func(e *cache.Entry) { e.FinishReason, e.ServedModel, e.PromptTokens, e.CompletionTokens = "", "", 0, 0 },
		func(e *cache.Entry) { e.Created = time.Time{} },
		func(e *cache.Entry) { e.Created = time.Unix(0, 0).UTC() },
		func(e *cache.Entry) { e.Created = e.Created.In(time.FixedZone("east", 3*3600)) },
		func(e *cache.Entry) { e.Created = time.Now() }, // with a monotonic reading
	} {
		want := newEntry(i)
		change(&want)
		mustPut(t, s, want)
		if !want.Created.IsZero() {
			want.Created = want.Created.Round(0).UTC()
		}
		assert.Equal(t, want.Answer, mustGet(t, s, want.Request), i)
	}
}

// suiteFirstStays tests that Put and Get return the first answer, even if it is missing.
func suiteFirstStays(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	for i, change := range []func(first *cache.Entry){
		func(first *cache.Entry) {},
		func(first *cache.Entry) { first.Text, first.HasText = "", false },
	} {
		first, second := newEntry(i), newEntry(i)
		second.Text = "another answer"
		change(&first)
		for _, e := range []cache.Entry{first, first, second} {
			got, err := cache.NewAnswers(s).Put(t.Context(), e)
			assert.True(t, err == nil && got[0] == first.Answer, "Put = %+v, %v; want the first answer", got, err)
			assert.Equal(t, first.Answer, mustGet(t, s, e.Request))
		}
	}
	// In one call, too.
	first, second := newEntry(5), newEntry(5)
	second.Text = "another answer"
	got, err := cache.NewAnswers(s).Put(t.Context(), first, second, newEntry(6), first)
	if err != nil || got[0] != first.Answer || got[1] != first.Answer || got[2] != newEntry(6).Answer || got[3] != first.Answer {
		t.Errorf("Put = %+v, %v", got, err)
	}
}

func suiteRefused(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	const bad = "a\xffb"
	for _, test := range []struct {
		want   string // in the error
		change func(*cache.Entry)
	}{
		{"prompt is not valid UTF-8 (byte 1)", func(e *cache.Entry) { e.Request.Prompt = bad }},
		{"answer is not valid UTF-8", func(e *cache.Entry) { e.Text = bad }},
		{"UTF-8", func(e *cache.Entry) { e.Request.Params = `{"stop":"` + bad + `"}` }},
		{"canonical", func(e *cache.Entry) { e.Request.Params = `{"top_p": 1}` }},
		{"JSON object", func(e *cache.Entry) { e.Request.Params = `[1]` }},
		{"no kind", func(e *cache.Entry) { e.Request.Kind = "" }},
		{"no model", func(e *cache.Entry) { e.Request.Model = "" }},
		{"negative", func(e *cache.Entry) { e.Request.Sample = -1 }},
		{"negative", func(e *cache.Entry) { e.PromptTokens = -1 }},
		{"negative", func(e *cache.Entry) { e.CompletionTokens = -1 }},
		{"marked as missing", func(e *cache.Entry) { e.HasText = false }},
		{"out of range", func(e *cache.Entry) { e.Created = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) }},
	} {
		e := newEntry(1)
		test.change(&e)
		err := putEntry(t.Context(), s, e)
		assert.ErrorContains(t, err, test.want, "putEntry(%+v)", e)
		a, ok, err := getAnswer(t.Context(), s, e.Request.Key())
		assert.True(t, err == nil && !ok, "Get of what was refused = %+v, %v", a, err)
	}
}

func suiteCancelled(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	mustPut(t, s, newEntry(1))
	mustGet(t, s, newEntry(1).Request)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := getAnswer(ctx, s, newEntry(1).Request.Key())
	assert.ErrorIs(t, err, context.Canceled, "Get")
	assert.ErrorIs(t, putEntry(ctx, s, newEntry(2)), context.Canceled)
	mustGet(t, s, newEntry(1).Request) // the store still works
	mustPut(t, s, newEntry(2))
	mustGet(t, s, newEntry(2).Request)
}

// suiteConcurrent puts entries for the same requests from several goroutines, each with
// different answers, and reads them all: stored entries are found, and everybody gets the
// same answer to a request.
func suiteConcurrent(t *testing.T, open func(*testing.T) cache.Store) {
	answers := cache.NewAnswers(open(t))
	const goroutines, n = 8, 40
	keys := make([]cache.Key, n)
	for i := range keys {
		keys[i] = newEntry(i).Request.Key()
	}
	seen := make([][n]cache.Answer, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range n {
				i = (i + g*5) % n
				e := newEntry(i)
				e.Text = fmt.Sprintf("answer of %d", g)
				kept, err := answers.Put(t.Context(), e)
				if err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				got, found, err := answers.Get(t.Context(), keys)
				if err != nil || !found[i] || got[i] != kept[0] {
					t.Errorf("Get after Put of %d: %+v, %v, want %+v", i, got[i], err, kept[0])
					return
				}
				seen[g][i] = got[i]
			}
		})
	}
	wg.Wait()
	for g := range goroutines {
		assert.Equal(t, seen[0], seen[g], "goroutine %d", g)
	}
}

// suiteRecords compares the store, with few different keys, to a map.
func suiteRecords(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	want := make(map[cache.Key]cache.Record)
	records := rapid.Custom(func(t *rapid.T) cache.Record {
		r := cache.Record{
			Key: cache.Key{31: rapid.Byte().Draw(t, "key") % 20}, Kind: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "kind"),
			Value: rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "value"),
		}
		if rapid.Bool().Draw(t, "about") {
			r.About = []byte{rapid.Byte().Draw(t, "what")}
			r.Key = sha256.Sum256(r.About)
		}
		return r
	})
	compare := func(t *rapid.T, what string, got, want []cache.Record) {
		require.Empty(t, cmp.Diff(want, got, cmpopts.EquateEmpty()), "%s differ", what)
	}
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.SliceOfN(records, 0, 4).Draw(rt, "records")
		var keys []cache.Key
		for _, r := range some {
			keys = append(keys, r.Key)
		}
		var err error
		var values [][]byte
		switch rapid.IntRange(0, 1).Draw(rt, "action") {
		case 0:
			for _, r := range some {
				if _, ok := want[r.Key]; !ok {
					want[r.Key] = r
				}
			}
			values, err = s.Put(t.Context(), some...)
		case 1:
			for _, r := range some {
				want[r.Key] = r
			}
			if err = s.Replace(t.Context(), some...); err == nil {
				values, err = s.Get(t.Context(), keys)
			}
		}
		if err != nil || len(values) != len(keys) {
			rt.Fatalf("%d values of %d keys, %v", len(values), len(keys), err)
		}
		for i, key := range keys {
			if !bytes.Equal(values[i], want[key].Value) || (values[i] == nil) != (want[key].Value == nil) {
				rt.Fatalf("value %q, want %q", values[i], want[key].Value)
			}
		}
		for _, kind := range []string{"", "a", "c"} {
			var listed, due []cache.Record
			for r, err := range s.Records(t.Context(), kind) {
				require.NoError(rt, err)
				listed = append(listed, r)
			}
			for _, key := range slices.SortedFunc(maps.Keys(want), func(a, b cache.Key) int { return bytes.Compare(a[:], b[:]) }) {
				if kind == "" || want[key].Kind == kind {
					due = append(due, want[key])
				}
			}
			compare(rt, "records", listed, due)
		}
	})
	for _, bad := range []cache.Record{{Kind: "a"}, {Value: []byte("x")}} {
		_, err := s.Put(t.Context(), bad)
		assert.Error(t, err, "%+v was stored", bad)
		assert.Error(t, s.Replace(t.Context(), bad), "%+v was stored", bad)
	}
}

// suiteScores tests that the last stored blocks are returned.
func suiteScores(t *testing.T, open func(*testing.T) cache.Store) {
	s := cache.NewScores(open(t))
	const n = 600
	keys, values := make([][32]byte, n), make([][]byte, n)
	for round := range 2 {
		for i := range keys {
			keys[i] = sha256.Sum256(fmt.Append(nil, i))
			values[i] = bytes.Repeat([]byte{byte(round), byte(i)}, 1+i%200)
		}
		require.NoError(t, s.Put(t.Context(), keys[:n-1], values[:n-1]))
		got, err := s.Get(t.Context(), keys)
		if err != nil || got[n-1] != nil {
			t.Fatal(err, got[n-1])
		}
		for i := range n - 1 {
			require.Equal(t, values[i], got[i], "block %d", i)
		}
	}
}

// suiteClaims tests that a store without other users grants every key that has no value.
func suiteClaims(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	key := func(n int) cache.Key { return newEntry(n).Request.Key() }
	claim := func(keys []cache.Key, want ...bool) {
		t.Helper()
		got, err := s.Claim(t.Context(), keys)
		assert.True(t, err == nil && slices.Equal(got, want), "Claim = %v, %v, want %v", got, err, want)
	}
	claim([]cache.Key{key(1), key(2), key(3)}, true, true, true)
	claim([]cache.Key{key(2), key(4), key(4)}, true, true, true)
	assert.NoError(t, s.Release(t.Context(), []cache.Key{key(1), key(7)}))
	claim([]cache.Key{key(1)}, true)
	mustPut(t, s, newEntry(1))
	mustPut(t, s, newEntry(5))
	claim([]cache.Key{key(1), key(2), key(5), key(1)}, false, true, false, false)
	claim(nil)
}
