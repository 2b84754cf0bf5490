package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/refract-eval/refract/llm"
)

// outcome is what a batch says of a row.
type outcome struct {
	response llm.Response
	err      error
	again    bool // another attempt may cure the error
	unasked  bool // the model was not asked
}

// answers are the outcomes of a batch's rows, joined on custom_id. Of several
// for one row the first answer counts, and without one the first error.
type answers struct {
	of       map[string]outcome
	unusable int
	broken   int // lines that cannot be read; they are unusable too

	client *llm.Client
	asked  map[string]*llm.Request // nil for rows that are no items, or have their result
}

func (r *run) answersOf(b *batch) *answers {
	a := &answers{client: r.Client, asked: make(map[string]*llm.Request, len(b.rows))}
	for _, id := range b.rows {
		a.asked[id] = nil
	}
	for w := range r.waiting(b) {
		a.asked[w.id] = w.request
	}
	return a.empty()
}

// empty are answers of the same batch without any.
func (a *answers) empty() *answers {
	return &answers{of: map[string]outcome{}, client: a.client, asked: a.asked}
}

// line is a line of an output or error file.
type line struct {
	CustomID string `json:"custom_id"`
	Response *struct {
		Status int             `json:"status_code"`
		Body   json.RawMessage `json:"body"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

// add takes a line of a file.
func (a *answers) add(text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil || l.CustomID == "" {
		a.unusable++
		a.broken++
		return
	}
	request, there := a.asked[l.CustomID]
	switch {
	case !there:
		a.unusable++
	case request != nil:
		a.put(l.CustomID, a.read(l, *request))
	}
}

func (a *answers) put(id string, out outcome) {
	before, double := a.of[id]
	if double {
		a.unusable++
	}
	if !double || before.err != nil && out.err == nil {
		a.of[id] = out
	}
}

func (a *answers) merge(b *answers) {
	a.unusable += b.unusable
	for id, out := range b.of {
		a.put(id, out)
	}
}

// read gives a line's outcome. Servers differ in where they put an error: into
// the response's body, next to a response without one, or in its place.
func (a *answers) read(l line, r llm.Request) (out outcome) {
	status, body := 0, json.RawMessage(nil)
	if l.Response != nil {
		status, body = l.Response.Status, l.Response.Body
	}
	switch {
	case has(body):
		status = cmp.Or(status, http.StatusOK)
	case !has(l.Error):
		return outcome{again: true, unasked: true, err: fmt.Errorf("%w: the row has neither a response nor an error", llm.ErrUnavailable)}
	default:
		if body = l.Error; status < 400 {
			status = 0 // the error's code may be one
		}
	}
	var page string // a body that is no JSON comes as a string
	if json.Unmarshal(body, &page) == nil {
		body = []byte(page)
	}
	out.unasked = status == 0
	out.response, out.again, out.err = a.client.ReadAnswer(r, status, body)
	return out
}

func has(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// maxLine bounds a line of an output file, in bytes.
const maxLine = 64 << 20

var errLongLine = errors.New("a line of more than 64 MiB")

// readFile takes all lines of a file.
func (a *answers) readFile(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		a.add(lines.Bytes())
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errLongLine
	}
	return lines.Err()
}
