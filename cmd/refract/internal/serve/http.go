package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // the description of the interface
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/refract-eval/refract/internal/jsonline"
)

//go:embed openapi.json
var openAPI []byte

// Web holds the settings of a server over HTTP.
type Web struct {
	Token string // must be in every request
	Hosts func(name string) bool
}

// Time limits for clients, and for answering once the server is ending.
const (
	headerTime = 10 * time.Second
	bodyTime   = time.Minute      // for sending the body, and again for reading the answer, at most
	idleTime   = 10 * time.Second // of a connection between requests
	lastWord   = 2 * time.Second
)

// ServeHTTP answers requests over HTTP until the context ends; then it cancels unanswered
// requests and returns the context's error.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, w Web) error {
	srv := &http.Server{
		Handler:           s.handler(w),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: 1 << 16,
		ConnState: new(crowd).watch,
	}
	return Until(ctx, srv, l, lastWord)
}

// Until serves until the context ends and returns the context's error. Answers in progress
// have the time last to finish and are cut off after it.
func Until(ctx context.Context, srv *http.Server, l net.Listener, last time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), last)
	defer cancel()
	if srv.Shutdown(end) != nil {
		srv.Close()
	}
	return ctx.Err()
}

func (s *Server) handler(w Web) http.Handler {
	mux := http.NewServeMux()
	for _, name := range s.Names {
		verb := http.MethodPost
		if name == "metrics" {
			verb = http.MethodGet
		}
		mux.HandleFunc(verb+" /v1/"+name, func(rw http.ResponseWriter, r *http.Request) {
			s.call(rw, r, s.Methods[name])
		})
	}
	fixed := func(body []byte) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) { reply(rw, http.StatusOK, body) }
	}
	mux.HandleFunc("GET /healthz", fixed([]byte(`{"status":"ok"}`)))
	mux.HandleFunc("GET /openapi.json", fixed(openAPI))
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		reply(rw, http.StatusNotFound, wrong(codeUsage, "there is nothing here, or not by this method: /openapi.json says what there is"))
	})
	want := sha256.Sum256([]byte(w.Token))
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		refuse := func(status int, message string) { reply(rw, status, wrong(codeUsage, message)) }
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimLeft(token, " ")))
		bears := strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
		switch {
		case !w.Hosts(strings.Trim(hostOf(r.Host), "[]")):
			refuse(http.StatusMisdirectedRequest, "the Host of the request is not this server's")
		case r.Header.Get("Origin") != "":
			refuse(http.StatusForbidden, "requests of web pages, which have an Origin, are not answered")
		case !bears && r.URL.Path != "/healthz":
			rw.Header().Set("WWW-Authenticate", "Bearer")
			refuse(http.StatusUnauthorized, "the request needs the token of the server: Authorization: Bearer TOKEN")
		case !plain(r.Header["Content-Encoding"]):
			refuse(http.StatusUnsupportedMediaType, "the body of the request is compressed: send it without a Content-Encoding")
		case !s.busy.TryAcquire(1):
			rw.Header().Set("Retry-After", "1")
			reply(rw, http.StatusServiceUnavailable, wrong(codeFailed, "the server has too many requests: try again"))
		default:
			defer s.busy.Release(1)
			mux.ServeHTTP(rw, r)
		}
	})
}

// plain reports whether these encodings leave a body uncompressed.
func plain(encodings []string) bool {
	return !slices.ContainsFunc(encodings, func(e string) bool { return e != "" && !strings.EqualFold(e, "identity") })
}

// wrong returns the body of an error.
func wrong(code, message string) []byte {
	return append(appendError([]byte(`{"error":`), code, message), '}')
}

// call runs a method with the request's body as parameters, and writes the reply.
func (s *Server) call(rw http.ResponseWriter, r *http.Request, m Method) {
	ctx := r.Context()
	body, release, err := s.receive(rw, r)
	defer release()
	if err == nil {
		select {
		case s.web <- struct{}{}:
			defer func() { <-s.web }()
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	var result []byte
	if err == nil {
		inner, release := s.withRoom(ctx)
		defer release()
		result, err = m(inner, body)
	}
	status := http.StatusOK
	if err != nil {
		code, message := s.fault(ctx, err)
		status = map[string]int{codeUsage: http.StatusBadRequest, codeCancelled: http.StatusServiceUnavailable, codeFailed: http.StatusInternalServerError}[code]
		switch {
		case errors.Is(err, error(errLong)):
			status = http.StatusRequestEntityTooLarge
		case errors.Is(err, os.ErrDeadlineExceeded): // checked first, because it also ends the context
			status, code, message = http.StatusRequestTimeout, codeUsage, fmt.Sprintf("the request stalled: %d KiB a second must arrive, %d of more than %d MiB, all within %v", smallPace>>10, largePace>>10, smallBody>>20, bodyTime)
		}
		result = wrong(code, message)
	}
	reply(rw, status, result)
}

func reply(rw http.ResponseWriter, status int, body []byte) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	pace := beginTime + time.Duration(len(body))*time.Second/largePace
	http.NewResponseController(rw).SetWriteDeadline(time.Now().Add(min(pace, bodyTime)))
	rw.WriteHeader(status)
	rw.Write(jsonline.Escape(body)) // if this fails, the client is gone and cannot be told
}
