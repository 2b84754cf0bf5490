package llm

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/refract-eval/refract/internal/redact"
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

// Cause is what the server did, without what another run may have in another way:
// which server it was, and how many attempts there were.
func (e *Error) Cause() string {
	once := *e
	once.Attempts = 1
	return once.told()
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

// Bounds on what is quoted from a server, in bytes.
const (
	maxMessage = 500
	maxSnippet = 200
)

// How often a failure is retried at most.
const (
	noRetry    = 0
	elsewhere  = 1 // at another server
	fewRetries = 2 // what is more likely a mistake than a moment's trouble
	allRetries = math.MaxInt
)

// failure is an attempt's error with what the steps above do about it.
type failure struct {
	Error
	retries     int
	blocked     bool // a content filter refused the prompt
	renameLimit bool // the server wants max_completion_tokens
	notDone     bool // the server has not done what was asked
	lost        bool // there was no connection, or it broke
	// asked is how long the server asks to wait.
	asked time.Duration
}

// tooLong says that the wait the server asks for is not waited for.
func (f *failure) tooLong(allowed time.Duration) {
	f.what += fmt.Sprintf(" and asks to wait %v, more than the %v allowed", f.asked.Round(time.Millisecond), allowed)
	f.Hint = "try later or allow a longer wait"
}

const (
	hintBaseURL = "the base URL may be wrong; it usually ends in /v1"
	hintDown    = "check that the server runs and that the base URL is right"
)

func (t *link) fail(kind error, status, retries int, what, message, hint string) *failure {
	return &failure{
		Error:   Error{Kind: kind, Server: t.target.shown, Status: status, what: what, Message: message, Hint: hint},
		retries: retries,
	}
}

func (t *link) timedOut(limit time.Duration) *failure {
	return t.fail(ErrTimeout, 0, allRetries, fmt.Sprintf("gave no whole answer within %v", limit), "",
		"raise the time limit or send fewer requests at once")
}

// unreachable is a connection that failed, or that broke while it was read.
func (t *link) unreachable(what string, err error) *failure {
	for {
		var ue *url.Error // names the whole URL
		if !errors.As(err, &ue) {
			break
		}
		err = ue.Err
	}
	f := t.fail(ErrUnavailable, 0, allRetries, what, t.target.clean(err.Error(), maxMessage), hintDown)
	f.lost, f.matches = true, func(target error) bool { return errors.Is(err, target) }
	var (
		cert  *tls.CertificateVerificationError
		plain tls.RecordHeaderError
		dns   *net.DNSError
	)
	f.notDone = errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dns)
	switch {
	case errors.As(err, &cert):
		f.retries, f.what, f.Hint = noRetry, "has a certificate that is not trusted", "check the base URL and the system's certificates"
	case errors.As(err, &plain):
		f.retries, f.Hint = noRetry, "the server may speak plain HTTP: try http:// in the base URL"
	case errors.As(err, &dns) && dns.IsNotFound:
		f.retries, f.Hint = fewRetries, "check the host name in the base URL"
	}
	return f
}

// notJSON is a 200 whose body is no JSON: cut on its way, or from something
// that is no model server.
func (t *link) notJSON(status int, body []byte) *failure {
	what := "gave an answer that is not JSON"
	switch {
	case len(body) == 0:
		return t.fail(ErrBadAnswer, status, fewRetries, "gave an empty answer", "", hintBaseURL)
	case body[0] == '<':
		what = "gave a web page in place of an answer"
	}
	return t.fail(ErrBadAnswer, status, fewRetries, what, t.sent(body), hintBaseURL)
}

// badShape is a 200 of JSON that is no answer.
func (t *link) badShape(body []byte, what string) *failure {
	return t.fail(ErrBadAnswer, http.StatusOK, fewRetries, what, t.sent(body), hintBaseURL)
}

// sent quotes the beginning of a body.
func (t *link) sent(body []byte) string {
	// Far more than is shown, so that no secret is cut before it is found.
	return "it sent `" + t.target.clean(string(body[:min(len(body), 64<<10)]), maxSnippet) + "`"
}

// errorInside is an error in a 200. Its numeric code, if any, is the status
// that it stands for.
func (t *link) errorInside(model string, body []byte) *failure {
	e, ok := parseServerError(body)
	if !ok {
		return t.badShape(body, "gave an error in place of an answer")
	}
	status := e.status
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	f := t.byStatus(model, status, http.Header{}, e, t.said(e, body))
	f.Status = http.StatusOK
	if f.Kind == ErrUnavailable {
		f.what = "gave an error in place of an answer"
	}
	return f
}

// refused is any status but 200.
func (t *link) refused(model string, resp *http.Response, body []byte) *failure {
	switch status := resp.StatusCode; {
	case status < 300:
		return t.notJSON(status, bytes.TrimSpace(body))
	case status < 400:
		return t.fail(ErrBadAnswer, status, noRetry, "redirects elsewhere", t.redirect(resp), "set the base URL to the address that answers")
	}
	e, _ := parseServerError(body)
	return t.byStatus(model, resp.StatusCode, resp.Header, e, t.said(e, body))
}

// said is the server's message, or else the beginning of what it sent.
func (t *link) said(e serverError, body []byte) string {
	body = bytes.TrimSpace(body)
	switch {
	case t.speaks != nil && len(e.message) > maxMessage:
		return t.target.cleanEnd(e.message, maxMessage) // a trace ends in the error
	case e.message != "":
		return t.target.clean(e.message, maxMessage)
	case len(body) == 0:
		return ""
	default:
		return t.sent(body)
	}
}

