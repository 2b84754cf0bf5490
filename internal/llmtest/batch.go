package llmtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// BatchStep is a request to the Batch API.
type BatchStep string

// The steps.
const (
	BatchUpload  BatchStep = "upload"  // POST /v1/files
	BatchContent BatchStep = "content" // GET /v1/files/{id}/content
	BatchCreate  BatchStep = "create"  // POST /v1/batches
	BatchGet     BatchStep = "get"     // GET /v1/batches/{id}
	BatchList    BatchStep = "list"    // GET /v1/batches?after=…
	BatchCancel  BatchStep = "cancel"  // POST /v1/batches/{id}/cancel
)

// Batches is the Batch API of a Handler: GET and POST /v1/files,
// /v1/files/{id}/content, GET and POST /v1/batches, /v1/batches/{id} and its
// cancel. The Handler answers the rows as if they were calls, when the batch
// is created: its counts, its faults per prompt and its Decide hold for them,
// and an answer other than a 200 goes to the error file. The zero Batches is
// ready; its fields are set before the first request.
type Batches struct {
	// Plan gives the fate of a batch, n counting them from 0; nil means that
	// all end well.
	Plan func(n int) BatchPlan
	// Decide gives a fault for a request, or nil. Queued faults go before it.
	Decide func(BatchStep, *Request) Fault
	// PageSize bounds a page of the list, also where more are asked for; 0
	// means 20.
	PageSize int
	// MaxRows and MaxBytes are the limits of a batch's file, 50,000 rows and
	// 200 MB where they are 0. A larger file is refused.
	MaxRows, MaxBytes int

	mu      sync.Mutex
	files   []batchFile
	batches []*batchJob
	before  map[BatchStep][]Fault
	after   map[BatchStep][]Fault
	steps   map[BatchStep]int
}

type batchFile struct {
	openai.File
	content []byte
}

// batchJob is a batch as it is shown, which changes when it is asked for.
type batchJob struct {
	openai.Batch
	rows              []batchRow
	plan              BatchPlan
	gets              int
	ended             bool
	answers, failures []string
}

