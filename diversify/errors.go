package diversify

import (
	"fmt"
	"strings"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/llm/ask"
)

// ErrNotStored is the cause of an [Error] if an answer is not stored and there is no
// client to ask for it.
var ErrNotStored = ask.ErrNotStored

// Error says which request ended a run, and why.
type Error struct {
	Pos       refract.Position // of the segment; may be unknown
	Segment   string           // id
	Reference int              // index into Segment.References, from 0
	Prompt    string           // name; "" if the reference itself is the problem
	Sample    int              // from 0
	Err       error            // the cause
}

// Error returns one line. Unlike the fields, it counts references and samples from 1.
func (e *Error) Error() string {
	var b strings.Builder
	if p := e.Pos.String(); p != "" {
		b.WriteString(p + ": ")
	}
	fmt.Fprintf(&b, "segment %q, reference %d", e.Segment, e.Reference+1)
	if e.Prompt != "" {
		fmt.Fprintf(&b, ", prompt %q", e.Prompt)
	}
	if e.Sample > 0 {
		fmt.Fprintf(&b, ", sample %d", e.Sample+1)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
