package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // the description of the interface
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

//go:embed openapi.json
var openAPI []byte

// Web says how a server answers over HTTP.
type Web struct {
	Token string // that requests bear
	Hosts func(name string) bool
}

// The time that a client has, and what the server has to answer once it ends.
const (
	headerTime = 10 * time.Second
	bodyTime   = time.Minute      // and for the answer
	idleTime   = 10 * time.Second // of a connection between requests
	lastWord   = 2 * time.Second
)

// A body comes at a pace of leastPace bytes a second at least, after some time to begin.
const (
	beginTime = 10 * time.Second
	leastPace = 4 << 10
)

// ServeHTTP answers requests that come over HTTP until the context ends, which is the
// error then. Requests that are unanswered are cancelled.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, w Web) error {
	srv := &http.Server{
		Handler:           s.handler(w),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: 1 << 16,
		ConnState: newCrowd().watch,
	}
	return Until(ctx, srv, l, lastWord)
}

// Until serves until the context ends, which is the error then. What is being
// answered has some time to end, and is cut off after it.
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
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimLeft(token, " ")))
		bears := strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1
		switch {
		case !w.Hosts(strings.Trim(host, "[]")):
			refuse(http.StatusMisdirectedRequest, "the Host of the request is not this server's")
		case r.Header.Get("Origin") != "":
			refuse(http.StatusForbidden, "requests of web pages, which have an Origin, are not answered")
		case !bears && r.URL.Path != "/healthz":
			rw.Header().Set("WWW-Authenticate", "Bearer")
			refuse(http.StatusUnauthorized, "the request needs the token of the server: Authorization: Bearer TOKEN")
		case !plain(r.Header["Content-Encoding"]):
			refuse(http.StatusUnsupportedMediaType, "the body of the request is compressed: send it without a Content-Encoding")
		default:
			mux.ServeHTTP(rw, r)
		}
	})
}

// plain reports whether bodies of some encodings are as they are.
func plain(encodings []string) bool {
	return !slices.ContainsFunc(encodings, func(e string) bool { return e != "" && !strings.EqualFold(e, "identity") })
}

// wrong is the body that tells of an error.
func wrong(code, message string) []byte {
	return append(appendError([]byte(`{"error":`), code, message), '}')
}

// call has a method carry out a request whose body is its parameters, and replies.
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
		case errors.Is(err, os.ErrDeadlineExceeded): // by which the context has ended too
			status, code, message = http.StatusRequestTimeout, codeUsage, fmt.Sprintf("the request came slower than %d bytes a second, or took more than %v", leastPace, bodyTime)
		}
		result = wrong(code, message)
	}
	reply(rw, status, result)
}

// receive reads the body of a request. The bytes that have arrived count, not those that
// the client announces; release gives them back.
func (s *Server) receive(rw http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	b := &charged{ctx: r.Context(), server: s, body: http.MaxBytesReader(rw, r.Body, MaxLine), wait: http.NewResponseController(rw), begun: time.Now()}
	if r.ContentLength > MaxLine {
		return nil, b.release, errLong
	}
	body, err = io.ReadAll(b)
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		err = errLong
	case err != nil && r.Context().Err() == nil:
		err = &Usage{fmt.Errorf("read the request: %w", err)}
	case len(body) == 0:
		body = []byte("{}")
	}
	return body, b.release, err
}

// charged is a body whose bytes are taken from those that requests may have together.
// Where none are left, one body at a time may end all the same: else bodies that are
// there in part could wait for each other.
type charged struct {
	ctx    context.Context
	server *Server
	body   io.Reader
	wait   *http.ResponseController
	begun  time.Time
	read   int64
	taken  int64
	last   bool // it is the one that needs no room
}

// Read implements io.Reader.
func (c *charged) Read(p []byte) (int, error) {
	pace := beginTime + time.Duration(c.read)*time.Second/leastPace
	c.wait.SetReadDeadline(c.begun.Add(min(pace, bodyTime)))
	n, err := c.body.Read(p)
	c.read += int64(n)
	switch {
	case c.last:
	case c.server.bytes.TryAcquire(int64(n)):
		c.taken += int64(n)
	default:
		select {
		case c.server.last <- struct{}{}:
			c.last = true
		case <-c.ctx.Done():
			return 0, c.ctx.Err()
		}
		c.begun = time.Now() // the client has its time all the same
	}
	return n, err
}

func (c *charged) release() {
	c.server.bytes.Release(c.taken)
	if c.last {
		<-c.server.last
	}
}

func reply(rw http.ResponseWriter, status int, body []byte) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	http.NewResponseController(rw).SetWriteDeadline(time.Now().Add(bodyTime))
	rw.WriteHeader(status)
	rw.Write(body) // a client that is gone reads no error either
}