type batchRow struct {
	CustomID string          `json:"custom_id"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// BatchPlan is the fate of a batch. The zero plan is that of a good one that
// has ended when it is first asked for.
type BatchPlan struct {
	// Gets is how often the batch is asked for before it has ended.
	Gets int
	// Problems make the validation fail; no row is answered then.
	Problems []BatchProblem
	// Status is the last one, "expired" or "cancelled"; "" means "completed".
	Status string
	// Unanswered is how many rows, counted from the last, were not asked for
	// when the batch ended; the error file says so.
	Unanswered int
	// Edits change the lines of the output and the error file, in turn. A
	// file without lines is not there.
	Edits []BatchEdit
}

// BatchProblem is what a validation finds wrong.
type BatchProblem struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Code    string `json:"code"`
	Message string `json:"message"`
}

// BatchEdit changes the lines of a batch's output and error file.
type BatchEdit func(output, errors []string) (newOutput, newErrors []string)

// Fail queues faults for the next requests of a step, one each. What a step
// does is then left undone. A nil is a request that goes well.
func (b *Batches) Fail(step BatchStep, faults ...Fault) { b.queue(&b.before, step, faults) }

// FailAfter is Fail for requests that are carried out, and whose answer is
// lost.
func (b *Batches) FailAfter(step BatchStep, faults ...Fault) { b.queue(&b.after, step, faults) }

func (b *Batches) queue(to *map[BatchStep][]Fault, step BatchStep, faults []Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *to == nil {
		*to = map[BatchStep][]Fault{}
	}
	(*to)[step] = append((*to)[step], faults...)
}

// Steps is the number of requests of a step, faults included.
func (b *Batches) Steps(step BatchStep) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.steps[step]
}

// BatchInfo is a batch that was created.
type BatchInfo struct {
	ID, Status string
	Rows       []string // the custom ids, in the file's order
	Bytes      int      // size of the file
	Metadata   map[string]any
}

// Created lists the batches in the order of their creation.
func (b *Batches) Created() []BatchInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []BatchInfo
	for _, j := range b.batches {
		info := BatchInfo{ID: j.ID, Status: j.Status, Metadata: maps.Clone(j.Metadata)}
		if f := b.file(j.InputFileID); f != nil {
			info.Bytes = len(f.content)
		}
		for _, row := range j.rows {
			info.Rows = append(info.Rows, row.CustomID)
		}
		out = append(out, info)
	}
	return out
}

// Submitted counts for every custom id the batches that asked for an answer:
// a batch that failed its validation, and rows that ran out of time, do not
// count.
func (b *Batches) Submitted() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]int{}
	for _, j := range b.batches {
		for _, row := range j.rows[:j.asked()] {
			out[row.CustomID]++
		}
	}
	return out
}

// batchRoutes are the requests of the Batch API. Their functions are called
// with the lock, but for create, and return what is answered, or write it.
var batchRoutes = []struct {
	pattern string
	step    BatchStep
	answer  func(*Batches, *Handler, http.ResponseWriter, *Request) any
}{
	{"POST /v1/files", BatchUpload, (*Batches).upload},
	{"GET /v1/files/{id}/content", BatchContent, (*Batches).download},
	{"POST /v1/batches", BatchCreate, (*Batches).create},
	{"GET /v1/batches", BatchList, (*Batches).list},
	{"GET /v1/batches/{id}", BatchGet, (*Batches).get},
	{"POST /v1/batches/{id}/cancel", BatchCancel, (*Batches).cancel},
}

// serve answers a request below /v1/files and /v1/batches.
func (b *Batches) serve(h *Handler, w http.ResponseWriter, hr *http.Request) {
	mux := http.NewServeMux()
	for _, route := range batchRoutes {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, hr *http.Request) {
			raw, err := io.ReadAll(hr.Body)
			if err != nil {
				return
			}
			r := &Request{Request: hr, Raw: raw}
			before, after := b.faults(route.step, r)
			switch {
			case before != nil:
				before(w, r)
				return
			case !h.authorized(w, hr):
				return
			case after != nil:
				defer after(w, r)
				w = httptest.NewRecorder()
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if v := route.answer(b, h, w, r); v != nil {
				writeJSON(w, http.StatusOK, v)
			}
		})
	}
	mux.ServeHTTP(w, hr)
}

// faults counts the request and gives the faults that come before and after it.
func (b *Batches) faults(step BatchStep, r *Request) (before, after Fault) {
	b.mu.Lock()
	if b.steps == nil {
		b.steps = map[BatchStep]int{}
	}
	b.steps[step]++
	if q := b.before[step]; len(q) > 0 {
		before, b.before[step] = q[0], q[1:]
	} else if q := b.after[step]; len(q) > 0 {
		after, b.after[step] = q[0], q[1:]
	}
	b.mu.Unlock()
	if before == nil && after == nil && b.Decide != nil {
		before = b.Decide(step, r)
	}
	return before, after
}

// upload keeps the file of a form.
func (b *Batches) upload(_ *Handler, w http.ResponseWriter, r *Request) any {
	r.Body = io.NopCloser(bytes.NewReader(r.Raw))
	part, header, err := r.FormFile("file")
	var content []byte
	if err == nil {
		content, err = io.ReadAll(part)
	}
	if err != nil {
		invalid(w, http.StatusBadRequest, "the form cannot be read: "+err.Error())
		return nil
	}
	return b.keep(header.Filename, r.FormValue("purpose"), content)
}

func (b *Batches) keep(name, purpose string, content []byte) openai.File {
	f := batchFile{content: content}
	f.File = openai.File{
		ID: fmt.Sprintf("file-%d", len(b.files)+1), Object: "file", Bytes: len(content), CreatedAt: 1, FileName: name, Purpose: purpose,
	}
	b.files = append(b.files, f)
	return f.File
}

func (b *Batches) file(id string) *batchFile {
	for i := range b.files {
		if b.files[i].ID == id {
			return &b.files[i]
		}
	}
	return nil
}

func (b *Batches) download(_ *Handler, w http.ResponseWriter, r *Request) any {
	f := b.file(r.PathValue("id"))
	if f == nil {
		invalid(w, http.StatusNotFound, "there is no such file: "+r.PathValue("id"))
		return nil
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(f.content)
	return nil
}

// create answers all rows of a file.
func (b *Batches) create(h *Handler, w http.ResponseWriter, r *Request) any {
	var body openai.CreateBatchRequest
	err := json.Unmarshal(r.Raw, &body)
	f := b.file(body.InputFileID)
	if err != nil || f == nil || f.Purpose != "batch" || body.CompletionWindow != "24h" {
		invalid(w, http.StatusBadRequest, "there is no batch file "+body.InputFileID+", or the window is not 24h")
		return nil
	}
	n := len(b.batches)
	j := &batchJob{Batch: openai.Batch{
		ID: fmt.Sprintf("batch_%d", n+1), Object: "batch", Status: "validating", Endpoint: body.Endpoint, InputFileID: f.ID,
		CompletionWindow: body.CompletionWindow, CreatedAt: 1, Metadata: body.Metadata,
	}}
	var problems []BatchProblem
	j.rows, problems = b.validate(f.content, string(body.Endpoint))
	b.batches = append(b.batches, j)
	if b.Plan != nil {
		j.plan = b.Plan(n)
	}
	j.plan.Problems = append(j.plan.Problems, problems...)
	asked := j.rows[:j.asked()]

	b.mu.Unlock() // the rows may take their time
	defer b.mu.Lock()
	for i, row := range asked {
		line, good := answerRow(h, r, i, row)
		if good {
			j.answers = append(j.answers, line)
		} else {
			j.failures = append(j.failures, line)
		}
	}
	for i, row := range j.rows[len(asked):] {
		j.failures = append(j.failures, unansweredRow(len(asked)+i, row.CustomID, j.plan.Status))
	}
	return j.Batch
}

// validate reads a batch's file as strictly as a server would.
func (b *Batches) validate(content []byte, endpoint string) (rows []batchRow, problems []BatchProblem) {
	maxRows, maxBytes := cmp.Or(b.MaxRows, 50_000), cmp.Or(b.MaxBytes, 200_000_000)
	seen, model := map[string]bool{}, ""
	for line := range bytes.Lines(content) {
		var row batchRow
		var of struct {
			Model string `json:"model"`
		}
		err := errors.Join(json.Unmarshal(line, &row), json.Unmarshal(row.Body, &of))
		model = cmp.Or(model, of.Model)
		rows = append(rows, row)
		if err != nil || row.CustomID == "" || seen[row.CustomID] || row.Method != http.MethodPost || row.URL != endpoint || of.Model == "" || of.Model != model {
			problems = append(problems, BatchProblem{Line: len(rows), Code: "invalid_json_line",
				Message: "no JSON, a custom_id that is missing or there twice, another method or url, or another model"})
		}
		seen[row.CustomID] = true
	}
	if len(rows) > maxRows || len(content) > maxBytes {
		problems = append(problems, BatchProblem{Code: "file_too_large", Message: fmt.Sprintf("the file has %d rows and %d bytes", len(rows), len(content))})
	}
	return rows, problems
}

// asked is the number of rows that the model is asked for.
func (j *batchJob) asked() int {
	if len(j.plan.Problems) > 0 {
		return 0
	}
	return max(0, len(j.rows)-j.plan.Unanswered)
}

// answerRow lets the Handler answer a row, and reports whether with a 200.
func answerRow(h *Handler, r *Request, i int, row batchRow) (line string, good bool) {
	call := httptest.NewRequestWithContext(r.Context(), row.Method, "http://batch.test"+row.URL, bytes.NewReader(row.Body))
	call.Header.Set("Authorization", r.Header.Get("Authorization"))
	call.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	out := map[string]any{"id": fmt.Sprintf("batch_req_%d", i+1), "custom_id": row.CustomID, "response": nil, "error": nil}
	if (inProcess{h}).serve(rec, call) {
		out["error"] = map[string]any{"code": "server_error", "message": "The model did not answer."}
	} else {
		body := json.RawMessage(rec.Body.Bytes())
		if !json.Valid(body) {
			body, _ = json.Marshal(rec.Body.String())
		}
		out["response"] = map[string]any{"status_code": rec.Code, "request_id": fmt.Sprintf("req_%d", i+1), "body": body}
		good = rec.Code == http.StatusOK
	}
	b, _ := json.Marshal(out)
	return string(b), good
}

// unansweredRow is the line of a row for which there was no time.
func unansweredRow(i int, id, status string) string {
	b, _ := json.Marshal(map[string]any{
		"id": fmt.Sprintf("batch_req_%d", i+1), "custom_id": id, "response": nil,
		"error": map[string]any{"code": "batch_" + status, "message": "This request was not executed before the batch ended."},
	})
	return string(b)
}

// job finds the batch that a request names, and writes that there is none.
func (b *Batches) job(w http.ResponseWriter, r *Request) *batchJob {
	id := r.PathValue("id")
	for _, j := range b.batches {
		if j.ID == id {
			return j
		}
	}
	invalid(w, http.StatusNotFound, "there is no such batch: "+id)
	return nil
}

func (b *Batches) get(_ *Handler, w http.ResponseWriter, r *Request) any {
	j := b.job(w, r)
	if j == nil {
		return nil
	}
	if j.gets++; !j.ended {
		j.Status = "in_progress"
		if j.gets > j.plan.Gets {
			b.end(j)
		}
	}
	return j.Batch
}

func (b *Batches) cancel(_ *Handler, w http.ResponseWriter, r *Request) any {
	j := b.job(w, r)
	if j == nil {
		return nil
	}
	if !j.ended {
		j.plan.Status = "cancelled"
		b.end(j)
	}
	return j.Batch
}

// end writes a batch's files.
func (b *Batches) end(j *batchJob) {
	j.ended = true
	if len(j.plan.Problems) > 0 {
		j.Status = "failed"
		problems, _ := json.Marshal(map[string]any{"object": "list", "data": j.plan.Problems})
		_ = json.Unmarshal(problems, &j.Errors)
		return
	}
	j.Status = cmp.Or(j.plan.Status, "completed")
	j.RequestCounts = openai.BatchRequestCounts{Total: len(j.rows), Completed: len(j.answers), Failed: len(j.failures)}
	answers, failures := j.answers, j.failures
	for _, edit := range j.plan.Edits {
		answers, failures = edit(answers, failures)
	}
	write := func(name string, lines []string) *string {
		if len(lines) == 0 {
			return nil
		}
		f := b.keep(j.ID+name, "batch_output", []byte(strings.Join(lines, "\n")+"\n"))
		return &f.ID
	}
	j.OutputFileID, j.ErrorFileID = write("_output.jsonl", answers), write("_error.jsonl", failures)
}

func (b *Batches) list(_ *Handler, _ http.ResponseWriter, r *Request) any {
	q := r.URL.Query()
	size := cmp.Or(b.PageSize, 20)
	if n, err := strconv.Atoi(q.Get("limit")); err == nil {
		size = min(size, n)
	}
	newest := slices.Clone(b.batches)
	slices.Reverse(newest)
	if after := q.Get("after"); after != "" {
		newest = newest[slices.IndexFunc(newest, func(j *batchJob) bool { return j.ID == after })+1:]
	}
	data := []any{}
	for _, j := range newest[:min(size, len(newest))] {
		data = append(data, j.Batch)
	}
	return map[string]any{"object": "list", "data": data, "has_more": len(newest) > size}
}
