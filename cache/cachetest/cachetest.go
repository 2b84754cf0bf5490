// Package cachetest is the conformance suite of [cache.Store] and of what a
// store may do beside: every implementation passes it.
package cachetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cache"
)

// Run tests a kind of store. Open returns a new, empty one; it registers its
// own clean-up.
func Run(t *testing.T, open func(t *testing.T) cache.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) cache.Store)
	}{
		{"absent", absent},
		{"exact", exact},
		{"first answer stays", firstStays},
		{"keep", keep},
		{"refused", refused},
		{"created in UTC", created},
		{"cancelled", cancelled},
		{"concurrent", concurrent},
		{"model", model},
		{"export and import", exportImport},
		{"many", many},
		{"many, concurrent", manyConcurrent},
		{"claims", claimAlone},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// Entry returns a sound entry that differs for every n.
func Entry(n int) cache.Entry {
	return cache.Entry{
		Request: cache.Request{
			Kind: cache.KindChat, Model: "model-a", Revision: "r1",
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

// Generator draws sound entries, hostile texts among them.
func Generator() *rapid.Generator[cache.Entry] {
	text := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "\x00", "a\x00b\x00", "\ufeff", "\r\n", "\u2028", "\ufffd", "'; DROP TABLE answers; --", "\U0010ffff"}),
		rapid.Map(rapid.IntRange(0, 20_000), func(n int) string { return strings.Repeat("x\x00é", n) }),
	)
	name := rapid.StringN(1, 20, -1)
	return rapid.Custom(func(t *rapid.T) cache.Entry {
		params, err := cache.NewParams(map[string]any{
			"temperature": rapid.Float64Range(-10, 10).Draw(t, "temperature"),
			"stop":        rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "stop"),
			"seed":        rapid.Uint64().Draw(t, "seed"),
		})
		if err != nil {
			t.Fatal(err)
		}
		e := cache.Entry{
			Request: cache.Request{
				Kind: name.Draw(t, "kind"), Model: name.Draw(t, "model"), Revision: text.Draw(t, "revision"),
				Prompt: text.Draw(t, "prompt"), Sample: rapid.IntRange(0, math.MaxInt32).Draw(t, "sample"),
				Params: rapid.SampledFrom([]cache.Params{"", params}).Draw(t, "params"),
			},
			Answer: cache.Answer{
				FinishReason: text.Draw(t, "finish"), ServedModel: text.Draw(t, "served"),
				PromptTokens:     rapid.IntRange(0, math.MaxInt32).Draw(t, "prompt tokens"),
				CompletionTokens: rapid.IntRange(0, math.MaxInt32).Draw(t, "completion tokens"),
			},
		}
		if rapid.Bool().Draw(t, "has text") {
			e.Text, e.HasText = text.Draw(t, "text"), true
		}
		if rapid.Bool().Draw(t, "has time") {
			e.Created = time.Unix(0, rapid.Int64().Draw(t, "created")).UTC()
		}
		return e
	})
}

func mustPut(t testing.TB, s cache.Store, e cache.Entry) {
	t.Helper()
	if err := s.Put(t.Context(), e); err != nil {
		t.Fatalf("Put: %v", err)
	}
}

func mustGet(t testing.TB, s cache.Store, r cache.Request) cache.Entry {
	t.Helper()
	e, ok, err := s.Get(t.Context(), r.Key())
	if err != nil || !ok {
		t.Fatalf("Get = %v, %v, want an entry", ok, err)
	}
	return e
}

func mustLack(t testing.TB, s cache.Store, r cache.Request) {
	t.Helper()
	e, ok, err := s.Get(t.Context(), r.Key())
	if err != nil || ok || e != (cache.Entry{}) {
		t.Fatalf("Get = %+v, %v, %v, want nothing", e, ok, err)
	}
}

func absent(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	mustLack(t, s, Entry(1).Request)
	mustPut(t, s, Entry(2))
	mustLack(t, s, Entry(1).Request)
	// An absence is not remembered.
	mustPut(t, s, Entry(1))
	if got := mustGet(t, s, Entry(1).Request); got != Entry(1) {
		t.Errorf("got %+v, want %+v", got, Entry(1))
	}
}

func exact(t *testing.T, open func(*testing.T) cache.Store) {
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
	} {
		want := Entry(i)
		change(&want)
		mustPut(t, s, want)
		for range 2 { // the second time a front answers
			if got := mustGet(t, s, want.Request); got != want {
				t.Errorf("entry %d: got %+v, want %+v", i, got, want)
			}
		}
	}
}

func firstStays(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	first, second := Entry(1), Entry(1)
	second.Text = "another answer"
	mustPut(t, s, first)
	mustPut(t, s, first)
	mustPut(t, s, second)
	if got := mustGet(t, s, first.Request); got != first {
		t.Errorf("got %+v, want the first answer", got)
	}
	// A missing answer counts as well.
	blocked := Entry(2)
	blocked.Text, blocked.HasText = "", false
	mustPut(t, s, blocked)
	mustPut(t, s, Entry(2))
	if got := mustGet(t, s, blocked.Request); got != blocked {
		t.Errorf("got %+v, want the missing answer", got)
	}
}

