package llmtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
)

// Server is a Handler that listens on a local port.
type Server struct {
	*Handler
	// BaseURL is the address for clients; it ends in /v1.
	BaseURL string
}

// NewServer starts a server for h and stops it when the test ends; tb is a *testing.T, B or
// F. If h is nil, it uses a new Handler.
func NewServer(tb interface{ Cleanup(func()) }, h *Handler) *Server {
	if h == nil {
		h = &Handler{}
	}
	srv := httptest.NewServer(h)
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return &Server{Handler: h, BaseURL: srv.URL + "/v1"}
}

// Transport serves requests in the caller's goroutine, without a network: h answers requests to
// any host. Hang ends with the request's context; Reset gives ECONNRESET, and Truncated an
// unexpected EOF.
func (h *Handler) Transport() http.RoundTripper { return inProcess{h} }

type inProcess struct{ h http.Handler }

func (i inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil { // requests on a server always have a body
		req = req.Clone(req.Context())
		req.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	aborted := i.serve(rec, req)
	_ = req.Body.Close()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if aborted && rec.Body.Len() == 0 {
		return nil, syscall.ECONNRESET
	}
	resp := rec.Result()
	resp.Request = req
	if aborted {
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, failing{}))
	}
	return resp, nil
}

// serve reports whether the handler aborted its answer.
func (i inProcess) serve(w http.ResponseWriter, req *http.Request) (aborted bool) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			aborted = true
		default:
			panic(v)
		}
	}()
	i.h.ServeHTTP(w, req.Clone(req.Context()))
	return false
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
