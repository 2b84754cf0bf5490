package llm

import (
	"bytes"
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

	openai "github.com/sashabaranov/go-openai"
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
// quotes from the server is escaped and bounded. It wraps the *openai.APIError
// that the server's answer stands for, if there was one.
type Error struct {
	Kind     error  // one of the kinds above
	Server   string // base URL, without user and query; several with ", " between
	Status   int    // HTTP status of the last attempt; 0 without one
	Attempts int    // requests sent
	Message  string // what the server said, or the cause; may be ""
	Hint     string // what to do; may be ""
	Refuses  string // the parameter that the server refuses by its name, such as ParamTopP; or ""

	what string // what the server did, as a predicate
	api  error  // go-openai's, redacted; or nil
	// matches is nil or compares with the cause of a connection's failure, which
	// is not handed out: its text may hold a secret.
	matches func(target error) bool

	// What the client does about it:
	retries   int           // how often it is retried at most
	elsewhere bool          // another server is tried at once
	notDone   bool          // the server has not done what was asked
	blocked   bool          // a content filter refused the prompt
	newLimit  bool          // the server wants max_completion_tokens
	noBase64  bool          // the server gives vectors as numbers only
	asked     time.Duration // how long the server asks to wait
}

// Error gives one line: the server, what it did, the status, its message,
// the number of attempts and the hint.
func (e *Error) Error() string {
	name := "server "
	if strings.Contains(e.Server, ", ") {
		name = "servers "
	}
	text := name + e.Server + " " + e.told()
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Cause is what the server did, without what differs from run to run: which
// server it was, and how many attempts there were.
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

// Unwrap gives go-openai's error, or nil.
func (e *Error) Unwrap() error { return e.api }

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
	fewRetries = 2 // what is more likely a mistake than a moment's trouble
	allRetries = math.MaxInt
)

// tooLong says that the wait the server asks for is not waited for.
func (e *Error) tooLong(allowed time.Duration) {
	e.what += fmt.Sprintf(" and asks to wait %v, more than the %v allowed", e.asked.Round(time.Millisecond), allowed)
	e.Hint = "try later or allow a longer wait"
}

const (
	hintBaseURL = "the base URL may be wrong; it usually ends in /v1"
	hintDown    = "check that the server runs and that the base URL is right"
)

func (s *server) fail(kind error, status, retries int, what, message, hint string) *Error {
	return &Error{Kind: kind, Server: s.shown, Status: status, what: what, Message: message, Hint: hint, retries: retries}
}

// unreachable is a connection that failed, or that broke while it was read.
func (s *server) unreachable(what string, err error) *Error {
	for {
		var ue *url.Error // names the whole URL
		if !errors.As(err, &ue) {
			break
		}
		err = ue.Err
	}
	e := s.fail(ErrUnavailable, 0, allRetries, what, s.clean(err.Error(), maxMessage), hintDown)
	e.elsewhere, e.matches = true, func(target error) bool { return errors.Is(err, target) }
	var cert *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var dns *net.DNSError
	e.notDone = errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dns)
	switch {
	case errors.As(err, &cert): // the cause says what is wrong with it
		e.retries = noRetry
	case errors.As(err, &plain):
		e.retries, e.Hint = noRetry, "the server may speak plain HTTP: try http:// in the base URL"
	}
	return e
}

// eventStream is how a stream of server-sent events begins.
var eventStream = regexp.MustCompile(`^(data|event|id|retry)?:`)

// notJSON is a 200 whose body is no JSON: cut on its way, or from something
// that is no model server.
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

// badShape is a 200 of JSON that is no answer.
func (s *server) badShape(body []byte, what string) *Error {
	return s.fail(ErrBadAnswer, http.StatusOK, fewRetries, what, s.sent(body), hintBaseURL)
}

// sent quotes the beginning of a body.
func (s *server) sent(body []byte) string {
	// Far more than is shown, so that no secret is cut before it is found.
	return "it sent `" + s.clean(string(body[:min(len(body), 64<<10)]), maxSnippet) + "`"
}

