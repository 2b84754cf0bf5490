package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/llm"
)

// look checks the open batches, and reads those that have ended.
func (r *batchRun) look(ctx context.Context) error {
	err := r.resolve(ctx)
	for _, b := range slices.Clone(r.journal.batches) {
		if err == nil && b.id != "" && b.wanted > 0 {
			err = r.ask(ctx, b)
			r.observe()
		}
	}
	return r.bear(ctx, &r.looks, err) // after an error, do not ask for the other batches
}

// lost adds a hint if a server does not know a file or batch that it should.
func (r *batchRun) lost(what string, err error) error {
	if !errors.Is(err, llm.ErrNotFound) {
		return err
	}
	return fmt.Errorf("the server does not know a %s of this job: check that the key belongs to the same account, or remove journal %s and pay again for its batches: %w", what, r.journal.path, err)
}

// underWay are the states of a batch that has not ended, also those of servers that are like OpenAI's.
var underWay = []string{"validating", "queued", "pending", "created", "running", "processing", "in_progress", "finalizing", "cancelling"}

// ask checks a batch's state, and reads its answers if it has ended.
func (r *batchRun) ask(ctx context.Context, b *batch) error {
	got, err := r.Client.GetBatch(ctx, b.id)
	if err != nil {
		return r.lost("batch", err)
	}
	switch strings.ToLower(got.Status) {
	case "failed":
		return r.invalid(b, got)
	case "completed", "expired", "cancelled":
	default:
		if !slices.Contains(underWay, strings.ToLower(got.Status)) && !b.strange {
			b.strange = true
			r.warn("batch %q has the status %q, which the Batch API does not know; it is asked for until it ends", b.id, r.Client.Clean(got.Status))
		}
		r.succeeded(&r.looks)
		return nil
	}
	all, odd := map[string]outcome{}, oddLines{}
	for _, file := range []*string{got.OutputFileID, got.ErrorFileID} {
		if file == nil || *file == "" || len(all) == b.wanted { // some servers name an error file that does not exist
			continue
		}
		if err := r.Client.FileContent(ctx, *file, func(from io.Reader) error { return r.readRows(b, *file, from, all, &odd) }); err != nil {
			return r.lost("file", err)
		}
	}
	if len(all) == 0 && strings.EqualFold(got.Status, "completed") {
		if err := odd.explain(r, b, got.RequestCounts.Completed); err != nil {
			return err
		}
	}
	if missing := b.wanted - len(all); missing > 0 && odd.first != "" {
		r.warn("the files of batch %q have nothing for %s, but lines that are no answers to it: %d that cannot be read, %d about other rows, the first %s", b.id, english.Count(missing, "row"), odd.broken, odd.foreign, odd.first)
	}
	r.succeeded(&r.looks)
	r.refusals = 0
	return r.handOut(ctx, b, got.Status, all)
}

// invalid handles a batch that failed its validation, so that none of its rows was processed. If the
// server's queue was full, the rows wait until other batches have ended, or are sent in smaller batches. If
// the server says which rows are at fault, these fail, and the others are sent again.
func (r *batchRun) invalid(b *batch, got openai.Batch) error {
	rows := b.rows
	if err := r.drop(b); err != nil {
		return err
	}
	var said []string
	full, whole, bad := false, false, map[string]error{}
	if got.Errors != nil {
		for _, p := range got.Errors.Data {
			full = full || p.Code == "token_limit_exceeded"
			text := r.Client.Clean(p.Message) + " (" + r.Client.Clean(p.Code) + ")"
			if p.Line != nil && *p.Line > 0 && *p.Line <= len(rows) {
				id := rows[*p.Line-1]
				bad[id] = fmt.Errorf("%w: the server refused the row: %s", llm.ErrInvalidRequest, text)
				text = fmt.Sprintf("line %d (row %q): %s", *p.Line, id, text)
			} else {
				whole = true
			}
			said = append(said, text)
		}
	}
	r.held = r.open()
	r.refusals++
	switch {
	case full && r.held > 0:
		return nil
	case full && len(rows) > 1:
		r.most = len(rows) / 2
		return nil
	case !full && !whole && len(bad) > 0 && (len(bad) < len(rows) || r.progress.Done > 0) && r.refusals < r.attempts:
		r.queue = slices.DeleteFunc(r.queue, func(w *row) bool {
			if bad[w.id] != nil {
				r.fail(w, bad[w.id])
			}
			return bad[w.id] != nil
		})
		return nil
	}
	said = said[:min(len(said), 5)]
	return fmt.Errorf("%w: the server refused batch %q of %s, and says: %s",
		llm.ErrInvalidRequest, got.ID, english.Count(len(rows), "request"), cmp.Or(strings.Join(said, "; "), "nothing"))
}

// outcome is the answer or error of a row in a batch.
type outcome struct {
	response llm.Response
	err      error
	again    bool // another attempt may cure the error
	unasked  bool // the model was not asked
}

// maxLine bounds a line of an output file in bytes.
const maxLine = 64 << 20

// oddLines are lines of files that hold no answer to a question of the batch: the first that is no
// row, the id of the first row of another request, how many there are, and where the first stands.
type oddLines struct {
	line, id, first string
	broken, foreign int
}