func keep(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	first, second := Entry(1), Entry(1)
	second.Text = "another answer"
	zone := time.FixedZone("somewhere", 3600)
	first.Created = first.Created.In(zone)
	for _, e := range []cache.Entry{first, second, first} {
		got, err := s.Keep(t.Context(), e)
		if err != nil || got != Entry(1).Answer {
			t.Errorf("Keep = %+v, %v; want the first answer, as it is read back", got, err)
		}
	}
	if got := mustGet(t, s, first.Request); got != Entry(1) {
		t.Errorf("got %+v, want the first answer", got)
	}
	bad := Entry(2)
	bad.Request.Model = ""
	if _, err := s.Keep(t.Context(), bad); err == nil {
		t.Error("an entry that is none was kept")
	}
}

func refused(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	const bad = "a\xffb"
	for _, test := range []struct {
		want   string // in the error
		change func(*cache.Entry)
	}{
		{"prompt is not valid UTF-8 (byte 1)", func(e *cache.Entry) { e.Request.Prompt = bad }},
		{"answer is not valid UTF-8", func(e *cache.Entry) { e.Text = bad }},
		{"kind is not", func(e *cache.Entry) { e.Request.Kind = bad }},
		{"model is not", func(e *cache.Entry) { e.Request.Model = bad }},
		{"revision is not", func(e *cache.Entry) { e.Request.Revision = bad }},
		{"finish reason is not", func(e *cache.Entry) { e.FinishReason = bad }},
		{"served model is not", func(e *cache.Entry) { e.ServedModel = bad }},
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
		e := Entry(1)
		test.change(&e)
		if err := s.Put(t.Context(), e); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Put(%+v) = %v, want an error with %q", e, err, test.want)
		}
		mustLack(t, s, e.Request)
	}
}

func created(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	e := Entry(1)
	want := e.Created
	e.Created = e.Created.In(time.FixedZone("east", 3*3600))
	mustPut(t, s, e)
	if got := mustGet(t, s, e.Request).Created; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	e = Entry(2)
	e.Created = time.Now() // with a monotonic reading
	mustPut(t, s, e)
	if got, want := mustGet(t, s, e.Request).Created, e.Created.Round(0).UTC(); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func cancelled(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	mustPut(t, s, Entry(1))
	mustGet(t, s, Entry(1).Request)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Get(ctx, Entry(1).Request.Key()); !errors.Is(err, context.Canceled) {
		t.Errorf("Get = %v, want context.Canceled", err)
	}
	if err := s.Put(ctx, Entry(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("Put = %v, want context.Canceled", err)
	}
	mustGet(t, s, Entry(1).Request) // the store works on
	mustPut(t, s, Entry(2))
	mustGet(t, s, Entry(2).Request)
}

func concurrent(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	const goroutines, keys = 8, 40
	seen := make([][keys]string, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range keys {
				e := Entry((i + g*5) % keys)
				e.Text = fmt.Sprintf("answer of %d", g)
				if err := s.Put(t.Context(), e); err != nil {
					t.Errorf("Put: %v", err)
					return
				}
				got, ok, err := s.Get(t.Context(), e.Request.Key())
				if err != nil || !ok {
					t.Errorf("Get after Put = %v, %v", ok, err)
					return
				}
				seen[g][(i+g*5)%keys] = got.Text
			}
		})
	}
	wg.Wait()
	for i := range keys {
		want := mustGet(t, s, Entry(i).Request).Text
		for g := range goroutines {
			if seen[g][i] != want {
				t.Errorf("goroutine %d saw %q for entry %d, and %q is stored", g, seen[g][i], i, want)
			}
		}
	}
}

// model compares the store with a map whose values are set once.
func model(t *testing.T, open func(*testing.T) cache.Store) {
	s := open(t)
	want := make(map[cache.Key]cache.Entry)
	entries := Generator()
	rapid.Check(t, func(rt *rapid.T) {
		e := entries.Draw(rt, "entry")
		key := e.Request.Key()
		got, ok, err := s.Get(t.Context(), key)
		before, has := want[key]
		if err != nil || ok != has || got != before {
			rt.Fatalf("Get = %+v, %v, %v, want %+v, %v", got, ok, err, before, has)
		}
		if err := s.Put(t.Context(), e); err != nil {
			rt.Fatal(err)
		}
		if !has {
			want[key] = e
		}
		if got, ok, err = s.Get(t.Context(), key); err != nil || !ok || got != want[key] {
			rt.Fatalf("Get = %+v, %v, %v, want %+v", got, ok, err, want[key])
		}
	})
	for key, e := range want {
		if got := mustGet(t, s, e.Request); got != e {
			t.Errorf("%s: got %+v, want %+v", key, got, e)
		}
	}
}

// exportImport carries the entries of a store that can list them to another.
func exportImport(t *testing.T, open func(*testing.T) cache.Store) {
	from, to := open(t), open(t)
	var want []cache.Entry
	entries := Generator()
	for i := range 30 {
		e := entries.Example(i)
		mustPut(t, from, e)
		want = append(want, mustGet(t, from, e.Request))
	}
	var first, second bytes.Buffer
	n, err := cache.Export(t.Context(), &first, from)
	if err != nil {
		t.Fatal(err)
	}
	for pass := range 2 {
		got, err := cache.Import(t.Context(), bytes.NewReader(first.Bytes()), to)
		wanted := cache.Imported{Entries: n, Added: n}
		if pass > 0 {
			wanted = cache.Imported{Entries: n, Present: n}
		}
		if err != nil || got != wanted {
			t.Fatalf("import %d = %+v, %v, want %+v", pass, got, err, wanted)
		}
	}
	for _, e := range want {
		if got := mustGet(t, to, e.Request); got != e {
			t.Errorf("imported %+v, want %+v", got, e)
		}
	}
	if _, err := cache.Export(t.Context(), &second, to); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the export of an import differs from what was imported")
	}
}