// errorInside is an error in a 200. Its numeric code, if any, is the status
// that it stands for.
func (s *server) errorInside(model string, body []byte) *Error {
	api := parseAPIError(body)
	if api == nil {
		return s.badShape(body, "gave an error in place of an answer")
	}
	api.HTTPStatusCode, _ = api.Code.(int)
	if says(api.Message, "unexpected endpoint") { // LM Studio
		api.HTTPStatusCode = http.StatusNotFound
	}
	if api.HTTPStatusCode < 400 || api.HTTPStatusCode > 599 {
		api.HTTPStatusCode = http.StatusInternalServerError
	}
	e := s.classify(model, api, body)
	e.Status = http.StatusOK
	if e.Kind == ErrUnavailable {
		e.what = "gave an error in place of an answer"
	}
	return e
}

// refused is any status but 200.
func (s *server) refused(model string, resp *http.Response, body []byte) *Error {
	switch status := resp.StatusCode; {
	case status < 300:
		return s.notJSON(status, bytes.TrimSpace(body))
	case status < 400:
		return s.fail(ErrBadAnswer, status, noRetry, "redirects elsewhere", "", "set the base URL to the address that answers")
	}
	api := parseAPIError(body)
	if api == nil {
		api = &openai.APIError{}
	}
	api.HTTPStatusCode = resp.StatusCode
	return s.classify(model, api, body)
}

// classify is the table of what a status and a server's error mean, and what can
// be done.
func (s *server) classify(model string, api *openai.APIError, body []byte) *Error {
	status := api.HTTPStatusCode
	said := s.said(api.Message, body)
	fail := func(kind error, what, hint string) *Error { return s.fail(kind, status, noRetry, what, said, hint) }
	var e *Error
	switch {
	case status < 500 && hasCode(api, FinishContentFilter):
		e = fail(ErrInvalidRequest, "refused the prompt", "")
		e.blocked = true
	case status != http.StatusTooManyRequests && overflows(api): // which some servers call a fault of their own
		e = fail(ErrContextLength, "refused the prompt as too long for the model", "shorten the prompt, or allow fewer tokens for the answer (--max-tokens, max-tokens= of a judge)")
	case status == http.StatusUnauthorized && s.authorization == "":
		e = fail(ErrAuth, "wants a key", "set OPENAI_API_KEY")
	case status == http.StatusUnauthorized:
		e = fail(ErrAuth, "refused the key", "set OPENAI_API_KEY to a key of this server")
	case status == http.StatusForbidden:
		e = fail(ErrAuth, "refused access", "check what the key in OPENAI_API_KEY may use")
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && quotaIsUsedUp(api):
		e = fail(ErrQuota, "has no credit left for this key", "check the account's plan and billing")
	case status == http.StatusTooManyRequests:
		e = fail(ErrRateLimited, "limits the rate of requests", "send fewer requests at once")
		e.retries, e.notDone = allRetries, true
	case status == http.StatusNotFound:
		e = fail(ErrNotFound, "knows no such model, address or object", fmt.Sprintf("check the model name %q and the base URL, which usually ends in /v1", model))
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		// A gateway's 503 can come after the server behind it did its work.
		e = fail(ErrUnavailable, "failed", "check the server's log, or try later")
		e.retries = allRetries
	default:
		e = fail(ErrInvalidRequest, "refused the request", "")
		e.newLimit = status == http.StatusBadRequest && wantsNewLimit(api)
		if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
			e.Refuses = refusedParameter(api)
			e.noBase64 = says(api.Message, encodingFormat, string(openai.EmbeddingEncodingFormatBase64))
		}
	}
	code, _ := api.Code.(string)
	e.api = &openai.APIError{Message: said, Type: s.clean(api.Type, maxSnippet), Code: s.clean(code, maxSnippet), HTTPStatusCode: status, HTTPStatus: http.StatusText(status)}
	return e
}

// said is the server's message, or else the beginning of what it sent.
func (s *server) said(message string, body []byte) string {
	body = bytes.TrimSpace(body)
	switch {
	case message != "":
		return s.clean(message, maxMessage)
	case len(body) == 0:
		return ""
	default:
		return s.sent(body)
	}
}

