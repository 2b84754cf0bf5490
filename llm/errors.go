package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kinds of Error, for errors.Is.
var (
	// ErrAuth: the server refused the key or requires one (401, 403).
	ErrAuth = errors.New("not authorized")
	// ErrQuota: the account has no credit or quota left (402, some 429).
	ErrQuota = errors.New("quota used up")
	// ErrRateLimited: the server still limits the rate (429) after all retries.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: no connection, or 408, 409 or 5xx, after all retries.
	ErrUnavailable = errors.New("server unavailable")
	// ErrTimeout: no complete answer within the time limit, after all retries.
	ErrTimeout = errors.New("server timed out")
	// ErrBadAnswer: an answer that is not one of this protocol.
	ErrBadAnswer = errors.New("bad answer")
	// ErrInvalidRequest: the server refused the request as invalid (400, 422 and other 4xx),
	// or the client did not send it because it is invalid.
	ErrInvalidRequest = errors.New("invalid request")
	// ErrNotFound: the server knows no such model or address (404).
	ErrNotFound = errors.New("not found")
	// ErrContextLength: the prompt and max_tokens exceed the model's context.
	ErrContextLength = errors.New("context length exceeded")
)

// Blame says what a failure is the fault of.
type Blame int

const (
	BlameServer  Blame = iota // the server or the account: it ends a run
	BlameRequest              // the request, which was refused for its content
	BlameEither               // how the server answers another request tells
)

// BlameFor returns what a failed call tells of its cause. An input can also be why a server fails, breaks
// the connection or hangs, and why a proxy before it says that something is forbidden or not found.
func BlameFor(err error) Blame {
	if known, ok := errors.AsType[*Blamed](err); ok {
		return known.On
	}
	e, _ := errors.AsType[*Error](err)
	switch {
	case IsAny(err, ErrContextLength, ErrInvalidRequest, ErrTooLarge):
		return BlameRequest
	case IsAny(err, syscall.ECONNREFUSED, context.Canceled, context.DeadlineExceeded):
	case IsAny(err, ErrUnavailable, ErrTimeout, ErrBadAnswer, ErrRateLimited, ErrNotFound),
		e != nil && e.Kind == ErrAuth && e.Status == http.StatusForbidden:
		return BlameEither
	}
	return BlameServer
}

