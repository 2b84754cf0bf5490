package dataset

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

func openText(t testing.TB, text string, o Options) (refract.Dataset, string) {
	t.Helper()
	dir := folderOf(t, map[string]string{"d.jsonl": text})
	ds, err := Open("jsonl:"+filepath.Join(dir, "d.jsonl"), o)
	require.NoError(t, err)
	return ds, dir
}

func TestJSONL(t *testing.T) {
	const text = `{"id":"a","source":"s","references":["r1",null,""],` +
		`"variants":[{"reference":2,"prompt":"order","sample":3,"model":"m","text":"v","finish":"stop"},{"text":null}],` +
		`"human":{"mqm":{"z":-1.5,"y":null},"da":{"z":1e2}},"hypotheses":{"z":"h","y":null,"x":""},"human_systems":["y"],` +
		`"document":"d","domain":"news"}` + "\n" +
		` { "id" : 7.0 , "references" : null , "hypotheses" : { "z" : "\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t\u0000" } } ` + "\n \n\n"
	var w warnings
	ds, dir := openText(t, text, Options{Warn: w.add})
	got, err := collect(ds)
	require.NoError(t, err)
	file := filepath.Join(dir, "d.jsonl")
	want := []*refract.Segment{{
		ID: "a", Source: refract.NewText("s"),
		References: []refract.Text{refract.NewText("r1"), {}, refract.NewText("")},
		Variants: []refract.Variant{
			{Reference: 2, Prompt: "order", Sample: 3, Model: "m", Text: refract.NewText("v"), Finish: "stop"},
			{},
		},
		Hypotheses: []refract.Hypothesis{
			{System: "z", Text: refract.NewText("h")},
			{System: "y", Human: true},
			{System: "x", Text: refract.NewText("")},
		},
		Judgements: []refract.Judgement{
			{Name: "mqm", System: "z", Score: -1.5, Valid: true},
			{Name: "mqm", System: "y"},
			{Name: "da", System: "z", Score: 100, Valid: true},
		},
		Document: "d", Domain: "news", Pos: refract.Position{File: file, Line: 1},
	}, {
		ID:         "7.0",
		Hypotheses: []refract.Hypothesis{{System: "z", Text: refract.NewText("é😀\"\\/\b\f\n\r\t\x00")}},
		Pos:        refract.Position{File: file, Line: 2},
	}}
	assert.Empty(t, cmp.Diff(want, got))
	w.check(t, dir,
		`d.jsonl: blank references: 1 of 3; they are scored as empty texts, not as missing ones`,
		`d.jsonl: system "y" has no text for 2 of 2 segments (ids "a", "7.0")`,
		`d.jsonl: system "x": blank outputs: 1 of 1; they are scored as empty texts, not as missing ones`,
		`d.jsonl: system "x" has no text for 1 of 2 segments (ids "7.0")`)
}

func TestJSONLJudgements(t *testing.T) {
	const text = `{"id":"1","human":{"a":{"s":1},"b":{"s":2}}}`
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{NoJudgements: true}, ""},
		{Options{NoJudgements: true, JudgementNames: []string{"b"}}, ""},
		{Options{}, "a b"},
		{Options{JudgementNames: []string{"b"}}, "b"},
	} {
		ds, _ := openText(t, text, c.o)
		got, err := collect(ds)
		require.NoError(t, err)
		var names []string
		for _, j := range got[0].Judgements {
			names = append(names, j.Name)
		}
		assert.Equal(t, c.want, strings.Join(names, " "), "%+v", c.o)
	}
}

func TestJSONLErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `d.jsonl: the dataset is empty: no segment at all`},
		{"blank only", "\n \n", `d.jsonl: the dataset is empty: no segment at all`},
		{"blank line", "{\"id\":\"1\"}\n\n\n{\"id\":\"2\"}\n", `d.jsonl:2: blank line before further segments; remove it`},
		{"array", `[1]`, `d.jsonl:1:1: a segment must be a JSON object, not a number`},
		{"string", ` "x"`, `d.jsonl:1:2: a segment must be a JSON object, not a string`},
		{"garbage", `hello`, `d.jsonl:1:1: bad JSON: invalid character 'h' at start of value`},
		{"open object", `{"id":"1"`, `d.jsonl:1:10: bad JSON: it ends before its value does`},
		{"trailing comma", `{"id":"1",}`, `d.jsonl:1:10: bad JSON: invalid character ',' at start of value`},
		{"NaN", `{"id":"1","human":{"m":{"s":NaN}}}`, `d.jsonl:1:29: bad JSON: invalid character 'N' at start of value; JSON has no NaN: write null for a missing value`},
		{"second line", "{\"id\":\"1\"}\n{\"id\":\"2\"]", `d.jsonl:2:10: bad JSON: invalid character ']' after object value (expecting ',' or '}')`},
		{"text after", `{"id":"1"} {"id":"2"}`, `d.jsonl:1:12: bad JSON: invalid character '{' after top-level value`},
		{"open string", `{"id":"1`, `d.jsonl:1:9: bad JSON: it ends before its value does`},
		{"control", "{\"id\":\"1\t\"}", `d.jsonl:1:9: bad JSON: invalid character '\t' in string (expecting non-control character)`},
		{"lone high surrogate", `{"id":"a\ud800b"}`, "d.jsonl:1:9: bad JSON: invalid surrogate pair `\\ud800b\"}` in string"},

		{"no id", `{"source":"s"}`, `d.jsonl:1: the segment has no id; each segment needs a unique, non-empty id`},
		{"empty id", `{"id":""}`, `d.jsonl:1: the segment has no id; each segment needs a unique, non-empty id`},
		{"null id", `{"id":null}`, `d.jsonl:1:7: field id must be a string or a number`},
		{"boolean id", `{"id":true}`, `d.jsonl:1:7: field id must be a string or a number`},
		{"duplicate id", "{\"id\":\"1\"}\n{\"id\":\"2\"}\n{\"id\":1}\n", `d.jsonl:3: id "1" is already used by line 1; ids must be unique`},

		{"source", `{"id":"1","source":1}`, `d.jsonl:1:20: field source must be a string or null, not a number`},
		{"references", `{"id":"1","references":"r"}`, `d.jsonl:1:24: field references must be an array, not a string`},
		{"reference", `{"id":"1","references":["r",{}]}`, `d.jsonl:1:29: field references[1] must be a string or null, not an object`},
		{"hypotheses", `{"id":"1","hypotheses":["h"]}`, `d.jsonl:1:24: field hypotheses must be an object`},
		{"hypothesis", `{"id":"1","hypotheses":{"s":5}}`, `d.jsonl:1:29: field hypotheses of system "s" must be a string or null`},
		{"no system", `{"id":"1","hypotheses":{"s":"h","":"h"}}`, `d.jsonl:1:33: field hypotheses[""] has an empty name`},
		{"no rater", `{"id":"1","ratings":{"":{"q":{"s":1}}}}`, `d.jsonl:1:22: field ratings[""] has an empty name`},
		{"no judged system", `{"id":"1","human":{"q":{"":1}}}`, `d.jsonl:1:25: field human.q[""] has an empty name`},
		{"human", `{"id":"1","human":[]}`, `d.jsonl:1:19: field human must be an object`},
		{"score", `{"id":"1","human":{"mqm":{"s":"-1"}}}`, `d.jsonl:1:31: field human.mqm of system "s" must be a number or null`},
		{"document", `{"id":"1","document":3}`, `d.jsonl:1:22: field document must be a string or null, not a number`},

		{"unknown field", `{"id":"1","refrences":[]}`, `d.jsonl:1:11: unknown field "refrences" (did you mean "references"?)`},
		{"unknown field, by case", `{"ID":"1"}`, `d.jsonl:1:2: unknown field "ID" (did you mean "id"?)`},
		{"unknown long field", `{"id":"1","translation memory":[]}`, `d.jsonl:1:11: unknown field "translation memory"; the fields are id, source, references, variants, rejected, hypotheses, human_systems, human, ratings, document, domain, language, judged, extra; read a file with other columns as 'table:d.jsonl,id=id,reference=COLUMN,system:NAME=COLUMN'`},
		{"field twice", `{"id":"1","id":"2"}`, `d.jsonl:1:11: field "id" is there twice`},
		{"system twice", `{"id":"1","hypotheses":{"s":"a","t":"b","s":"c"}}`, `d.jsonl:1:41: field "s" is there twice`},
		{"scored twice", `{"id":"1","human":{"m":{"s":1,"s":1}}}`, `d.jsonl:1:31: field "s" is there twice`},
		{"human system unknown", `{"id":"1","hypotheses":{"s":"a"},"human_systems":["t"]}`, `d.jsonl:1: segment "1": human_systems names "t", which is not in hypotheses`},
		{"human system twice", `{"id":"1","hypotheses":{"s":"a"},"human_systems":["s","s"]}`, `d.jsonl:1: system "s" is twice in human_systems`},

		{"variant kind", `{"id":"1","variants":["v"]}`, `d.jsonl:1:23: field variants[0] must be an object, not a string`},
		{"variant field", `{"id":"1","variants":[{"promt":"x"}]}`, `d.jsonl:1:24: variants[0]: unknown field "promt" (did you mean "prompt"?)`},
		{"variant field twice", `{"id":"1","variants":[{"model":"x","model":"y"}]}`, `d.jsonl:1:36: field "model" is there twice`},
		{"variant without text", `{"id":"1","references":["r"],"variants":[{"reference":0}]}`, `d.jsonl:1: variants[0] has no text; write null for a missing one`},
		{"raw kind", `{"id":"1","references":["r"],"variants":[{"text":"v","raw":1}]}`, `d.jsonl:1:60: field variants[0].raw must be a string or null`},
		{"sampling kind", `{"id":"1","references":["r"],"variants":[{"text":"v","sampling":"t"}]}`, `d.jsonl:1:65: field variants[0].sampling must be an object`},
		{"tokens", `{"id":"1","references":["r"],"variants":[{"text":"v","prompt_tokens":-1}]}`, `d.jsonl:1: variants[0] has -1 tokens`},
		{"created", `{"id":"1","references":["r"],"variants":[{"text":"v","created":"2024-02-30T00:00:00Z"}]}`, `d.jsonl:1: variants[0] was created at "2024-02-30T00:00:00Z"; write a date and time such as 2024-02-29T13:00:00Z`},
		{"rejected field", `{"id":"1","references":["r"],"rejected":[{"verdikt":"cut"}]}`, `d.jsonl:1:43: rejected[0]: unknown field "verdikt" (did you mean "verdict"?)`},
		{"rejected range", `{"id":"1","references":["r"],"rejected":[{"reference":1,"text":"v"}]}`, `d.jsonl:1: segment "1": rejected[0] is of reference 1, but the segment has 1 reference (the first is 0)`},
		{"variant range", `{"id":"1","references":["r"],"variants":[{"text":"v"},{"reference":1,"text":"v"}]}`, `d.jsonl:1: segment "1": variants[1] is of reference 1, but the segment has 1 reference (the first is 0)`},

		{"UTF-8", "{\"id\":\"1\"}\n{\"id\":\"é\xff\"}", `d.jsonl:2: invalid UTF-8 at byte 10 of the line; store the file as UTF-8`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, dir := openText(t, c.text, Options{})
			_, err := collect(ds)
			wantError(t, dir, err, c.want)
			var e *Error
			assert.True(t, errors.As(err, &e), "error of type %T, want *Error", err)
		})
	}
}

