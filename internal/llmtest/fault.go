package llmtest

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Fault answers a request instead of the server. It can be any function; this package has
// functions that return common ones.
type Fault func(w http.ResponseWriter, r *Request)

// Status answers with an error in OpenAI's form.
func Status(status int, message string) Fault {
	return failure(status, "server_error", "", message)
}

func failure(status int, kind, code, message string) Fault {
	return func(w http.ResponseWriter, _ *Request) { writeError(w, status, kind, code, message) }
}

// Body answers with exactly this status and body.
func Body(status int, contentType, body string) Fault {
	return func(w http.ResponseWriter, _ *Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// With sets a header, such as Retry-After, and then answers with f.
func With(name, value string, f Fault) Fault {
	return func(w http.ResponseWriter, r *Request) {
		w.Header().Set(name, value)
		f(w, r)
	}
}

// Hang does not answer until the client disconnects.
func Hang() Fault {
	return func(_ http.ResponseWriter, r *Request) { <-r.Context().Done() }
}

// Reset ends the connection without an answer.
func Reset() Fault {
	return func(w http.ResponseWriter, _ *Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // so that the client sees a reset
		}
		_ = conn.Close()
	}
}

// Truncated sends the first part of an answer and ends the connection.
func Truncated() Fault {
	return func(w http.ResponseWriter, _ *Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write([]byte(cutAnswer))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

const cutAnswer = `{"id":"test-1","choices":[{"index":0,"mess`

// Malformed answers 200 with truncated JSON.
func Malformed() Fault { return Body(http.StatusOK, "application/json", cutAnswer) }

// Garbage answers 200 with bytes that are neither JSON nor text.
func Garbage() Fault {
	return Body(http.StatusOK, "application/octet-stream", "\x00\xff\x1b[31m\u202egarbage\r\n\x7f")
}

// HTML answers with a web page, as a proxy or another program would.
func HTML(status int) Fault {
	return Body(status, "text/html", "<!DOCTYPE html>\n<html><head><title>"+http.StatusText(status)+
		"</title></head><body>"+strings.Repeat("<p>Not a model server.</p>", 20)+"</body></html>\n")
}

// ErrorBody answers 200 with an error instead of choices, as OpenRouter does.
func ErrorBody(code int, message string) Fault {
	return func(w http.ResponseWriter, _ *Request) {
		writeJSON(w, http.StatusOK, map[string]any{"error": map[string]any{"code": code, "message": message}})
	}
}

// Quota answers 429 for an account without credit.
func Quota() Fault {
	return failure(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", "The account has used up its quota.")
}

// ContextLength answers that the prompt is too long, as vLLM does.
func ContextLength() Fault {
	return failure(http.StatusBadRequest, "BadRequestError", "", "The maximum context length of this model is 16 tokens.")
}

// PromptBlocked answers 400 for a prompt that a content filter refused, as
// Azure does.
func PromptBlocked() Fault {
	return failure(http.StatusBadRequest, "", "content_filter", "The prompt was filtered.")
}

// Finish answers with this text and finish reason, such as "length".
func Finish(reason, text string) Fault {
	return func(w http.ResponseWriter, r *Request) { writeAnswer(w, r, &text, reason, nil) }
}

// Apart answers a chat with this text, null for nil, and further fields of the message, in which
// some servers send reasoning.
func Apart(text *string, finish string, fields map[string]any) Fault {
	return func(w http.ResponseWriter, r *Request) { writeAnswer(w, r, text, finish, fields) }
}

// NoChoices answers 200 with an empty list of choices.
func NoChoices() Fault {
	return Body(http.StatusOK, "application/json", `{"id":"test-1","model":"m","choices":[]}`)
}

// Repeat lists a fault n times.
func Repeat(n int, f Fault) []Fault {
	return slices.Repeat([]Fault{f}, n)
}
