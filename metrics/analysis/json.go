package analysis

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Record is a Report without its methods, for embedding in other JSON records.
type Record Report

// Record returns the report as it is written. It shares memory with the report.
func (r *Report) Record() Record {
	out := Record(*r)
	if out.Errors == nil {
		out.Errors = []Error{}
	}
	return out
}

// MarshalJSON writes the Record. A number that is not finite is an error; invalid UTF-8
// becomes U+FFFD.
func (r *Report) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.Record()); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It ignores unknown fields, so a record may
// have others. A report that contradicts itself is an error: a score without an outcome
// that has one or vice versa, an invalid span, a problem of an error that does not exist.
func (r *Report) UnmarshalJSON(data []byte) error {
	var in Record
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	switch in.Outcome {
	case Scored, NoError, Unparseable, Blocked, Cut, Missing:
	default:
		return fmt.Errorf("status %q is none of scored, no-error, unparseable, blocked, cut, missing", in.Outcome)
	}
	if in.Outcome.HasScore() != (in.Score != nil) {
		return fmt.Errorf("status %q goes with a score if and only if there is one", in.Outcome)
	}
	if slices.Contains(in.Parts, nil) {
		return errors.New("parts: one of them is null")
	}
	for i := range in.Errors {
		if e := &in.Errors[i]; (e.Span != Span{}) != e.Place.HasSpan() {
			return fmt.Errorf("error %d: place %q goes with a span if and only if it is in the hypothesis", i, e.Place)
		}
	}
	for _, p := range in.Problems {
		if p.Error != nil && (*p.Error < 0 || *p.Error >= len(in.Errors)) {
			return fmt.Errorf("problem %q: there is no error %d", p.Code, *p.Error)
		}
	}
	*r = Report(in)
	return nil
}

// MarshalJSON writes [start, end], or null for none.
func (s Span) MarshalJSON() ([]byte, error) {
	if s == (Span{}) {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "[%d,%d]", s.Start, s.End), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Span) UnmarshalJSON(data []byte) error {
	var at [2]int
	if err := json.Unmarshal(data, &at); err != nil {
		return err
	}
	if *s = (Span{at[0], at[1]}); s.Start < 0 || s.End < s.Start {
		return fmt.Errorf("[%d, %d] is no span", s.Start, s.End)
	}
	return nil
}
