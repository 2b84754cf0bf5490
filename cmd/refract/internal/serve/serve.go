// Package serve answers requests: a line of JSON in, a line of JSON out.
//
//  1. [Server.Serve] reads lines of a connection while fewer than [MaxPending]
//     requests are unanswered.
//  2. Each request goes to its [Method], with its parameters as raw JSON and a
//     context that ends when the request is cancelled.
//  3. Each answer is written as soon as it is ready, in any order.
//
// No line, however malformed, ends a connection. The same methods can be called over
// HTTP. The package does not know which methods there are.
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
	MaxPending = 256                // unanswered requests at a time
	maxBytes   = 4 * MaxLine        // bytes of all requests together, and of all answers
	maxShared  = maxBytes - MaxLine // the same for requests, without the one being read
)

// Method carries out requests of one kind. params is a JSON object that the method may
// keep; the result is JSON on one line. A method must be safe for concurrent use and
// return soon after the context ends.
type Method func(ctx context.Context, params []byte) (result []byte, err error)

// Server answers requests on any number of connections.
type Server struct {
	Version string   // of the program
	Names   []string // of the methods, in the order in which Hello lists them
	Methods map[string]Method
	// Explain tells whether an error is the request's fault, and returns the message
	// for people.
	Explain func(error) (usage bool, message string)

	large   *bodyRoom           // of unanswered requests
	small   *bodyRoom           // of short ones over HTTP
	answers *semaphore.Weighted // bytes of expected answers
	busy    *semaphore.Weighted // HTTP requests, complete or not
	web     chan struct{}       // holds one element per complete HTTP request
}

// New returns a server without methods.
func New(version string, explain func(error) (usage bool, message string)) *Server {
	return &Server{Version: version, Methods: map[string]Method{}, Explain: explain, web: make(chan struct{}, MaxPending), busy: semaphore.NewWeighted(maxBusy),
		large: newBodyRoom(maxShared), small: newBodyRoom(maxSmall), answers: semaphore.NewWeighted(maxBytes)}
}

// Handle adds a method.
func (s *Server) Handle(name string, m Method) {
	s.Names = append(s.Names, name)
	s.Methods[name] = m
}

// cancelMethod is the method that the connection itself answers.
const cancelMethod = "cancel"

// Hello returns the first line of output, which describes the server. Over HTTP it includes
// the address, and the token unless the client knows it already.
func (s *Server) Hello(url, token string) []byte {
	b, _ := json.Marshal(struct { // cannot fail
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

// Usage is an error that is the request's fault.
type Usage struct{ Err error }

// Error returns the message of the cause.
func (u *Usage) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Usage) Unwrap() error { return u.Err }

// The codes of errors.
const (
	codeUsage     = "usage"
	codeFailed    = "failed"
	codeCancelled = "cancelled"
)

// fault returns the code and the message for the error of a request with this context.
func (s *Server) fault(ctx context.Context, err error) (code, message string) {
	if ctx.Err() != nil {
		return codeCancelled, "the request was cancelled"
	}
	if errors.As(err, new(*Usage)) || errors.As(err, new(*jsonline.Error)) {
		return codeUsage, err.Error()
	}
	wrong, message := s.Explain(err)
	if wrong {
		return codeUsage, message
	}
	return codeFailed, message
}

// maxMessage bounds a message in bytes, because an error may quote a whole request.
const maxMessage = 4096

// appendError appends an error as a JSON object.
func appendError(b []byte, code, message string) []byte {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…" // drops a character that was cut
	}
	b = append(b, `{"code":"`...)
	b = append(b, code...)
	b = append(b, `","message":`...)
	return append(jsonline.AppendString(b, message), '}')
}