func TestJSONLMarksAndLineEnds(t *testing.T) {
	var w warnings
	ds, dir := openText(t, "\ufeff{\"id\":\"1\",\"source\":\"a\"}\r\n{\"id\":\"2\",\"source\":\"b\u2028\u0085\"}\r\n", Options{Warn: w.add})
	for range 2 {
		got, err := collect(ds)
		require.NoError(t, err)
		assert.True(t, len(got) == 2 && got[1].Source.Value == "b\u2028\u0085", "got %v", got)
	}
	w.check(t, dir,
		"d.jsonl:1: lines end in carriage return and newline; the carriage returns are removed",
		"d.jsonl:1: the file begins with a byte order mark, which is removed")
}

func TestJSONLLongLines(t *testing.T) {
	// Around the buffer's size, and far above it.
	for _, n := range []int{lineBuffer - 30, lineBuffer - 21, lineBuffer - 20, lineBuffer - 19, lineBuffer, 3 * lineBuffer, 5 << 20} {
		long := strings.Repeat("é", n/2)
		ds, _ := openText(t, `{"id":"1","source":"`+long+"\"}\n{\"id\":\"2\",\"source\":\"x\"}", Options{})
		got, err := collect(ds)
		require.NoError(t, err)
		assert.True(t, got[0].Source.Value == long && got[1].Source.Value == "x", "a line of %d bytes is changed", n)
	}
}

func TestStandardInput(t *testing.T) {
	ds, err := Open("jsonl:-", Options{Stdin: strings.NewReader("{\"id\":\"1\"}\n{\"id\":2\n")})
	require.NoError(t, err)
	got, err := collect(ds)
	wantError(t, "DIR", err, "<stdin>:2:8: bad JSON: it ends before its value does")
	assert.Len(t, got, 1)
	_, err = collect(ds)
	wantError(t, "DIR", err, "<stdin>: is a stream and can be read only once; store it in a file first")
}

func TestCancelWhileWaiting(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ds, err := Open("jsonl:-", Options{Stdin: r})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go w.Write([]byte("{\"id\":\"1\"}\n"))
	done := make(chan error)
	go func() {
		for _, err := range ds.Segments(ctx) {
			if err != nil {
				done <- err
				return
			}
			time.AfterFunc(time.Millisecond, cancel)
		}
		done <- nil
	}()
	assert.ErrorIs(t, <-done, context.Canceled)
}

func TestOpenErrors(t *testing.T) {
	dir := folderOf(t, map[string]string{"sub/x": ""})
	for _, c := range []struct{ spec, want string }{
		{"data.json", "data.json: no such file or directory"},
		{"data.txt", "data.txt: no such file or directory"},
		{"testdata", `dataset "testdata" does not say its format; write jsonl:FILE, mtme:DIR/TESTSET/LP, parquet:FILE, published:DIR, table:FILE,source=COLUMN,… or mqm:FILE`},
		{"json:data", `dataset "json:data" has the unknown format "json" (did you mean "jsonl"?); write jsonl:FILE, mtme:DIR/TESTSET/LP, parquet:FILE, published:DIR, table:FILE,source=COLUMN,… or mqm:FILE`},
		{"arrow:data", `dataset "arrow:data" has the unknown format "arrow"; write jsonl:FILE, mtme:DIR/TESTSET/LP, parquet:FILE, published:DIR, table:FILE,source=COLUMN,… or mqm:FILE`},
		{"jsonl:", `dataset "jsonl:" names no file; write jsonl:FILE`},
		{"jsonl:" + dir + "/none", `none: no such file or directory`},
		{"jsonl:" + dir + "/sub", `sub: is a directory, not a file`},
	} {
		_, err := Open(c.spec, Options{})
		wantError(t, dir, err, c.want)
	}
}
