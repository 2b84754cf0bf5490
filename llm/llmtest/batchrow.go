package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

func (b *Batches) create(h *Handler, w http.ResponseWriter, r *Request) {
	var body struct {
		Input    string         `json:"input_file_id"`
		Endpoint string         `json:"endpoint"`
		Window   string         `json:"completion_window"`
		Metadata map[string]any `json:"metadata"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "", "the body cannot be read: "+err.Error())
		return
	}
	b.mu.Lock()
	f, ok := b.file(body.Input)
	b.mu.Unlock()
	switch {
	case !ok || f.purpose != "batch":
		writeError(w, http.StatusBadRequest, "invalid_request_error", "", "there is no batch file "+body.Input)
		return
	case body.Window != "24h":
		writeError(w, http.StatusBadRequest, "invalid_request_error", "", "completion_window must be 24h")
		return
	case body.Endpoint != "/v1/chat/completions" && body.Endpoint != "/v1/completions":
		writeError(w, http.StatusBadRequest, "invalid_request_error", "", "unknown endpoint "+body.Endpoint)
		return
	}
	j := &batchJob{endpoint: body.Endpoint, window: body.Window, input: f.id, metadata: body.Metadata}
	rows, problems := b.validate(f.content, body.Endpoint)
	b.mu.Lock()
	n := len(b.batches)
	j.id = fmt.Sprintf("batch_%d", n+1)
	j.rows = rows
	b.batches = append(b.batches, j)
	if b.Plan != nil {
		j.plan = b.Plan(n)
	}
	j.plan.Problems = append(j.plan.Problems, problems...)
	asked := rows[:j.asked()]
	b.mu.Unlock()

	var answers, failures []string
	for i, row := range asked {
		line, good := answerRow(h, r, i, row)
		if good {
			answers = append(answers, line)
		} else {
			failures = append(failures, line)
		}
	}
	for i, row := range rows[len(asked):] {
		failures = append(failures, unansweredRow(len(asked)+i, row.CustomID, j.plan.Status))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	j.answers, j.failures = answers, failures
	writeJSON(w, http.StatusOK, j.shown())
}

// validate reads a batch's file as strictly as a server would.
func (b *Batches) validate(content []byte, endpoint string) (rows []batchRow, problems []BatchProblem) {
	maxRows, maxBytes := b.MaxRows, b.MaxBytes
	if maxRows == 0 {
		maxRows = 50_000
	}
	if maxBytes == 0 {
		maxBytes = 200_000_000
	}
	if len(content) > maxBytes {
		problems = append(problems, BatchProblem{Code: "file_too_large", Message: fmt.Sprintf("the file has %d bytes, the limit is %d", len(content), maxBytes)})
	}
	seen, model := map[string]bool{}, ""
	for i, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		var row batchRow
		var of struct {
			Model string `json:"model"`
		}
		problem := ""
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			problem = "the line is not valid JSON"
		} else if err := json.Unmarshal(row.Body, &of); err != nil {
			problem = "the body is not valid JSON"
		}
		if model == "" {
			model = of.Model
		}
		switch {
		case problem != "":
		case row.CustomID == "" || seen[row.CustomID]:
			problem = "custom_id is missing or there twice: " + strconv.Quote(row.CustomID)
		case row.Method != http.MethodPost || row.URL != endpoint:
			problem = "method and url must be POST and the batch's endpoint"
		case of.Model == "" || of.Model != model:
			problem = "all rows must have one model"
		}
		if problem != "" {
			problems = append(problems, BatchProblem{Line: i + 1, Code: "invalid_json_line", Message: problem})
		}
		seen[row.CustomID] = true
		rows = append(rows, row)
	}
	if len(rows) > maxRows {
		problems = append(problems, BatchProblem{Code: "too_many_tasks", Message: fmt.Sprintf("the file has %d rows, the limit is %d", len(rows), maxRows)})
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