// IsAny reports whether an error is of one of some kinds.
func IsAny(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// Blamed is an error of which it is known what is to blame.
type Blamed struct {
	Err error
	On  Blame
}

// Error returns the error's message.
func (b *Blamed) Error() string { return b.Err.Error() }

// Unwrap returns the error.
func (b *Blamed) Unwrap() error { return b.Err }

// Error says why a call failed. It contains no secret, and quotations from the server are
// escaped and shortened.
type Error struct {
	Kind     error  // one of the kinds above
	Server   string // base URL without user and query; several are joined by ", "
	Status   int    // HTTP status of the last attempt; 0 if there was none
	Attempts int    // number of requests sent
	Message  string // message of the server, or the cause; may be ""
	Hint     string // what to do; may be ""
	Refuses  string // parameter that the server refuses by name, such as ParamTopP; or ""

	what string // what the server did, as a predicate
	// matches, if not nil, compares to the cause of a connection failure. The cause itself is
	// hidden, because its text may contain a secret.
	matches func(target error) bool

	// What the client does about it:
	retries   int           // maximum number of retries
	elsewhere bool          // try another server immediately
	notDone   bool          // the server has certainly not carried out the request
	unmade    bool          // there was no connection
	blocked   bool          // a content filter refused the prompt
	newLimit  bool          // the server wants max_completion_tokens
	noBase64  bool          // the server sends vectors only as numbers
	asked     time.Duration // wait that the server asks for
}

// Error returns one line: the server, what it did, the status, its message, the number of
// attempts and the hint.
func (e *Error) Error() string {
	name := "server "
	if strings.Contains(e.Server, ", ") {
		name = "servers "
	}
	text := name + e.Server + " " + e.description()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Cause says what the server did, without details that vary between runs: the server and the
// number of attempts.
func (e *Error) Cause() string {
	once := *e
	once.Attempts = 1
	return once.description()
}

// description returns the message without the server and the hint.
func (e *Error) description() string {
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

// Bounds on quotations from a server, in bytes.
const (
	maxMessage = 500
	maxSnippet = 200
)

// Maximum numbers of retries after a failure.
const (
	noRetry    = 0
	fewRetries = 2 // for failures that are more likely a mistake than temporary
	allRetries = math.MaxInt
)

const (
	hintBaseURL = "the base URL may be wrong; it usually ends in /v1"
	hintDown    = "check that the server runs and that the base URL is right; --wait 5m waits for one that starts again"
	hintLoading = "it may still load its model: --wait 30m waits for that"
)

func (s *server) fail(kind error, status, retries int, what, message, hint string) *Error {
	return &Error{Kind: kind, Server: s.shown, Status: status, what: what, Message: message, Hint: hint, retries: retries}
}

// unreachable returns the failure for a connection that could not be made or that broke.
func (s *server) unreachable(what string, err error) *Error {
	for whole := (*url.Error)(nil); errors.As(err, &whole); { // its text contains the whole URL
		err = whole.Err
	}
	e := s.fail(ErrUnavailable, 0, allRetries, what, s.clean(err.Error(), maxMessage), hintDown)
	e.elsewhere, e.matches = true, func(target error) bool { return errors.Is(err, target) }
	dns, unresolved := errors.AsType[*net.DNSError](err)
	e.unmade = unresolved || errors.Is(err, syscall.ECONNREFUSED)
	e.notDone = e.unmade
	switch {
	case errors.As(err, new(*tls.CertificateVerificationError)), dns != nil && dns.IsNotFound: // its cause says what is wrong
		e.retries = noRetry
	case errors.As(err, new(tls.RecordHeaderError)):
		e.retries, e.Hint = noRetry, "the server may speak plain HTTP: try http:// in the base URL"
	}
	return e
}

// eventStream matches the beginning of a stream of server-sent events.
var eventStream = regexp.MustCompile(`^(data|event|id|retry)?:`)

// notJSON returns the failure for a 200 whose body is not JSON: it was cut on its way, or does
// not come from a model server.
func (s *server) notJSON(status int, body []byte) *Error {
	what := "gave an answer that is not JSON"
	switch {
	case len(body) == 0:
		return s.fail(ErrBadAnswer, status, fewRetries, "gave an empty answer", "", hintBaseURL)
	case body[0] == '<':
		what = "gave a web page instead of an answer"
	case eventStream.Match(body):
		e := s.fail(ErrBadAnswer, status, noRetry, "gave a stream of events, though none was asked for", s.sent(body),
			"have the server, or the proxy before it, answer in one piece")
		e.elsewhere = true
		return e
	}
	return s.fail(ErrBadAnswer, status, fewRetries, what, s.sent(body), hintBaseURL)
}

// badShape returns the failure for a 200 whose JSON is not an answer.
func (s *server) badShape(body []byte, what string) *Error {
	return s.fail(ErrBadAnswer, http.StatusOK, fewRetries, what, s.sent(body), hintBaseURL)
}

// sent quotes the beginning of a body.
func (s *server) sent(body []byte) string {
	// Clean far more than is shown, so that no secret is cut before it is found.
	return "it sent `" + s.clean(string(body[:min(len(body), 64<<10)]), maxSnippet) + "`"
}

// errorInside returns the failure for an error inside a 200. Its numeric code, if any, is taken
// as the status.
func (s *server) errorInside(model string, body []byte) *Error {
	api := parseAPIError(body)
	if api == nil {
		return s.badShape(body, "gave an error instead of an answer")
	}
	status, _ := strconv.Atoi(api.code)
	if says(api.message, "unexpected endpoint") { // LM Studio
		status = http.StatusNotFound
	}
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	e := s.classify(model, status, api, body)
	e.Status = http.StatusOK
	if e.Kind == ErrUnavailable {
		e.what = "gave an error instead of an answer"
	}
	return e
}

// largestError is the size in bytes up to which the body of an error is parsed, and longestMessage how
// much is looked at of its message, or of a larger body.
const largestError, longestMessage = 1 << 20, 64 << 10

// refused returns the failure for any status other than 200.
func (s *server) refused(model string, resp *http.Response, body []byte) *Error {
	switch status := resp.StatusCode; {
	case status < 300:
		return s.notJSON(status, bytes.TrimSpace(body))
	case status < 400:
		return s.fail(ErrBadAnswer, status, noRetry, "redirects elsewhere", "", "set the base URL to the address that answers")
	}
	if len(body) > largestError {
		body = body[:longestMessage]
	}
	api := cmp.Or(parseAPIError(body), &apiError{})
	api.message = api.message[:min(len(api.message), longestMessage)]
	e := s.classify(model, resp.StatusCode, api, body)
	if e.Kind == ErrNotFound && resp.Request != nil {
		e.Hint += ", and that the server has " + s.clean(resp.Request.URL.Path, maxSnippet)
	}
	return e
}

// classify decides what a status and a server's error mean, and what to do about them.
func (s *server) classify(model string, status int, api *apiError, body []byte) *Error {
	said := s.clean(api.message, maxMessage)
	if body = bytes.TrimSpace(body); api.message == "" && len(body) > 0 {
		said = s.sent(body)
	}
	fail := func(kind error, what, hint string) *Error { return s.fail(kind, status, noRetry, what, said, hint) }
	var e *Error
	switch {
	case status < 500 && hasCode(api, FinishContentFilter):
		e = fail(ErrInvalidRequest, "refused the prompt", "")
		e.blocked = true
	case status == http.StatusTooManyRequests && says(api.message, "request too large"): // for a limit of the account
		e = fail(ErrInvalidRequest, "refused the request", "")
	case status != http.StatusTooManyRequests && overflows(api): // also with 5xx, which some servers send
		e = fail(ErrContextLength, "refused the prompt as too long for the model", "shorten the prompt, or allow fewer tokens for the answer (--max-tokens, max-tokens= of a judge)")
	case status == http.StatusUnauthorized && s.authorization == "":
		e = fail(ErrAuth, "wants a key", "set OPENAI_API_KEY")
	case status == http.StatusUnauthorized:
		e = fail(ErrAuth, "refused the key", "set OPENAI_API_KEY to a key of this server")
	case status == http.StatusForbidden:
		e = fail(ErrAuth, "refused access", "check what the key in OPENAI_API_KEY may use")
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && quotaIsUsedUp(api),
		status == http.StatusBadRequest && says(api.message, "credit balance is too low"): // no other words, as a 400 may quote the prompt
		e = fail(ErrQuota, "has no credit left for this key", "check the account's plan and billing")
	case status == http.StatusTooManyRequests:
		e = fail(ErrRateLimited, "limits the rate of requests", "send fewer requests at once")
		e.retries, e.notDone = allRetries, true
	case status == http.StatusNotFound:
		named := ""
		if model != "" {
			named = fmt.Sprintf("the model name %q and ", model)
		}
		e = fail(ErrNotFound, "knows no such model, address or object", "check "+named+"the base URL, which usually ends in /v1")
	case status == http.StatusNotImplemented, status >= 500 && says(api.message, paramSchema, "json_schema", "json schema", "grammar"):
		e = fail(ErrInvalidRequest, "refused the request", "") // in spite of the status, it would again
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		// A gateway may send 503 although the server behind it did its work.
		e = fail(ErrUnavailable, "failed", "check the server's log, or try later")
		e.retries = allRetries
		if says(api.message, "loading") {
			e.Hint = hintLoading
		}
	default:
		e = fail(ErrInvalidRequest, "refused the request", "")
		e.newLimit = status == http.StatusBadRequest && wantsNewLimit(api)
		if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
			e.Refuses = refusedParameter(api)
			e.noBase64 = says(api.message, encodingFormat, base64Format)
		}
	}
	return e
}

// apiError is an error as a server states it.
type apiError struct{ message, kind, code, param string }

// parseAPIError parses {"error": {…}}, {"error": "…"}, the flat object of older servers, and
// {"detail": …}. It returns nil for anything else.
func parseAPIError(body []byte) *apiError {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top, fields map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return nil
	}
	switch {
	case !stated(top["error"]) && stated(top["detail"]):
		return &apiError{message: jsonText(top["detail"])}
	case !stated(top["error"]):
		fields = top
	case json.Unmarshal(top["error"], &fields) != nil:
		return &apiError{message: jsonText(top["error"]), kind: jsonText(top["error_type"])}
	}
	e := &apiError{jsonText(fields["message"]), jsonText(fields["type"]), jsonText(fields["code"]), jsonText(fields["param"])}
	if e.message == "" && e.kind == "" && e.code == "" {
		return nil
	}
	return e
}

// jsonText returns the value of a JSON string, "" for null, and other values as written.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// hasCode reports whether the type or code of an error is one of names.
func hasCode(e *apiError, names ...string) bool {
	return slices.Contains(names, e.kind) || slices.Contains(names, e.code)
}

// says reports whether a message contains one of the phrases, which are in lower case.
func says(message string, phrases ...string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(message, p) })
}

