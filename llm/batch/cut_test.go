package batch

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/llmtest"
	"pgregory.net/rapid"
)

// Files keep their limits, and hold all rows in their order.
func TestCutWithinLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		maxRows, maxBytes := rapid.IntRange(1, 6).Draw(rt, "rows"), rapid.IntRange(20, 120).Draw(rt, "bytes")
		lengths := rapid.SliceOf(rapid.IntRange(1, maxBytes-1)).Draw(rt, "lengths")
		var f file
		var lines, ids, wantIDs []string
		check := func() {
			if len(f.ids) == 0 || len(f.ids) > maxRows || f.lines.Len() > maxBytes {
				rt.Fatalf("a file has %d rows and %d bytes, at most %d and %d are allowed", len(f.ids), f.lines.Len(), maxRows, maxBytes)
			}
			got := strings.SplitAfter(f.lines.String(), "\n")
			if lines = append(lines, got[:len(got)-1]...); len(got)-1 != len(f.ids) {
				rt.Fatalf("%d lines for %d rows", len(got)-1, len(f.ids))
			}
			ids = append(ids, f.ids...)
		}
		var want []string
		for i, n := range lengths {
			line := strings.Repeat(string(rune('a'+i%26)), n) + "\n"
			want, wantIDs = append(want, line), append(wantIDs, fmt.Sprint(i))
			f.add(fmt.Sprint(i), []byte(line), maxRows, maxBytes)
			if f.full {
				if len(f.ids) < maxRows && f.lines.Len()+len(line) <= maxBytes {
					rt.Fatalf("a file is cut although there is room for the next row")
				}
				check()
				f.next()
			}
		}
		if f.waiting() > 0 {
			check()
			f.next()
		}
		if f.waiting() != 0 || !slices.Equal(lines, want) || !slices.Equal(ids, wantIDs) {
			rt.Fatalf("rows %v came out as %v with %d left", wantIDs, ids, f.waiting())
		}
	})
}

// A server with limits refuses none of the files, and gets all rows.
func TestServerAcceptsAllFiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &llmtest.Handler{}
		h.Batch.MaxRows, h.Batch.MaxBytes = rapid.IntRange(2, 9).Draw(rt, "rows"), rapid.IntRange(800, 3000).Draw(rt, "bytes")
		r := newRunner(t, h)
		r.Journal = fmt.Sprintf("%s-%d", r.Journal, rapid.Uint64().Draw(rt, "journal"))
		r.MaxRequests, r.MaxBytes = h.Batch.MaxRows, h.Batch.MaxBytes
		var all []Item
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 100), 1, 8).Draw(rt, "lengths") {
			all = append(all, item(fmt.Sprintf("%d %s", i, strings.Repeat("é", n))))
		}
		rs := mustRun(t, r, list(all...))
		for _, it := range all {
			if res := rs[it.ID]; res.Err != nil || res.Response.Text != llmtest.Answer("test-model", it.Request.Prompt, 0) {
				rt.Fatalf("result %+v", res)
			}
		}
		for _, b := range h.Batch.Created() {
			if b.Status != "completed" {
				rt.Fatalf("batch %+v", b)
			}
		}
	})
}

// However a file arrives in pieces, it holds the same.
func FuzzOutputFile(f *testing.F) {
	good := `{"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"content":"yes"}}]}}}` + "\n"
	f.Add([]byte(good), uint16(7))
	f.Add([]byte(good+`{"custom_id":"b","error":{"code":"batch_expired","message":"late"}}`), uint16(1))
	f.Add([]byte("\n\r\nnull\n{}\n"+`{"custom_id":"a","response":{"status_code":1e9,"body":7}}`+good), uint16(3))
	f.Add([]byte(`{"custom_id":"c","response":{"body":"<html>"}}`), uint16(2))
	client, err := llm.New(llm.Config{BaseURL: testURL, Transport: (&llmtest.Handler{}).Transport()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte, size uint16) {
		r := &run{Runner: Runner{Client: client}, model: "m", rows: map[string]*row{}}
		b := &batch{rows: []string{"a", "b", "c"}}
		for _, id := range b.rows {
			r.rows[id] = &row{in: b, request: &llm.Request{}}
		}
		read := func(size int) *answers {
			l := &lineReader{into: newAnswers(r, b)}
			for piece := range slices.Chunk(content, size) {
				if n, err := l.Write(piece); n != len(piece) || err != nil {
					t.Fatal(n, err)
				}
			}
			l.end()
			return l.into
		}
		whole, pieces := read(max(1, len(content))), read(1+int(size))
		if len(whole.of) != len(pieces.of) || whole.unusable != pieces.unusable || whole.broken != pieces.broken {
			t.Fatalf("in one: %+v, in pieces: %+v", whole, pieces)
		}
		for id, a := range whole.of {
			b, ok := pieces.of[id]
			if !ok || a.response != b.response || (a.err == nil) != (b.err == nil) || a.again != b.again {
				t.Fatalf("row %s in one: %+v, in pieces: %+v", id, a, b)
			}
			if a.err == nil && !bytes.Contains(content, []byte(`"custom_id"`)) && !bytes.Contains(content, []byte(`"\u`)) && a.response.HasText {
				t.Fatalf("an answer from %q", content)
			}
			if a.err != nil && (a.response != llm.Response{}) {
				t.Fatalf("both an answer and an error: %+v", a)
			}
		}
		if lines := bytes.Count(content, []byte("\n")) + 1; len(whole.of)+whole.unusable > lines {
			t.Fatalf("%d lines give %d rows and %d unusable ones", lines, len(whole.of), whole.unusable)
		}
	})
}
