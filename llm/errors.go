package llm

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of Error, tested with errors.Is.
var (
	// ErrAuth: the server refused the key, or wants one (401, 403).
	ErrAuth = errors.New("not authorized")
	// ErrQuota: the account has no credit or quota left (402, some 429).
	ErrQuota = errors.New("quota used up")
	// ErrRateLimited: the server still limits the rate (429) after all
	// retries, or asks for a longer wait than is allowed.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: no connection, or 408, 409 or 5xx, after all retries.
	ErrUnavailable = errors.New("server unavailable")
	// ErrTimeout: no whole answer within the time limit, after all retries.
	ErrTimeout = errors.New("server timed out")
	// ErrBadAnswer: an answer that is not one of this protocol.
	ErrBadAnswer = errors.New("bad answer")
	// ErrInvalidRequest: the server refused the request as wrong (400, 422
	// and other 4xx), or the request was not sent because it is.
	ErrInvalidRequest = errors.New("invalid request")
	// ErrNotFound: the server knows no such model or address (404).
	ErrNotFound = errors.New("not found")
	// ErrContextLength: the prompt and max_tokens exceed the model's context.
	ErrContextLength = errors.New("context length exceeded")
)

// Error says why a call gave no answer. It holds no secret, and what it
// quotes from the server is escaped and bounded.
type Error struct {
	Kind     error  // one of the kinds above
	Server   string // base URL, without user and query; several with ", " between
	Status   int    // HTTP status of the last attempt; 0 without one
	Attempts int    // requests sent
	Message  string // what the server said, or the cause; may be ""
	Hint     string // what to do; may be ""

	many bool   // Server names several
	what string // what the server did, as a predicate
	// matches is nil or compares with the cause. The cause itself is not
	// handed out: its text may hold a secret.
	matches func(target error) bool
}

// Error gives one line: the server, what it did, the status, its message,
// the number of attempts and the hint.
func (e *Error) Error() string {
	name := "server"
	if e.many {
		name = "servers"
	}
	text := name + " " + e.Server + " " + e.told()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// told is the Error without the server and the hint.
func (e *Error) told() string {
	var b strings.Builder
	b.WriteString(e.what)
	if e.what == "" && e.Kind != nil {
		b.WriteString("failed: " + e.Kind.Error())
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " after %d attempts", e.Attempts)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	return b.String()
}

// Is reports whether target is the kind of e or matches its cause, such as
// syscall.ECONNREFUSED.
func (e *Error) Is(target error) bool {
	return e.Kind == target || e.matches != nil && e.matches(target)
}