// overflows reports whether the prompt is too long. vLLM says so in words, llama.cpp and OpenAI by
// type and code.
func overflows(e *apiError) bool {
	return hasCode(e, "exceed_context_size_error", "context_length_exceeded") ||
		says(e.message, "maximum context length", "maximum model length", "greater than max_model_len", "exceeds the available context size",
			"maximum allowed input length", "prompt is too long")
}

// quotaIsUsedUp distinguishes an account without credit from a rate limit, which waiting cures.
func quotaIsUsedUp(e *apiError) bool {
	return hasCode(e, "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits") ||
		says(e.message, "credit balance", "billing details") && !says(e.message, "please retry in") // a limit per minute
}

// wantsNewLimit reports whether the server refuses max_tokens by name, as newer models of OpenAI
// do.
func wantsNewLimit(e *apiError) bool {
	return says(e.message, maxCompletionTokens) && (e.param == maxTokens || says(e.message, "'"+maxTokens+"'"))
}

// refusedParameter returns the sampling parameter that a model does not accept, or accepts only
// at its default. A value out of range does not count.
func refusedParameter(e *apiError) string {
	refused := hasCode(e, "unsupported_parameter", "unsupported_value") || says(e.message,
		"unsupported", "not support", "n't support", "not permitted", "deprecated", "unrecognized", "unknown", "unexpected", "cannot both")
	for _, name := range []string{ParamTopP, ParamTemperature} { // the first if the two exclude each other
		named := e.param == name || regexp.MustCompile(`\b`+name+`\b`).MatchString(e.message)
		if refused && named {
			return name
		}
	}
	return ""
}
