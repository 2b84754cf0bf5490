package llmtest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	id, name, purpose string
	content           []byte
}

type batchJob struct {
	id, endpoint, window, input string
	metadata                    map[string]any
	rows                        []batchRow
	plan                        BatchPlan
	gets                        int
	ended                       string // the last status; "" while it runs
	output, errors              string // file ids
	answers, failures           []string
}

type batchRow struct {
	CustomID string          `json:"custom_id"`
	Method   string          `json:"method"`
	URL      string          `json:"url"`
	Body     json.RawMessage `json:"body"`
}

// Fail queues faults for the next requests of a step, one each. What a step
// does is then left undone. A nil is a request that goes well.
func (b *Batches) Fail(step BatchStep, faults ...Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.before == nil {
		b.before = map[BatchStep][]Fault{}
	}
	b.before[step] = append(b.before[step], faults...)
}

// FailAfter is Fail for requests that are carried out, and whose answer is
// lost.
func (b *Batches) FailAfter(step BatchStep, faults ...Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.after == nil {
		b.after = map[BatchStep][]Fault{}
	}
	b.after[step] = append(b.after[step], faults...)
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
		info := BatchInfo{ID: j.id, Status: j.status(), Metadata: maps.Clone(j.metadata)}
		if f, ok := b.file(j.input); ok {
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

// serve answers a request below /v1/files and /v1/batches.
func (b *Batches) serve(h *Handler, w http.ResponseWriter, hr *http.Request) {
	raw, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	r := &Request{Request: hr, Raw: raw}
	step, id := batchStep(hr.Method, strings.Split(strings.Trim(strings.TrimPrefix(hr.URL.Path, "/v1"), "/"), "/"))
	before, after := b.faults(step, r)
	switch {
	case before != nil:
		before(w, r)
		return
	case h.Key != "" && hr.Header.Get("Authorization") != "Bearer "+h.Key:
		writeError(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "no valid key was given")
		return
	case after != nil:
		defer after(w, r)
		w = httptest.NewRecorder()
	}
	switch step {
	case BatchUpload:
		b.upload(w, r)
	case BatchContent:
		b.content(w, id)
	case BatchCreate:
		b.create(h, w, r)
	case BatchGet:
		b.get(w, id)
	case BatchList:
		b.list(w, hr.URL.Query())
	case BatchCancel:
		b.cancel(w, id)
	case "files":
		b.listFiles(w)
	default:
		writeJSON(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	}
}

func batchStep(method string, path []string) (step BatchStep, id string) {
	if len(path) > 1 {
		id = path[1]
	}
	switch {
	case method == http.MethodPost && len(path) == 1 && path[0] == "files":
		return BatchUpload, ""
	case method == http.MethodGet && len(path) == 1 && path[0] == "files":
		return "files", ""
	case method == http.MethodGet && len(path) == 3 && path[0] == "files" && path[2] == "content":
		return BatchContent, id
	case method == http.MethodPost && len(path) == 1 && path[0] == "batches":
		return BatchCreate, ""
	case method == http.MethodGet && len(path) == 1 && path[0] == "batches":
		return BatchList, ""
	case method == http.MethodGet && len(path) == 2 && path[0] == "batches":
		return BatchGet, id
	case method == http.MethodPost && len(path) == 3 && path[0] == "batches" && path[2] == "cancel":
		return BatchCancel, id
	}
	return "", ""
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

func (b *Batches) job(id string) *batchJob {
	for _, j := range b.batches {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (b *Batches) get(w http.ResponseWriter, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.job(id)
	if j == nil {
		writeError(w, http.StatusNotFound, "invalid_request_error", "", "there is no such batch: "+id)
		return
	}
	if j.gets++; j.ended == "" && j.gets > j.plan.Gets {
		b.end(j)
	}
	writeJSON(w, http.StatusOK, j.shown())
}

// end writes a batch's files; mu is held.
func (b *Batches) end(j *batchJob) {
	if len(j.plan.Problems) > 0 {
		j.ended = "failed"
		return
	}
	j.ended = "completed"
	if j.plan.Status != "" {
		j.ended = j.plan.Status
	}
	answers, failures := j.answers, j.failures
	for _, edit := range j.plan.Edits {
		answers, failures = edit(answers, failures)
	}
	if len(answers) > 0 {
		j.output = b.keep(batchFile{name: j.id + "_output.jsonl", purpose: "batch_output", content: joinLines(answers)})
	}
	if len(failures) > 0 {
		j.errors = b.keep(batchFile{name: j.id + "_error.jsonl", purpose: "batch_output", content: joinLines(failures)})
	}
}

func joinLines(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

func (b *Batches) list(w http.ResponseWriter, q url.Values) {
	b.mu.Lock()
	defer b.mu.Unlock()
	size := b.PageSize
	if size == 0 {
		size = 20
	}
	if n, err := strconv.Atoi(q.Get("limit")); err == nil {
		size = min(size, n)
	}
	newest := slices.Clone(b.batches)
	slices.Reverse(newest)
	if after := q.Get("after"); after != "" {
		i := slices.IndexFunc(newest, func(j *batchJob) bool { return j.id == after })
		newest = newest[i+1:]
	}
	more := len(newest) > size
	newest = newest[:min(size, len(newest))]
	data := []any{}
	for _, j := range newest {
		data = append(data, j.shown())
	}
	page := map[string]any{"object": "list", "data": data, "has_more": more, "first_id": nil, "last_id": nil}
	if len(newest) > 0 {
		page["first_id"], page["last_id"] = newest[0].id, newest[len(newest)-1].id
	}
	writeJSON(w, http.StatusOK, page)
}

func (b *Batches) cancel(w http.ResponseWriter, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.job(id)
	if j == nil {
		writeError(w, http.StatusNotFound, "invalid_request_error", "", "there is no such batch: "+id)
		return
	}
	if j.ended == "" {
		j.plan.Status = "cancelled"
		b.end(j)
	}
	writeJSON(w, http.StatusOK, j.shown())
}

func (j *batchJob) status() string {
	switch {
	case j.ended != "":
		return j.ended
	case j.gets == 0:
		return "validating"
	}
	return "in_progress"
}

func (j *batchJob) shown() map[string]any {
	out := map[string]any{
		"id": j.id, "object": "batch", "endpoint": j.endpoint, "errors": nil, "input_file_id": j.input,
		"completion_window": j.window, "status": j.status(), "output_file_id": nil, "error_file_id": nil,
		"created_at": 1, "in_progress_at": nil, "expires_at": 86401, "metadata": j.metadata,
		"request_counts": map[string]int{"total": 0, "completed": 0, "failed": 0},
	}
	if j.ended == "" {
		return out
	}
	if len(j.plan.Problems) > 0 {
		out["errors"] = map[string]any{"object": "list", "data": j.plan.Problems}
		return out
	}
	if j.output != "" {
		out["output_file_id"] = j.output
	}
	if j.errors != "" {
		out["error_file_id"] = j.errors
	}
	out["request_counts"] = map[string]int{"total": len(j.rows), "completed": len(j.answers), "failed": len(j.failures)}
	return out
}
