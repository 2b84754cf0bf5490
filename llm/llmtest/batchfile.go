package llmtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

func (b *Batches) upload(w http.ResponseWriter, r *Request) {
	again := r.Request.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(r.Raw))
	part, header, err := again.FormFile("file")
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "", "the form cannot be read: "+err.Error())
		return
	}
	content, err := io.ReadAll(part)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "", "the file cannot be read: "+err.Error())
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	f := batchFile{name: header.Filename, purpose: again.FormValue("purpose"), content: content}
	f.id = b.keep(f)
	writeJSON(w, http.StatusOK, f.shown())
}

// keep stores a file and gives it an id; mu is held.
func (b *Batches) keep(f batchFile) string {
	f.id = fmt.Sprintf("file-%d", len(b.files)+1)
	b.files = append(b.files, f)
	return f.id
}

func (b *Batches) file(id string) (batchFile, bool) {
	for _, f := range b.files {
		if f.id == id {
			return f, true
		}
	}
	return batchFile{}, false
}

func (f batchFile) shown() map[string]any {
	return map[string]any{
		"id": f.id, "object": "file", "bytes": len(f.content), "created_at": 1, "filename": f.name, "purpose": f.purpose,
	}
}

func (b *Batches) listFiles(w http.ResponseWriter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data := []any{}
	for _, f := range b.files {
		data = append(data, f.shown())
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data, "has_more": false})
}

func (b *Batches) content(w http.ResponseWriter, id string) {
	b.mu.Lock()
	f, ok := b.file(id)
	b.mu.Unlock()
	if !ok {
		writeError(w, http.StatusNotFound, "invalid_request_error", "", "there is no such file: "+id)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(f.content)
}
