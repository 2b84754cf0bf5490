package llmtest

import (
	"net/http"
	"slices"
)

// Model is an entry of the list of models.
type Model struct {
	Name   string
	MaxLen int // max_model_len, left out where it is 0
}

// SetHealth sets the status of GET /health, which is 200 at first; a server
// without that address has 404.
func (h *Handler) SetHealth(status int) { h.health.Store(int32(status)) }

// Probes is the number of requests for health and for models.
func (h *Handler) Probes() int { return int(h.asked.Load()) }

func (h *Handler) serveHealth(w http.ResponseWriter) {
	h.asked.Add(1)
	status := int(h.health.Load())
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
}

func (h *Handler) serveModels(w http.ResponseWriter, r *http.Request) {
	h.asked.Add(1)
	if h.Key != "" && r.Header.Get("Authorization") != "Bearer "+h.Key {
		writeError(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "no valid key was given")
		return
	}
	data := []map[string]any{}
	for _, m := range h.Models {
		entry := map[string]any{"id": m.Name, "object": "model", "created": 1, "owned_by": "test"}
		if m.MaxLen > 0 {
			entry["max_model_len"] = m.MaxLen
		}
		data = append(data, entry)
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func (h *Handler) serves(model string) bool {
	return len(h.Models) == 0 || slices.ContainsFunc(h.Models, func(m Model) bool { return m.Name == model })
}
