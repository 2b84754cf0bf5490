package batch

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/refract-eval/refract/internal/llmtest"
	"github.com/refract-eval/refract/llm"
	"pgregory.net/rapid"
)

// A server with limits refuses none of the files, and gets all rows, in their
// order and in as few files as they fit.
func TestServerAcceptsAllFiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &llmtest.Handler{}
		h.Batch.MaxRows, h.Batch.MaxBytes = rapid.IntRange(2, 9).Draw(rt, "rows"), rapid.IntRange(800, 3000).Draw(rt, "bytes")
		r := newRunner(t, h)
		r.Journal = fmt.Sprintf("%s-%d", r.Journal, rapid.Uint64().Draw(rt, "journal"))
		r.maxRows, r.maxBytes = h.Batch.MaxRows, h.Batch.MaxBytes
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
		next := 0
		for _, b := range h.Batch.Created() {
			if b.Status != "completed" {
				rt.Fatalf("batch %+v", b)
			}
			for _, id := range b.Rows {
				if all[next].ID != id {
					rt.Fatalf("row %s stands where %s is due", id, all[next].ID)
				}
				next++
			}
			if next == len(all) {
				break
			}
			line, err := r.Client.BatchLine(all[next].ID, all[next].Request)
			if err != nil {
				rt.Fatal(err)
			}
			if len(b.Rows) < r.maxRows && b.Bytes+len(line) <= r.maxBytes {
				rt.Fatal("a file is cut although there is room for the next row")
			}
		}
		if next != len(all) {
			rt.Fatalf("%d of %d rows were submitted", next, len(all))
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
			r.rows[id] = &row{id: id, in: b, request: &llm.Request{}}
		}
		read := func(size int) *answers {
			a := r.answersOf(b)
			if err := a.readFile(&inPieces{content, size}); err != nil {
				t.Fatal(err)
			}
			return a
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

// inPieces reads a few bytes at a time.
type inPieces struct {
	rest []byte
	size int
}

func (p *inPieces) Read(to []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to[:min(len(to), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
