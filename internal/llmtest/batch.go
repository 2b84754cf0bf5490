package llmtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	openai "github.com/sashabaranov/go-openai"
)

// BatchStep is a request to the Batch API: its method and path.
type BatchStep string

// The steps.
const (
	BatchUpload  BatchStep = "POST /v1/files"
	BatchContent BatchStep = "GET /v1/files/{id}/content"
	BatchCreate  BatchStep = "POST /v1/batches"
	BatchGet     BatchStep = "GET /v1/batches/{id}"
	BatchList    BatchStep = "GET /v1/batches"
)

// Batches is the Batch API of a Handler. The Handler answers the rows as if they
// were calls, when the batch is created: its faults hold for them, and an answer
// other than a 200 goes to the error file. Its fields are set before the first
// request.
type Batches struct {
	// Plan gives the fate of a batch, n counting them from 0; nil means that
	// all end well.
	Plan func(n int) BatchPlan
	// PageSize bounds a page of the list; 0 means 20.
	PageSize int
	// MaxRows and MaxBytes are the limits of a batch's file; 0 for none.
	MaxRows, MaxBytes int

	mu            sync.Mutex
	files         [][]byte
	batches       []*batchJob
	before, after map[BatchStep][]Fault
	steps         map[BatchStep]int
}

// batchJob is a batch as it is shown, which changes when it is asked for.
type batchJob struct {
	openai.Batch
	rows              []string // custom ids
	plan              BatchPlan
	gets              int
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
	Gets     int            // how often it is asked for before it has ended
	Problems []BatchProblem // make the validation fail; no row is answered then
	Status   string         // the last one, "expired" or "cancelled"; "" means "completed"
	// Unanswered is how many rows, counted from the last, were not asked for
	// when the batch ended; the error file says so.
	Unanswered int
	// Output and Errors change the lines of the files, if they are not nil. A file
	// without lines is not there.
	Output, Errors func(lines []string) []string
}

// BatchProblem is what a validation finds wrong.
type BatchProblem struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole file
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Fail queues faults for the next requests of a step, one each. What a step
// does is then left undone. A nil is a request that goes well.
func (b *Batches) Fail(step BatchStep, faults ...Fault) { b.queue(&b.before, step, faults) }

// FailAfter is Fail for requests that are carried out, and whose answer is
// lost.
func (b *Batches) FailAfter(step BatchStep, faults ...Fault) { b.queue(&b.after, step, faults) }

// Mend takes all faults away.
func (b *Batches) Mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.after = nil, nil
}

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
	Status string
	Rows   []string // the custom ids, in the file's order
}

// Created lists the batches in the order of their creation.
func (b *Batches) Created() (out []BatchInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.batches {
		out = append(out, BatchInfo{j.Status, j.rows})
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
		for _, id := range j.rows[:j.asked()] {
			out[id]++
		}
	}
	return out
}

// asked is the number of rows that the model is asked for.
func (j *batchJob) asked() int {
	if len(j.plan.Problems) > 0 {
		return 0
	}
	return max(0, len(j.rows)-j.plan.Unanswered)
}

