package llmtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// BatchStep is a kind of request to the Batch API: its method and path.
type BatchStep string

// The steps.
const (
	BatchUpload  BatchStep = "POST /v1/files"
	BatchContent BatchStep = "GET /v1/files/{id}/content"
	BatchCreate  BatchStep = "POST /v1/batches"
	BatchGet     BatchStep = "GET /v1/batches/{id}"
	BatchList    BatchStep = "GET /v1/batches"
)

// Batches is the Batch API of a Handler. When a batch is created, the Handler answers its rows
// as if they were calls: its faults apply, and answers other than 200 go to the error file. The
// fields must be set before the first request.
type Batches struct {
	// Plan decides what happens to batch n, counted from 0; nil means that all succeed.
	Plan func(n int) BatchPlan
	// PageSize is the number of batches on a page of the list; 0 means 20.
	PageSize int

	mu      sync.Mutex
	files   [][]byte
	batches []*BatchInfo
	faults  map[BatchStep][]Fault
	steps   map[BatchStep]int
}

// BatchInfo is a created batch. Its state advances whenever a client asks for it.
type BatchInfo struct {
	openai.Batch
	Rows  []string // the custom ids, in the file's order
	Bytes int      // size of its file

	plan              BatchPlan
	gets              int
	answers, failures []string
}

// BatchPlan says what happens to a batch. With the zero plan it succeeds, and has ended when a
// client first asks for it.
type BatchPlan struct {
	Gets     int            // number of requests for it before it has ended
	Problems []BatchProblem // make the validation fail, so that no row is answered
	Running  string         // status before; "" means "in_progress"
	Status   string         // final status, "expired" or "cancelled"; "" means "completed"
	// Unanswered is the number of rows at the end of the batch that were not processed; the
	// error file says so.
	Unanswered int
	// Output and Errors, if not nil, change the lines of the files. A file without lines
	// does not exist.
	Output, Errors func(lines []string) []string
}

// BatchProblem is an error that validation finds.
type BatchProblem struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Fail queues faults for the next requests of a step, one each. The requests are not carried
// out.
func (b *Batches) Fail(step BatchStep, faults ...Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.faults == nil {
		b.faults = map[BatchStep][]Fault{}
	}
	b.faults[step] = append(b.faults[step], faults...)
}

// FailAfter is like Fail, but the requests are carried out and only their answers are lost.
func (b *Batches) FailAfter(step BatchStep, faults ...Fault) {
	for _, fault := range faults {
		b.Fail(step, func(w http.ResponseWriter, r *Request) {
			b.carryOut(step, httptest.NewRecorder(), r)
			fault(w, r)
		})
	}
}

// Mend removes all queued faults.
func (b *Batches) Mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
}

// Steps returns the number of requests of a step, faults included.
func (b *Batches) Steps(step BatchStep) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.steps[step]
}

// Created returns the batches in the order of their creation.
func (b *Batches) Created() []*BatchInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.batches)
}

// Submitted returns, for every custom id, the number of batches in which the model was asked:
// a batch that failed its validation, and rows that ran out of time, do not count.
func (b *Batches) Submitted() map[string]int {
	out := map[string]int{}
	for _, j := range b.Created() {
		for _, id := range j.Rows[:j.asked()] {
			out[id]++
		}
	}
	return out
}

// asked returns the number of rows that the model is asked for.
func (b *BatchInfo) asked() int {
	if len(b.plan.Problems) > 0 {
		return 0
	}
	return max(0, len(b.Rows)-b.plan.Unanswered)
}

// serve answers requests below /v1/files and /v1/batches.
func (b *Batches) serve(h *Handler, w http.ResponseWriter, hr *http.Request) {
	mux := http.NewServeMux()
	for _, step := range []BatchStep{BatchUpload, BatchContent, BatchCreate, BatchGet, BatchList} {
		mux.HandleFunc(string(step), func(w http.ResponseWriter, hr *http.Request) {
			raw, err := io.ReadAll(hr.Body)
			if err != nil {
				return
			}
			r := &Request{Request: hr, Raw: raw, handler: h}
			if fault := b.take(step); fault != nil {
				fault(w, r)
				return
			}
			b.carryOut(step, w, r)
		})
	}
	mux.ServeHTTP(w, hr)
}

// carryOut answers a request, with 404 if there is no such object.
func (b *Batches) carryOut(step BatchStep, w http.ResponseWriter, r *Request) {
	if !r.handler.authorized(w, r.Request) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var answer any
	switch step {
	case BatchUpload:
		answer = b.upload(r)
	case BatchContent:
		answer = b.file(r.PathValue("id"))
	case BatchCreate:
		answer = b.create(r)
	case BatchGet:
		answer = b.get(r)
	case BatchList:
		answer = b.list(r)
	}
	switch v := answer.(type) {
	case nil:
		invalid(w, http.StatusNotFound, "there is no such file or batch")
	case []byte:
		_, _ = w.Write(v)
	default:
		writeJSON(w, http.StatusOK, v)
	}
}

// take counts the request and returns its fault.
func (b *Batches) take(step BatchStep) (fault Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.steps == nil {
		b.steps = map[BatchStep]int{}
	}
	b.steps[step]++
	if q := b.faults[step]; len(q) > 0 {
		fault, b.faults[step] = q[0], q[1:]
	}
	return fault
}

// upload stores the file in a form.
func (b *Batches) upload(r *Request) any {
	r.Body = io.NopCloser(bytes.NewReader(r.Raw))
	part, _, err := r.FormFile("file")
	if err != nil || r.FormValue("purpose") != "batch" {
		return nil
	}
	content, _ := io.ReadAll(part) // reads from memory and cannot fail
	return openai.File{ID: *b.keep(content), Bytes: len(content)}
}

