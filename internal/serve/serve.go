// Package serve answers requests: a line of JSON in, a line of JSON out.
//
//  1. [Server.Serve] reads lines of a connection, as long as fewer requests are
//     unanswered than it takes at a time.
//  2. Each request goes to its [Method], with its parameters as they are written,
//     and a context that ends when it is cancelled.
//  3. The answer is written as soon as there is one, whatever the order.
//
// Nothing that a line holds ends a connection. HTTP is another way to the same methods.
// What methods do, and which there are, is not known here.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/refract-eval/refract/internal/jsonline"
)

// Protocol is the version of the protocol.
const Protocol = 1

// The bounds of a connection.
const (
	MaxLine    = 64 << 20           // bytes of a line
	MaxPending = 256                // requests that are unanswered at a time
	maxBytes   = 4 * MaxLine        // of requests together, and of answers
	maxShared  = maxBytes - MaxLine // of requests, but for the one that is being read, or that ends first
)

// Method carries out requests of a kind. Params are an object, which belongs to the
// method; the result is JSON on one line. It is called from many goroutines, and
// returns soon after the context ends.
type Method func(ctx context.Context, params []byte) (result []byte, err error)

// Server answers requests on any number of connections.
type Server struct {
	Version string   // of the program
	Names   []string // of the methods, in the order of the hello
	Methods map[string]Method
	// Explain tells whether the request is at fault, and what people are told of
	// an error.
	Explain func(error) (usage bool, message string)

	bytes   *semaphore.Weighted // of requests that are unanswered
	last    chan struct{}       // has an element while a body takes none of these bytes
	answers *semaphore.Weighted // bytes that are expected of answers
	web     chan struct{}       // an element for each request that came whole over HTTP
}

// New returns a server without methods.
func New(version string, explain func(error) (usage bool, message string)) *Server {
	return &Server{Version: version, Methods: map[string]Method{}, Explain: explain, web: make(chan struct{}, MaxPending), last: make(chan struct{}, 1),
		bytes: semaphore.NewWeighted(maxShared), answers: semaphore.NewWeighted(maxBytes)}
}

// Handle adds a method.
func (s *Server) Handle(name string, m Method) {
	s.Names = append(s.Names, name)
	s.Methods[name] = m
}

// cancelMethod is the one that each connection answers by itself.
const cancelMethod = "cancel"

// Hello is the first line: who the server is, and over HTTP where, and the token that
// requests bear unless the client knows it.
func (s *Server) Hello(url, token string) []byte {
	b, _ := json.Marshal(struct { // which cannot fail
		Refract int      `json:"refract"`
		Version string   `json:"version"`
		Methods []string `json:"methods"`
		Line    int      `json:"line"`
		Pending int      `json:"pending"`
		URL     string   `json:"url,omitempty"`
		Token   string   `json:"token,omitempty"`
	}{Protocol, s.Version, append(s.Names[:len(s.Names):len(s.Names)], cancelMethod), MaxLine, MaxPending, url, token})
	return append(b, '\n')
}

// Usage is an error in a request.
type Usage struct{ Err error }

// Error is that of the cause.
func (u *Usage) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Usage) Unwrap() error { return u.Err }

// The codes of errors.
const (
	codeUsage     = "usage"
	codeFailed    = "failed"
	codeCancelled = "cancelled"
)

// fault is the code and the message of an error, of a request that a context belongs to.
func (s *Server) fault(ctx context.Context, err error) (code, message string) {
	if ctx.Err() != nil {
		return codeCancelled, "the request was cancelled"
	}
	var usage *Usage
	if errors.As(err, &usage) || errors.As(err, new(*jsonline.Error)) {
		return codeUsage, err.Error()
	}
	wrong, message := s.Explain(err)
	if wrong {
		return codeUsage, message
	}
	return codeFailed, message
}

// maxMessage bounds what is said of an error: it may quote a request.
const maxMessage = 4096

// appendError appends the object of an error.
func appendError(b []byte, code, message string) []byte {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…" // not within a character
	}
	b = append(b, `{"code":"`...)
	b = append(b, code...)
	b = append(b, `","message":`...)
	return append(jsonline.AppendString(b, message), '}')
}
