// Package answer reads the answers of judges: text that a language model
// wrote, into an analysis.Report.
//
// Every parser keeps to these rules:
//
//   - It reads the completion alone, from its start. What a number or a
//     statement is preceded by must be of the kind's form.
//   - An answer that states no score is unparseable. It never counts as
//     perfect, as zero or as the worst: what to do with it is the caller's
//     policy.
//   - An answer that states a score outside of the bounds is unparseable.
//   - What had to be mended, passed over or guessed is said in Report.Detail.
//   - The raw text is kept as it came, and the time is linear in its length.
//
// The parsers do not look the locations up in the texts and do not compare
// what is stated with the items: that is Locate and Check of package analysis.
package answer

import "github.com/refract-eval/refract/metrics/analysis"

// Parser reads the answers of one judge.
type Parser interface {
	// Parse reads one answer. It never returns nil and never panics. The
	// outcome is Scored, NoError or Unparseable; that an answer was blocked,
	// cut or never came is known to the caller alone, who overrides it. Raw is
	// the completion as it came.
	Parse(completion string) *analysis.Report
}

// New returns the parser that the spec describes. Its error names the field
// that is wrong.
func New(s Spec) (Parser, error) {
	s, err := s.complete()
	if err != nil {
		return nil, err
	}
	var read reader
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

// reader fills the report in from a trimmed text that is not empty. It sets the
// outcome, or says why the text is unparseable.
type reader func(text string, r *analysis.Report) (why string)

// Parse implements Parser.
func (read reader) Parse(completion string) *analysis.Report {
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

// unparseable marks the report; the errors that were read stay in it for
// people to see.
func unparseable(r *analysis.Report, why string) {
	r.Outcome, r.Score = analysis.Unparseable, nil
	note(r, why)
}

// note adds one remark to the report's detail.
func note(r *analysis.Report, remark string) {
	if r.Detail != "" {
		r.Detail += "; "
	}
	r.Detail += remark
}