// keep stores a file and returns its id.
func (b *Batches) keep(content []byte) *string {
	b.files = append(b.files, content)
	id := fmt.Sprintf("file-%d", len(b.files))
	return &id
}

// file returns the content of a file, or nil.
func (b *Batches) file(id string) any {
	n := 0
	if _, err := fmt.Sscanf(id, "file-%d", &n); err != nil || n < 1 || n > len(b.files) {
		return nil
	}
	return b.files[n-1]
}

// create answers all rows of a file.
func (b *Batches) create(r *Request) any {
	var body openai.CreateBatchRequest
	_ = json.Unmarshal(r.Raw, &body)
	content, _ := b.file(body.InputFileID).([]byte)
	if content == nil || body.CompletionWindow != "24h" {
		return nil
	}
	j := &BatchInfo{Bytes: len(content), Batch: openai.Batch{
		ID: fmt.Sprintf("batch_%d", len(b.batches)+1), Status: "validating", InputFileID: body.InputFileID, Metadata: body.Metadata,
	}}
	if b.Plan != nil {
		j.plan = b.Plan(len(b.batches))
	}
	type line struct {
		CustomID string          `json:"custom_id"`
		Method   string          `json:"method"`
		URL      string          `json:"url"`
		Body     json.RawMessage `json:"body"`
	}
	var rows []line
	for text := range bytes.Lines(content) {
		var row line
		if json.Unmarshal(text, &row) != nil || row.CustomID == "" || slices.Contains(j.Rows, row.CustomID) || row.URL != string(body.Endpoint) {
			j.plan.Problems = append(j.plan.Problems, BatchProblem{Line: len(rows) + 1, Code: "invalid_json_line",
				Message: "no JSON, a custom_id that is missing or there twice, or another url"})
		}
		rows, j.Rows = append(rows, row), append(j.Rows, row.CustomID)
	}
	b.batches = append(b.batches, j)

	b.mu.Unlock() // answering the rows may take long
	defer b.mu.Lock()
	for i, row := range rows {
		if i >= j.asked() {
			j.failures = append(j.failures, batchLine(row.CustomID, nil, "batch_"+j.plan.Status))
			continue
		}
		call := httptest.NewRequestWithContext(r.Context(), row.Method, "http://batch.test"+row.URL, bytes.NewReader(row.Body))
		call.Header = http.Header{"Authorization": r.Header["Authorization"]}
		rec := httptest.NewRecorder()
		switch aborted := (inProcess{r.handler}).serve(rec, call); {
		case aborted:
			j.failures = append(j.failures, batchLine(row.CustomID, nil, "server_error"))
		case rec.Code == http.StatusOK:
			j.answers = append(j.answers, batchLine(row.CustomID, rec, ""))
		default:
			j.failures = append(j.failures, batchLine(row.CustomID, rec, ""))
		}
	}
	return j.Batch
}

// batchLine returns the line of a row, with or without an answer.
func batchLine(id string, rec *httptest.ResponseRecorder, code string) string {
	out := map[string]any{"custom_id": id, "response": nil, "error": nil}
	if rec == nil {
		out["error"] = map[string]any{"code": code, "message": "This request was not answered."}
	} else {
		body := json.RawMessage(rec.Body.Bytes())
		if !json.Valid(body) {
			body, _ = json.Marshal(rec.Body.String())
		}
		out["response"] = map[string]any{"status_code": rec.Code, "body": body}
	}
	b, _ := json.Marshal(out)
	return string(b)
}

func (b *Batches) get(r *Request) any {
	i := slices.IndexFunc(b.batches, func(j *BatchInfo) bool { return j.ID == r.PathValue("id") })
	if i < 0 {
		return nil
	}
	j := b.batches[i]
	switch j.gets++; {
	case j.gets <= j.plan.Gets:
		j.Status = cmp.Or(j.plan.Running, "in_progress")
	case j.gets == j.plan.Gets+1 && len(j.plan.Problems) > 0:
		j.Status = "failed"
		problems, _ := json.Marshal(map[string]any{"data": j.plan.Problems})
		_ = json.Unmarshal(problems, &j.Errors)
	case j.gets == j.plan.Gets+1:
		j.Status = cmp.Or(j.plan.Status, "completed")
		j.OutputFileID, j.ErrorFileID = b.write(j.answers, j.plan.Output), b.write(j.failures, j.plan.Errors)
		if j.OutputFileID != nil {
			j.RequestCounts.Completed = len(j.answers)
		}
	}
	return j.Batch
}

// write stores lines as a file, if there are any.
func (b *Batches) write(lines []string, edit func([]string) []string) *string {
	if edit != nil {
		lines = edit(lines)
	}
	if len(lines) == 0 {
		return nil
	}
	return b.keep([]byte(strings.Join(lines, "\n") + "\n"))
}

// list lists the newest batches first.
func (b *Batches) list(r *Request) any {
	newest := slices.Clone(b.batches)
	slices.Reverse(newest)
	if after := r.URL.Query().Get("after"); after != "" {
		newest = newest[slices.IndexFunc(newest, func(j *BatchInfo) bool { return j.ID == after })+1:]
	}
	data, size := []any{}, cmp.Or(b.PageSize, 20)
	for _, j := range newest[:min(size, len(newest))] {
		data = append(data, j.Batch)
	}
	return map[string]any{"object": "list", "data": data, "has_more": len(newest) > size}
}
