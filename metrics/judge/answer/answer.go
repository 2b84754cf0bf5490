// Package answer parses the answers of judges: the text that a language model
// wrote becomes an analysis.Report.
//
// Every parser follows these rules:
//
//   - It reads only the completion, from its start. Before a number or a
//     statement it accepts only what the form of the kind allows.
//   - An answer without a score is unparseable. It never counts as perfect, as
//     zero or as the worst; the caller's policy decides what happens to it.
//   - An answer with a score outside the bounds is unparseable.
//   - Report.Detail says what had to be repaired, skipped or guessed.
//   - The raw text is kept unchanged, and the time is linear in its length.
//
// The parsers do not look up locations in the texts, and do not compare stated
// totals with the items; Locate and Check of package analysis do that.
package answer

import "github.com/refract-eval/refract/metrics/analysis"

// New returns the parser that the spec describes. Its error names the wrong field.
func New(s Spec) (Parser, error) {
	s, err := s.complete()
	if err != nil {
		return nil, err
	}
	var read Parser
	switch s.Kind {
	case Number:
		read = numberReader(s)
	case Stars:
		read = starsReader(s)
	case Classes:
		read = classesReader(s)
	case JSON:
		read = jsonReader(s)
	case Errors:
		read = errorsReader(s)
	case TIGERScore:
		read = itemizedReader(s, &tigerGrammar)
	case InstructScore:
		read = itemizedReader(s, &instructGrammar)
	case GEMBA:
		read = headingsReader(s)
	}
	return read, nil
}

// Parser parses the answers of one judge: it fills in the report from a trimmed, non-empty text. It
// sets the outcome, or returns why the text is unparseable.
type Parser func(text string, r *analysis.Report) (why string)

// Parse parses one answer. It never returns nil and never panics. The outcome is Scored, NoError
// or Unparseable; only the caller knows that an answer was blocked, cut or never arrived, and
// overrides the outcome then. Raw is the unchanged completion.
func (read Parser) Parse(completion string) *analysis.Report {
	r := &analysis.Report{Raw: &completion}
	text, remark, ok := answerText(completion)
	if !ok {
		unparseable(r, remark)
		return r
	}
	if remark != "" {
		note(r, remark)
	}
	if why := read(text, r); why != "" {
		unparseable(r, why)
	}
	return r
}

// unparseable marks the report as unparseable. Errors that were parsed stay in it for people
// to see.
func unparseable(r *analysis.Report, why string) {
	r.Outcome, r.Score = analysis.Unparseable, nil
	note(r, why)
}

// note adds a remark to the report's detail.
func note(r *analysis.Report, remark string) {
	if r.Detail != "" {
		r.Detail += "; "
	}
	r.Detail += remark
}