// redirect names the host and path that a redirect leads to.
func (t *link) redirect(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return ""
	}
	// The path is decoded, so that a secret in it is found.
	return "to " + t.target.clean(u.Scheme+"://"+u.Host+redact.Path(u.Path), maxSnippet)
}

// byStatus is the table of what a status means, and what can be done.
func (t *link) byStatus(model string, status int, h http.Header, e serverError, said string) *failure {
	switch {
	case status < 500 && e.is(FinishContentFilter):
		f := t.fail(ErrInvalidRequest, status, noRetry, "refused the prompt", said, "")
		f.blocked = true
		return f
	case status < 500 && status != http.StatusTooManyRequests && e.overflow():
		return t.fail(ErrContextLength, status, noRetry, "refused the prompt as too long for the model", said,
			"shorten the prompt or lower max_tokens")
	case status == http.StatusUnauthorized && t.target.authorization == "":
		return t.fail(ErrAuth, status, noRetry, "wants a key", said, "set OPENAI_API_KEY")
	case status == http.StatusUnauthorized:
		return t.fail(ErrAuth, status, noRetry, "refused the key", said, "set OPENAI_API_KEY to a key of this server")
	case status == http.StatusForbidden:
		return t.fail(ErrAuth, status, noRetry, "refused access", said, "check what the key in OPENAI_API_KEY may use")
	case status == http.StatusPaymentRequired,
		status == http.StatusTooManyRequests && e.noQuota(h.Get("Retry-After") != ""):
		return t.fail(ErrQuota, status, noRetry, "has no credit left for this key", said, "check the account's plan and billing")
	case status == http.StatusTooManyRequests:
		f := t.fail(ErrRateLimited, status, allRetries, "limits the rate of requests", said, "send fewer requests at once")
		f.notDone = true
		return f
	case status == http.StatusNotFound && model == "":
		return t.fail(ErrNotFound, status, noRetry, "knows no such address or object", said, hintBaseURL)
	case status == http.StatusNotFound:
		return t.fail(ErrNotFound, status, noRetry, "knows no such model or address", said,
			fmt.Sprintf("check the model name %q and the base URL, which usually ends in /v1", model))
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		// A gateway's 503 can come after the server behind it did its work.
		return t.fail(ErrUnavailable, status, allRetries, "failed", said, "check the server's log, or try later")
	default:
		f := t.fail(ErrInvalidRequest, status, noRetry, "refused the request", said, "")
		f.renameLimit = status == http.StatusBadRequest && e.wantsNewLimit()
		return f
	}
}

// refusedField says in the hint which extra field of the request a server that
// refused it speaks of.
func refusedField(f *failure, extra map[string]any) {
	if f.Kind != ErrInvalidRequest || f.Hint != "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if strings.Contains(f.Message, name) {
			f.Hint = fmt.Sprintf("this server does not take the field %q", name)
			return
		}
	}
}

// serverError is an error as the servers write it, in one shape.
type serverError struct {
	message string
	kind    string // "type"
	code    string
	param   string
	status  int // a numeric code
}

// parseServerError reads {"error": {…}}, {"error": "…"}, the flat object of
// older servers, and {"detail": …}; ok is false for anything else.
func parseServerError(body []byte) (e serverError, ok bool) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return e, false
	}
	fields := top
	if raw := top["error"]; stated(raw) {
		fields = nil
		if json.Unmarshal(raw, &fields) != nil {
			return serverError{message: jsonText(raw), kind: jsonText(top["error_type"])}, true
		}
	} else if raw := top["detail"]; stated(raw) {
		return serverError{message: jsonText(raw)}, true
	}
	e = serverError{
		message: jsonText(fields["message"]),
		kind:    jsonText(fields["type"]),
		code:    jsonText(fields["code"]),
		param:   jsonText(fields["param"]),
	}
	if json.Unmarshal(fields["code"], &e.status) != nil {
		e.status = 0
	}
	if e.message == "" && e.kind == "" && e.code == "" {
		return serverError{}, false
	}
	return e, true
}

// jsonText is a JSON string's value, "" for null, and other values as written.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// is reports whether the error's type or code is one of names.
func (e serverError) is(names ...string) bool {
	for _, n := range names {
		if e.kind == n || e.code == n {
			return true
		}
	}
	return false
}

// says reports whether the message has one of the phrases, in lower case.
func (e serverError) says(phrases ...string) bool {
	m := strings.ToLower(e.message)
	for _, p := range phrases {
		if strings.Contains(m, p) {
			return true
		}
	}
	return false
}

// overflow: vLLM says it in words, llama.cpp and OpenAI by type and code.
func (e serverError) overflow() bool {
	return e.is("exceed_context_size_error", "context_length_exceeded") ||
		e.says("maximum context length", "maximum model length", "greater than max_model_len", "exceeds the available context size")
}

// noQuota tells an account without credit from a rate limit, which waiting
// cures. Words alone do not count where the server says when to come back.
func (e serverError) noQuota(comeBack bool) bool {
	return e.is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits") ||
		!comeBack && e.says("insufficient_quota", "exceeded your current quota", "credit", "billing")
}

// wantsNewLimit: newer models of one provider refuse max_tokens by name.
func (e serverError) wantsNewLimit() bool {
	return e.says(maxCompletionTokens) && (e.param == maxTokens || e.says("'"+maxTokens+"'"))
}
