package cache_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cache"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestExportGolden(t *testing.T) {
	s := cache.NewMemory()
	entries := []cache.Entry{newEntry(0), newEntry(1), newEntry(2)}
	entries[1].Text, entries[1].HasText, entries[1].FinishReason = "", false, "content_filter"
	entries[2] = cache.Entry{
		Request: cache.Request{Kind: "completions", Model: "m", Prompt: "<a> & \"b\"\x00\u2028é"},
		Answer:  cache.Answer{HasText: true},
	}
	for _, e := range entries {
		require.NoError(t, putEntry(t.Context(), s, e))
	}
	var got bytes.Buffer
	n, _, err := cache.Export(t.Context(), &got, s)
	require.True(t, err == nil && n == len(entries), "Export = %d, %v", n, err)
	golden := filepath.Join("testdata", "export.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, want, got.Bytes())
}

const (
	lineA = `{"request":{"kind":"chat","model":"m","prompt":"a","params":{"top_p":1.0, "max_tokens":5},"sample":0},"text":"A"}`
	lineB = `{"request":{"kind":"chat","model":"m","prompt":"b","sample":0},"text":null,"finish_reason":"content_filter"}`
)

func TestImport(t *testing.T) {
	s := cache.NewMemory()
	got, err := cache.Import(t.Context(), strings.NewReader("\ufeff"+lineA+"\r\n\n  \n"+lineB), s)
	want := (cache.Imported{Entries: 2, Added: 2})
	require.True(t, err == nil && got == want, "Import = %+v, %v, want %+v", got, err, want)
	r := cache.Request{Kind: "chat", Model: "m", Prompt: "a", Params: `{"max_tokens":5,"top_p":1}`}
	assert.Equal(t, cache.Answer{Text: "A", HasText: true}, mustGet(t, s, r))
	r = cache.Request{Kind: "chat", Model: "m", Prompt: "b"}
	assert.Equal(t, cache.Answer{FinishReason: "content_filter"}, mustGet(t, s, r))
	got, err = cache.Import(t.Context(), strings.NewReader(lineA+"\n"+strings.Replace(lineA, `"A"`, `""`, 1)+"\n"+strings.Replace(lineB, "null", `""`, 1)), s)
	if want := (cache.Imported{Entries: 3, Different: 2}); err != nil || got != want {
		t.Errorf("Import = %+v, %v, want %+v", got, err, want)
	}
}

func TestImportErrors(t *testing.T) {
	for _, test := range []struct{ name, bad, want string }{
		{"no JSON", "hello", "bad JSON: invalid character"},
		{"cut", lineB[:40], "ends before its value does"},
		{"unknown field", `{"txt":"x","text":null}`, "txt"},
		{"unknown request field", strings.Replace(lineB, `"sample"`, `"n"`, 1), `request: unknown field "n"`},
		{"no text", strings.Replace(lineB, `"text":null,`, "", 1), "null"},
		{"number as text", strings.Replace(lineB, `null`, "1", 1), "text"},
		{"no model", strings.Replace(lineB, `"m"`, `""`, 1), "no model"},
		{"params", strings.Replace(lineB, `"sample"`, `"params":[1],"sample"`, 1), "request.params sampling parameters: no JSON object"},
		{"UTF-8", strings.Replace(lineB, `"b"`, "\"\xff\"", 1), "UTF-8"},
		{"key of another request", strings.Replace(lineB, "{", `{"key":"`+newEntry(1).Request.Key().String()+`",`, 1), "not the one of the request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := cache.NewMemory()
			got, err := cache.Import(t.Context(), strings.NewReader(lineA+"\n\n"+test.bad+"\n"+lineA), s)
			if err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with line 3 and %q", err, test.want)
			}
			assert.Equal(t, (cache.Imported{Entries: 1, Added: 1}), got)
		})
	}
}

// FuzzImport tests that imported entries are exported, and that importing the export gives
// the same bytes again.
func FuzzImport(f *testing.F) {
	f.Add([]byte(lineA + "\n" + lineB))
	f.Add([]byte("\ufeff" + lineB + "\r\n\r\n" + lineB))
	f.Add([]byte(strings.Replace(lineA, `"A"`, `"\u0000\ud83d\ude00\ud800"`, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, second := cache.NewMemory(), cache.NewMemory()
		counts, err := cache.Import(t.Context(), bytes.NewReader(b), first)
		require.LessOrEqual(t, counts.Added+counts.Different, counts.Entries, "%+v does not add up", counts)
		var one, two bytes.Buffer
		n, _, exportErr := cache.Export(t.Context(), &one, first)
		if exportErr != nil || n != counts.Added {
			t.Fatalf("Export = %d, %v after %+v, %v", n, exportErr, counts, err)
		}
		if again, err := cache.Import(t.Context(), bytes.NewReader(one.Bytes()), second); err != nil || again.Added != n || again.Entries != n {
			t.Fatalf("Import of an export = %+v, %v\n%s", again, err, one.Bytes())
		}
		if _, _, err := cache.Export(t.Context(), &two, second); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("%v: %q became %q", err, one.Bytes(), two.Bytes())
		}
	})
}

// Files of earlier programs can be read: testdata/version3.sqlite is one with the entries of
// version3.jsonl.
func TestStoredBefore(t *testing.T) {
	entries, err := os.ReadFile(filepath.Join("testdata", "version3.jsonl"))
	require.NoError(t, err)
	want := cache.NewMemory()
	_, err = cache.Import(t.Context(), bytes.NewReader(entries), want)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "old.db")
	rewrite(t, filepath.Join("testdata", "version3.sqlite"), file, func(b []byte) []byte { return b })
	fresh := open(t, filepath.Join(t.TempDir(), "new.db"))
	_, err = cache.Import(t.Context(), bytes.NewReader(entries), fresh)
	require.NoError(t, err)
	for name, s := range map[string]*cache.Database{"read only": open(t, file, cache.ReadOnly()), "writable": open(t, file), "new": fresh} {
		n := 0
		for record, err := range want.Records(t.Context(), "") {
			require.NoError(t, err)
			n++
			if got, err := s.Get(t.Context(), []cache.Key{record.Key}); err != nil || !bytes.Equal(got[0], record.Value) {
				t.Errorf("%s: record %s is %q (%v), want %q", name, record.Key, got[0], err, record.Value)
			}
		}
		verified(t, s, int64(n))
	}
}