// serve answers a request below /v1/files and /v1/batches. The functions are called
// with the lock, and return what is answered, or write it.
func (b *Batches) serve(h *Handler, w http.ResponseWriter, hr *http.Request) {
	mux := http.NewServeMux()
	for step, answer := range map[BatchStep]func(http.ResponseWriter, *Request) any{
		BatchUpload: b.upload, BatchContent: b.download, BatchGet: b.get, BatchList: b.list,
		BatchCreate: func(w http.ResponseWriter, r *Request) any { return b.create(h, w, r) },
	} {
		mux.HandleFunc(string(step), func(w http.ResponseWriter, hr *http.Request) {
			raw, err := io.ReadAll(hr.Body)
			if err != nil {
				return
			}
			r := &Request{Request: hr, Raw: raw}
			switch before, after := b.faults(step); {
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
			if v := answer(w, r); v != nil {
				writeJSON(w, http.StatusOK, v)
			}
		})
	}
	mux.ServeHTTP(w, hr)
}

// faults counts the request and gives the faults that come before and after it.
func (b *Batches) faults(step BatchStep) (before, after Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.steps == nil {
		b.steps = map[BatchStep]int{}
	}
	b.steps[step]++
	if q := b.before[step]; len(q) > 0 {
		before, b.before[step] = q[0], q[1:]
	} else if q := b.after[step]; len(q) > 0 {
		after, b.after[step] = q[0], q[1:]
	}
	return before, after
}

// upload keeps the file of a form.
func (b *Batches) upload(w http.ResponseWriter, r *Request) any {
	r.Body = io.NopCloser(bytes.NewReader(r.Raw))
	part, _, err := r.FormFile("file")
	var content []byte
	if err == nil {
		content, err = io.ReadAll(part)
	}
	if err != nil || r.FormValue("purpose") != "batch" {
		invalid(w, http.StatusBadRequest, fmt.Sprint("no form of a batch's file: ", err))
		return nil
	}
	return openai.File{ID: *b.keep(content), Bytes: len(content)}
}

// keep keeps a file, and returns its id.
func (b *Batches) keep(content []byte) *string {
	b.files = append(b.files, content)
	id := fmt.Sprintf("file-%d", len(b.files))
	return &id
}

// file is a file, or nil.
func (b *Batches) file(id string) []byte {
	n := 0
	if _, err := fmt.Sscanf(id, "file-%d", &n); err != nil || n < 1 || n > len(b.files) {
		return nil
	}
	return b.files[n-1]
}

func (b *Batches) download(w http.ResponseWriter, r *Request) any {
	content := b.file(r.PathValue("id"))
	if content == nil {
		invalid(w, http.StatusNotFound, "there is no such file: "+r.PathValue("id"))
		return nil
	}
	_, _ = w.Write(content)
	return nil
}

// create answers all rows of a file.
func (b *Batches) create(h *Handler, w http.ResponseWriter, r *Request) any {
	var body openai.CreateBatchRequest
	err := json.Unmarshal(r.Raw, &body)
	content := b.file(body.InputFileID)
	if err != nil || content == nil || body.CompletionWindow != "24h" {
		invalid(w, http.StatusBadRequest, "there is no batch file "+body.InputFileID+", or the window is not 24h")
		return nil
	}
	j := &batchJob{Batch: openai.Batch{
		ID: fmt.Sprintf("batch_%d", len(b.batches)+1), Status: "validating", InputFileID: body.InputFileID, Metadata: body.Metadata,
	}}
	if b.Plan != nil {
		j.plan = b.Plan(len(b.batches))
	}
	rows := b.validate(content, string(body.Endpoint), j)
	b.batches = append(b.batches, j)

	b.mu.Unlock() // the rows may take their time
	defer b.mu.Lock()
	for i, row := range rows {
		if i >= j.asked() {
			j.failures = append(j.failures, batchLine(row.CustomID, nil, "batch_"+j.plan.Status))
			continue
		}
		call := httptest.NewRequestWithContext(r.Context(), row.Method, "http://batch.test"+row.URL, bytes.NewReader(row.Body))
		call.Header = http.Header{"Authorization": r.Header["Authorization"]}
		rec := httptest.NewRecorder()
		switch aborted := (inProcess{h}).serve(rec, call); {
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

// batchLine is the line of a row with an answer, or without one.
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

// validate reads a batch's file as strictly as a server would.
func (b *Batches) validate(content []byte, endpoint string, j *batchJob) (rows []batchRow) {
	model := ""
	for line := range bytes.Lines(content) {
		var row batchRow
		var of struct{ Model string }
		err := errors.Join(json.Unmarshal(line, &row), json.Unmarshal(row.Body, &of))
		model = cmp.Or(model, of.Model)
		if err != nil || row.CustomID == "" || slices.Contains(j.rows, row.CustomID) || row.Method != http.MethodPost || row.URL != endpoint || of.Model == "" || of.Model != model {
			j.plan.Problems = append(j.plan.Problems, BatchProblem{Line: len(rows) + 1, Code: "invalid_json_line",
				Message: "no JSON, a custom_id that is missing or there twice, another method or url, or another model"})
		}
		rows, j.rows = append(rows, row), append(j.rows, row.CustomID)
	}
	if b.MaxRows > 0 && len(rows) > b.MaxRows || b.MaxBytes > 0 && len(content) > b.MaxBytes {
		j.plan.Problems = append(j.plan.Problems, BatchProblem{Code: "file_too_large", Message: fmt.Sprintf("the file has %d rows and %d bytes", len(rows), len(content))})
	}
	return rows
}

func (b *Batches) get(w http.ResponseWriter, r *Request) any {
	i := slices.IndexFunc(b.batches, func(j *batchJob) bool { return j.ID == r.PathValue("id") })
	if i < 0 {
		invalid(w, http.StatusNotFound, "there is no such batch: "+r.PathValue("id"))
		return nil
	}
	j := b.batches[i]
	switch j.gets++; {
	case j.gets <= j.plan.Gets:
		j.Status = "in_progress"
	case j.gets == j.plan.Gets+1:
		b.end(j)
	}
	return j.Batch
}

// end writes a batch's files.
func (b *Batches) end(j *batchJob) {
	if len(j.plan.Problems) > 0 {
		j.Status = "failed"
		problems, _ := json.Marshal(map[string]any{"data": j.plan.Problems})
		_ = json.Unmarshal(problems, &j.Errors)
		return
	}
	j.Status = cmp.Or(j.plan.Status, "completed")
	write := func(lines []string, edit func([]string) []string) *string {
		if edit != nil {
			lines = edit(lines)
		}
		if len(lines) == 0 {
			return nil
		}
		return b.keep([]byte(strings.Join(lines, "\n") + "\n"))
	}
	j.OutputFileID, j.ErrorFileID = write(j.answers, j.plan.Output), write(j.failures, j.plan.Errors)
}

// list lists the newest batches first.
func (b *Batches) list(_ http.ResponseWriter, r *Request) any {
	newest := slices.Clone(b.batches)
	slices.Reverse(newest)
	if after := r.URL.Query().Get("after"); after != "" {
		newest = newest[slices.IndexFunc(newest, func(j *batchJob) bool { return j.ID == after })+1:]
	}
	data, size := []any{}, cmp.Or(b.PageSize, 20)
	for _, j := range newest[:min(size, len(newest))] {
		data = append(data, j.Batch)
	}
	return map[string]any{"object": "list", "data": data, "has_more": len(newest) > size}
}
