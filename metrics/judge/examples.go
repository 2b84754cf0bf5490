package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxExampleLine bounds a line of a file of examples, in bytes.
const maxExampleLine = 1 << 20

// ReadExamples reads judgements to show a model before it is asked, as JSON Lines:
//
//	{"source": "…", "reference": "…", "hypothesis": "…", "answer": {"errors": []}}
//
// The source and the reference may be left out where the judge does not use
// them. An answer is the text that the model should have given, or the JSON of
// it, which is shown on one line. Blank lines are passed over. name is the
// file's name in errors, which say the line.
func ReadExamples(name string, r io.Reader) ([]Example, error) {
	var out []Example
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxExampleLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := readExample(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, e)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes", name, n+1, maxExampleLine)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(out) == 0:
		return nil, fmt.Errorf("%s: the file has no examples", name)
	}
	return out, nil
}

func readExample(line []byte) (Example, error) {
	var raw struct {
		Source     string          `json:"source"`
		Reference  string          `json:"reference"`
		Hypothesis string          `json:"hypothesis"`
		Answer     json.RawMessage `json:"answer"`
	}
	if !utf8.Valid(line) {
		return Example{}, errors.New("the line is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return Example{}, fmt.Errorf("not an example such as {\"source\": …, \"hypothesis\": …, \"answer\": …}: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Example{}, errors.New("more follows after the example; put each on a line of its own")
	}
	e := Example{Source: raw.Source, Reference: raw.Reference, Hypothesis: raw.Hypothesis}
	if len(raw.Answer) > 0 && raw.Answer[0] == '"' {
		if err := json.Unmarshal(raw.Answer, &e.Answer); err != nil {
			return Example{}, fmt.Errorf("answer: %w", err)
		}
	} else if len(raw.Answer) > 0 && string(raw.Answer) != "null" {
		var b bytes.Buffer
		if err := json.Compact(&b, raw.Answer); err != nil {
			return Example{}, fmt.Errorf("answer: %w", err)
		}
		e.Answer = b.String()
	}
	switch {
	case strings.TrimSpace(e.Hypothesis) == "":
		return Example{}, errors.New("the example has no hypothesis")
	case strings.TrimSpace(e.Answer) == "":
		return Example{}, errors.New("the example has no answer")
	}
	return e, nil
}

// CheckExamples checks that the judge takes examples, that they have the texts
// that its prompt uses, and that its parser reads a score in every answer.
func (r *Resolved) CheckExamples(examples []Example) error {
	if r.definition.takesExamples() == "" {
		return fmt.Errorf("%s takes no examples", r.Name())
	}
	parser, err := r.Parser()
	if err != nil {
		return err
	}
	for i, e := range examples {
		report := parser.Parse(e.Answer)
		switch {
		case r.NeedsSource() && e.Source == "":
			return fmt.Errorf("example %d has no source, which %s shows", i+1, r.Name())
		case r.NeedsReference() && e.Reference == "":
			return fmt.Errorf("example %d has no reference, which %s shows", i+1, r.Name())
		case !report.Outcome.HasScore():
			return fmt.Errorf("example %d: its answer states no score: %s", i+1, report.Detail)
		}
	}
	return nil
}
