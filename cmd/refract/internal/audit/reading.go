package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/guard"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Reading parses answers of a judge that were generated elsewhere.
type Reading struct {
	Metric string // the name under which Totals counts the answers
	Parser answer.Parser
	Rules  analysis.Rules
	Policy judge.Policy // for answers without a score
	// At adds the name of the file and the line to an error.
	At func(name string, line int, err error) error
}

// NewReading returns a Reading that parses answers as the judge of a spec does, such as
// "instructscore:task=caption" or "judge-file:FILE". Options that only asking needs may be
// left out. A definition in a file must not have a reserved name.
func NewReading(spec string, p judge.Policy, reserved ...string) (*Reading, error) {
	d, options, err := judge.FindSpec(spec, reserved...)
	if err != nil {
		return nil, err
	}
	resolved, err := d.ResolveReading(options)
	if err != nil {
		return nil, err
	}
	if p.Retries() > 0 {
		return nil, errors.New("retry asks a model again, and answers that are there are only read; choose exclude, zero, a number or fail")
	}
	r := &Reading{Metric: d.Name, Rules: resolved.Answer().Rules(), Policy: p}
	if len(options) > 0 {
		r.Metric = spec
	}
	r.Parser, err = resolved.Parser()
	return r, err
}

// Row is an answer after parsing.
type Row struct {
	Line    int             `json:"line"`
	ID      json.RawMessage `json:"id,omitempty"`
	System  json.RawMessage `json:"system,omitempty"`
	Segment json.RawMessage `json:"segment,omitempty"`
	Metric  string          `json:"metric"`
	analysis.Record
	// Substituted names the policy that supplied the score of an answer without one; else "".
	Substituted string `json:"substituted,omitempty"`
	withoutText bool
}

// Totals are counts of rows.
type Totals struct {
	Trust       Trust
	Rows        int
	WithoutText int // rows without a hypothesis, whose errors cannot be located
	Substituted int // rows whose score was supplied by the policy
}

// answerRow is a row of the input. Other members are ignored.
type answerRow struct {
	Output     json.RawMessage   `json:"output"`
	Responses  []json.RawMessage `json:"responses"`
	Hypothesis *string           `json:"hypothesis"`
	Source     *string           `json:"source"`
	Input      *string           `json:"input"` // the source, too
	Reference  *string           `json:"reference"`
	ID         json.RawMessage   `json:"id"`
	System     json.RawMessage   `json:"system"`
	Segment    json.RawMessage   `json:"segment"`
}

// Copy reads rows of answers as JSON Lines and writes a Row for each, in order. A
// row of the input has "output", the answer or null, or "responses", whose last
// element is the answer. It may also have "hypothesis", in which errors are located,
// "source" or "input", "reference", "id", "system" and "segment". Errors name the
// file as name. At the first bad line Copy stops; the rows before it are written.
func (r *Reading) Copy(ctx context.Context, w io.Writer, name string, in io.Reader) (*Totals, error) {
	sum, enc := &Totals{}, json.NewEncoder(jsonline.Escaping{To: w})
	enc.SetEscapeHTML(false)
	for l, err := range jsonline.Lines(in, mostLine) {
		var row *Row
		if err == nil {
			row, err = r.row(l)
		}
		if err != nil {
			return nil, r.At(name, l.Number, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum.Rows++
		if row.Substituted != "" {
			sum.Substituted++
		}
		sum.Trust.Add(row.Metric, label(row.System), (*analysis.Report)(&row.Record))
		if row.withoutText {
			sum.WithoutText++
		}
		if err := enc.Encode(row); err != nil {
			return nil, err
		}
	}
	if sum.Rows == 0 {
		return nil, fmt.Errorf("%s has no rows; each line must be a JSON object with \"output\"", name)
	}
	return sum, nil
}

// mostLine bounds a line, in bytes.
const mostLine = 1 << 26

// row reads one row of the input.
func (r *Reading) row(l jsonline.Line) (*Row, error) {
	if !utf8.Valid(l.Text) {
		return nil, errors.New("the line is not valid UTF-8; convert the file first")
	}
	var in answerRow
	if err := json.Unmarshal(l.Text, &in); err != nil {
		return nil, explainJSON(err)
	}
	completion, has, err := in.completion()
	if err != nil {
		return nil, err
	}
	rep := &analysis.Report{Outcome: analysis.Missing, Detail: "there is no answer"}
	if has {
		rep = r.Parser.Parse(completion)
	}
	none := new("")
	texts := analysis.Texts{Hypothesis: *cmp.Or(in.Hypothesis, none), Source: *cmp.Or(in.Source, in.Input, none), Reference: *cmp.Or(in.Reference, none)}
	if in.Hypothesis != nil {
		rep.Locate(texts)
		rep.Flags = guard.Flags(texts.Hypothesis)
	}
	rep.Check(texts, r.Rules)
	out := &Row{Line: l.Number, ID: in.ID, System: in.System, Segment: in.Segment, Metric: r.Metric, Record: rep.Record(), withoutText: in.Hypothesis == nil}
	if !rep.Outcome.HasScore() {
		if r.Policy.Fails() {
			return nil, fmt.Errorf("the answer has no score (%s: %s), and the policy is to fail", rep.Outcome, rep.Detail)
		}
		if value, substituted := r.Policy.Counts(rep.Outcome); substituted {
			out.Score, out.Substituted = &value, r.Policy.String()
		}
	}
	return out, nil
}

// completion returns the answer of the row, and whether there is one.
func (r *answerRow) completion() (string, bool, error) {
	raw := r.Output
	if n := len(r.Responses); raw == nil && n > 0 {
		raw = r.Responses[n-1]
	}
	switch {
	case raw == nil:
		return "", false, errors.New("there is no \"output\" and no \"responses\"; write \"output\": null where there is no answer")
	case raw[0] == 'n':
		return "", false, nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, true, err
	case raw[0] == '{', raw[0] == '[':
		return string(raw), true, nil // an answer in JSON that someone has decoded
	}
	return "", false, fmt.Errorf("the answer is %s; want a text, an object or null", raw)
}

// label returns how tables name a system: a JSON string without its quotes, any
// other JSON value unchanged.
func label(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// explainJSON rewords an error of the JSON library for users.
func explainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind):
		return fmt.Errorf("the line is not JSON: %w", err)
	case kind.Field == "":
		return fmt.Errorf("the line is a JSON %s; want an object with \"output\"", kind.Value)
	}
	return fmt.Errorf("%q is a JSON %s; want a text or null", kind.Field, kind.Value)
}