// explain adds to a failure what is known of the request.
func (e *Error) explain(s *server, c *call, body []byte) {
	if c.logprobs {
		e.refusesLogprobs()
	}
	if s.protocol != nil {
		s.protocol.adapt(e, body)
	}
}

// parseAPIError reads {"error": {…}}, {"error": "…"}, the flat object of
// older servers, and {"detail": …}; it gives nil for anything else.
func parseAPIError(body []byte) *openai.APIError {
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
		return &openai.APIError{Message: jsonText(top["detail"])}
	case !stated(top["error"]):
		fields = top
	case json.Unmarshal(top["error"], &fields) != nil:
		return &openai.APIError{Message: jsonText(top["error"]), Type: jsonText(top["error_type"])}
	}
	param := jsonText(fields["param"])
	e := &openai.APIError{Message: jsonText(fields["message"]), Type: jsonText(fields["type"]), Code: jsonText(fields["code"]), Param: &param}
	if e.Message == "" && e.Type == "" && e.Code == "" {
		return nil
	}
	if status, err := strconv.Atoi(string(fields["code"])); err == nil {
		e.Code = status
	}
	return e
}

// jsonText is a JSON string's value, "" for null, and other values as written.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// hasCode reports whether the error's type or code is one of names.
func hasCode(e *openai.APIError, names ...string) bool {
	code, _ := e.Code.(string)
	return slices.Contains(names, e.Type) || slices.Contains(names, code)
}

// says reports whether a message has one of the phrases, in lower case.
func says(message string, phrases ...string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(message, p) })
}

// overflows: vLLM says it in words, llama.cpp and OpenAI by type and code.
func overflows(e *openai.APIError) bool {
	return hasCode(e, "exceed_context_size_error", "context_length_exceeded") ||
		says(e.Message, "maximum context length", "maximum model length", "greater than max_model_len", "exceeds the available context size",
			"maximum allowed input length", "prompt is too long")
}

// quotaIsUsedUp tells an account without credit from a rate limit, which waiting
// cures.
func quotaIsUsedUp(e *openai.APIError) bool {
	return hasCode(e, "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits") ||
		says(e.Message, "credit balance", "billing details") && !says(e.Message, "please retry in") // as of a limit by the minute
}

// wantsNewLimit: newer models of one provider refuse max_tokens by name.
func wantsNewLimit(e *openai.APIError) bool {
	return says(e.Message, maxCompletionTokens) && (e.Param != nil && *e.Param == maxTokens || says(e.Message, "'"+maxTokens+"'"))
}

// refusedParameter is the sampling parameter that a model does not take, or takes
// only at its default. One that is out of range is not refused.
func refusedParameter(e *openai.APIError) string {
	refused := hasCode(e, "unsupported_parameter", "unsupported_value") || says(e.Message,
		"unsupported", "not support", "n't support", "not permitted", "deprecated", "unrecognized", "unknown", "unexpected", "cannot both")
	for _, name := range []string{ParamTopP, ParamTemperature} { // of two that do not go together, the first
		named := e.Param != nil && *e.Param == name || regexp.MustCompile(`\b`+name+`\b`).MatchString(e.Message)
		if refused && named {
			return name
		}
	}
	return ""
}

// serverWait is how long the server asks to wait before the next attempt, by its
// retry-after-ms or Retry-After; else 0.
func serverWait(resp *http.Response, now time.Time) time.Duration {
	if resp == nil {
		return 0
	}
	if ms, err := strconv.ParseFloat(strings.TrimSpace(resp.Header.Get("Retry-After-Ms")), 64); err == nil && ms >= 0 {
		return time.Duration(min(ms/1000, longestPause.Seconds()) * float64(time.Second))
	}
	after := strings.TrimSpace(resp.Header.Get("Retry-After"))
	if at, err := http.ParseTime(after); err == nil {
		return max(0, at.Sub(now))
	}
	if f, err := strconv.ParseFloat(after, 64); f >= 0 && (err == nil || math.IsInf(f, 1)) {
		return time.Duration(min(f, longestPause.Seconds()) * float64(time.Second))
	}
	return 0
}