// explain says what the files have instead of the rows of a batch, of which the server says that some
// are answered, if they have anything or should have. Its requests would cost the same again: the model
// has probably answered. The page of a proxy may be the right file later, and so may no file.
func (o *oddLines) explain(r *batchRun, b *batch, answered int) error {
	switch {
	case o.id != "":
		return fmt.Errorf("the output of batch %q has none of its %s, but others, such as %q; the model has probably answered, so nothing is sent again: remove journal %s to pay again for its batches",
			b.id, english.Count(b.wanted, "row"), r.Client.Clean(o.id), r.journal.path)
	case o.line != "":
		return fmt.Errorf("%w: the output of batch %q is no file of the Batch API, and begins `%s`; nothing is sent again, and the next run downloads it again", llm.ErrBadAnswer, b.id, r.Client.Clean(o.line))
	case answered > 0:
		return fmt.Errorf("%w: the server says that it answered %s of batch %q, but gives none; nothing is sent again, and the next run asks for them again, unless journal %s is removed",
			llm.ErrBadAnswer, english.Count(answered, "row"), b.id, r.journal.path)
	}
	return nil
}

// readRows reads the outcomes in a file of the rows that wait for a batch. A row gets its first
// answer, or its first error if it has no answer. Lines of other rows and unreadable lines are
// counted.
func (r *batchRun) readRows(b *batch, file string, from io.Reader, all map[string]outcome, odd *oddLines) error {
	before := *odd
	for line, err := range jsonline.Lines(from, maxLine) {
		if err != nil {
			*odd = before // the next attempt reads the file from its beginning
			return err
		}
		place := fmt.Sprintf("in file %q, line %d", r.Client.Clean(file), line.Number)
		var l batchLine
		if json.Unmarshal(line.Text, &l) != nil || l.CustomID == "" {
			odd.line, odd.first = cmp.Or(odd.line, string(line.Text)), cmp.Or(odd.first, place)
			odd.broken++
			continue
		}
		w := r.rows[l.CustomID]
		if w == nil || w.in != b {
			if !slices.Contains(b.rows, l.CustomID) { // the question may be another run's
				odd.id, odd.first = cmp.Or(odd.id, l.CustomID), cmp.Or(odd.first, place)
				odd.foreign++
			}
			continue
		}
		out := r.read(&l, w.Wire)
		if before, double := all[w.id]; !double || before.err != nil && out.err == nil {
			all[w.id] = out
		}
	}
	return nil
}

// batchLine is a line of an output or error file.
type batchLine struct {
	CustomID string `json:"custom_id"`
	Response struct {
		Status json.Number     `json:"status_code"` // some servers write it as a string
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

// read returns the outcome in a line. Servers differ in where they put an error: into the response's
// body, next to a response without a body, or instead of a response.
func (r *batchRun) read(l *batchLine, wire llm.Request) (out outcome) {
	status, body := 0, l.Response.Body
	if n, err := l.Response.Status.Int64(); err == nil {
		status = int(n)
	}
	has := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	switch {
	case has(body):
		status = cmp.Or(status, http.StatusOK)
	case !has(l.Error):
		return outcome{again: true, unasked: true, err: fmt.Errorf("%w: the row has neither a response nor an error", llm.ErrUnavailable)}
	default:
		if body = l.Error; status < 400 {
			status = 0 // the error's code may be a status
		}
	}
	var page string // a body that is not JSON is sent as a string
	if json.Unmarshal(body, &page) == nil {
		body = []byte(page)
	}
	out.unasked = status == 0
	out.response, out.again, out.err = r.Client.ReadAnswer(wire, status, body)
	return out
}

// putTogether is the number of answers stored in one transaction.
const putTogether = 1000

// handOut stores the answers to a batch's rows. Other rows fail or are submitted again.
func (r *batchRun) handOut(ctx context.Context, b *batch, status string, all map[string]outcome) error {
	var answered []*row
	for w := range r.waiting(b) {
		out, ok := all[w.id]
		if !ok {
			out = outcome{again: true, unasked: true, err: fmt.Errorf("%w: it has nothing for this row", llm.ErrUnavailable)}
		}
		adapted, err := r.refused.note(ctx, &w.Question, out.err)
		switch {
		case err != nil:
			return err
		case out.err == nil:
			answered = append(answered, w)
		case status == "cancelled" && out.unasked:
			r.fail(w, fmt.Errorf("batch %q was cancelled at the server; the next run submits its rows again: %w", b.id, out.err))
		case adapted: // the next round asks without the refused parameter
			r.leave(w)
			r.Budget.Settle(w.Wire, llm.Response{}, out.err)
			r.progress.Rows--
		case out.again && w.tries+1 < r.attempts:
			w.tries++
			r.again(w)
		default:
			err := fmt.Errorf("batch %q, which is %s: %w", b.id, r.Client.Clean(status), out.err)
			if w.tries > 0 {
				err = fmt.Errorf("after %d batches, the last: %w", w.tries+1, err)
			}
			r.fail(w, err)
		}
	}
	for part := range slices.Chunk(answered, putTogether) {
		entries := make([]cache.Entry, len(part))
		for i, w := range part {
			entries[i] = Entry(w.Request, all[w.id].response)
		}
		if _, err := cache.NewAnswers(r.Store).Put(ctx, entries...); err != nil {
			return err
		}
		for _, w := range part {
			r.leave(w)
			r.Budget.Settle(w.Wire, all[w.id].response, nil)
			r.progress.Done++
		}
	}
	return nil
}
