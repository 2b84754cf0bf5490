// Package analysis holds what an explainable metric says about a text: a score with the
// errors found, their positions, and how far the report can be trusted.
//
//  1. A parser (package metrics/judge/answer) makes a Report of a model's answer.
//  2. Locate finds the errors' spans in the hypothesis.
//  3. Check compares the report with itself and with the texts, without a model.
//
// Offsets count runes. All texts of a report come from a model and are untrusted.
package analysis

// Outcome says what became of one answer of a judge.
type Outcome string

// The outcomes. Only Scored and NoError have a score.
const (
	Scored      Outcome = "scored"
	NoError     Outcome = "no-error" // the judge states that there is no error
	Unparseable Outcome = "unparseable"
	Blocked     Outcome = "blocked" // withheld by a content filter
	Cut         Outcome = "cut"     // truncated at the token limit
	Missing     Outcome = "missing" // there is no answer
)

// HasScore reports whether the outcome comes with a number.
func (o Outcome) HasScore() bool { return o == Scored || o == NoError }

// FlagPromptCut, of Report.Flags, marks a report for which the server counted far fewer tokens
// than the prompt must have: it may have truncated the prompt silently.
const FlagPromptCut = "prompt-cut"

// Report is a judge's report on one hypothesis. Its JSON is
//
//	{"status": "scored", "score": -5, "errors": [{"location": "punish", "place": "hypothesis", "span": [22, 28],
//	 "aspect": "…", "severity": "major", "explanation": "…", "penalty": 5}], "stated_errors": 1, "raw": "…"}
//
// "score", "span" and "penalty" are null if absent, and "errors" is always a list. Other
// empty fields are omitted.
type Report struct {
	Outcome Outcome  `json:"status"`
	Score   *float64 `json:"score"`  // in the metric's units; nil unless Outcome.HasScore
	Errors  []Error  `json:"errors"` // in the order of the answer
	// StatedErrors and StatedTotal are the number of errors, and the sum of the penalties (at
	// least 0), as the answer states them; nil if it does not.
	StatedErrors *int      `json:"stated_errors,omitempty"`
	StatedTotal  *float64  `json:"stated_total,omitempty"`
	Problems     []Problem `json:"problems,omitempty"` // found by Check
	Flags        []string  `json:"flags,omitempty"`    // suspicious features of the judged texts, such as "closing-quote"
	// Detail explains to people why there is no score, or what was repaired to read the
	// answer; it may be "".
	Detail string  `json:"detail,omitempty"`
	Raw    *string `json:"raw,omitempty"` // the answer as received; nil if there was none
	// Parts are the reports that Combine merged into this one: the samples of a judge. Spread
	// is the standard deviation of their scores.
	Parts  []*Report `json:"parts,omitempty"`
	Spread *float64  `json:"spread,omitempty"`
}

// SetScore sets an outcome that has a score, and the score. −0, the negated sum of no
// penalties, becomes 0.
func (r *Report) SetScore(o Outcome, score float64) { r.Outcome, r.Score = o, new(score+0) }

// Severity is how bad an error is, in MQM's terms.
type Severity string

// The severities. An answer may state none.
const (
	Critical Severity = "critical"
	Major    Severity = "major"
	Minor    Severity = "minor"
)

// Error is one error that a judge reports.
type Error struct {
	Location    string   `json:"location"` // as stated, without surrounding quotes; "" if none is
	Place       Place    `json:"place"`
	Span        Span     `json:"span"`                // in the hypothesis; zero if the place has none
	Aspect      string   `json:"aspect"`              // the aspect or type of the error
	Dimension   string   `json:"dimension,omitempty"` // the group of types, if the judge states it
	Severity    Severity `json:"severity"`            // "" if the answer states none
	Explanation string   `json:"explanation"`
	Penalty     *float64 `json:"penalty"` // what the error subtracts from the score, at least 0; nil if unknown
}

// Place says where the stated location of an error was found.
type Place string

// The places.
const (
	Unlocated    Place = ""            // Locate has not run
	InHypothesis Place = "hypothesis"  // verbatim
	Approximate  Place = "approximate" // verbatim except for case, spaces or quotes; or only a part
	InSource     Place = "source"      // not in the hypothesis, but in the source
	Absent       Place = "absent"      // nowhere
	NotStated    Place = "none"        // the error has no location, or one that quotes nothing
)

// HasSpan reports whether an error at the place has a span.
func (p Place) HasSpan() bool { return p == InHypothesis || p == Approximate }

// Span is a half-open range of runes. The zero Span means none.
type Span struct{ Start, End int }

// Problem is a contradiction that Check found in a report.
type Problem struct {
	Code   string `json:"code"`            // count, total, location, explanation, repeated, correction, penalty or severity
	Error  *int   `json:"error,omitempty"` // index into Report.Errors; nil for the whole report
	Detail string `json:"detail"`          // for people
}

// Reported makes the report of errors that a model or a program states in addition to a
// score. If score is nil, outcome says why.
func Reported(errors []Error, score *float64, outcome Outcome, texts Texts) *Report {
	out := &Report{Errors: errors, Outcome: outcome}
	switch {
	case score == nil:
	case len(errors) == 0:
		out.SetScore(NoError, *score)
	default:
		out.SetScore(Scored, *score)
	}
	out.Locate(texts)
	out.Check(texts, Rules{})
	return out
}
