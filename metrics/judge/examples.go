package judge

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxExamples bounds a file of examples, in bytes.
const maxExamples = 1 << 24

// readExamples reads judgements to show a model before it is asked, as JSON Lines:
//
//	{"source": "…", "reference": "…", "hypothesis": "…", "answer": {"errors": []}}
//
// The source and the reference may be left out where the judge does not use
// them. An answer is the text that the model should have given, or the JSON of
// it, which is shown on one line. Blank lines are passed over. name is the
// file's name in errors, which say the line.
func readExamples(name string, r io.Reader) ([]Example, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxExamples+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > maxExamples:
		return nil, fmt.Errorf("%s: the file is larger than %d bytes, which is no size for examples", name, maxExamples)
	}
	var out []Example
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte("\ufeff"))) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := readExample(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: the file has no examples", name)
	}
	return out, nil
}

func readExample(line []byte) (Example, error) {
	var raw struct {
		Source     string         `json:"source"`
		Reference  string         `json:"reference"`
		Hypothesis string         `json:"hypothesis"`
		Answer     jsontext.Value `json:"answer"`
	}
	if err := json.Unmarshal(line, &raw, json.RejectUnknownMembers(true)); err != nil {
		return Example{}, fmt.Errorf("not an example such as {\"source\": …, \"hypothesis\": …, \"answer\": …}: %w", err)
	}
	e := Example{Source: raw.Source, Reference: raw.Reference, Hypothesis: raw.Hypothesis}
	var err error
	switch raw.Answer.Kind() {
	case '"':
		err = json.Unmarshal(raw.Answer, &e.Answer)
	case 0, 'n': // there is none
	default:
		err = raw.Answer.Compact()
		e.Answer = string(raw.Answer)
	}
	switch {
	case strings.TrimSpace(e.Hypothesis) == "":
		err = cmp.Or(err, errors.New("the example has no hypothesis"))
	case strings.TrimSpace(e.Answer) == "":
		err = cmp.Or(err, errors.New("the example has no answer"))
	}
	return e, err
}

// checkExamples checks that the judge takes examples, that they have the texts
// that its prompt uses, and that its parser reads a score in every answer.
func (r *Resolved) checkExamples(examples []Example) error {
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
