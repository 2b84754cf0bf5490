package page

import (
	"iter"
	"math"

	"github.com/refract-eval/refract"
)

// Explorer is the part of a report that shows texts.
type Explorer struct {
	Systems []string // every system, in the order in which a segment shows them
	// Humans are the kinds of human judgements, such as "mqm". Scores are compared with
	// the first, unless a reader chooses another. Higher is better.
	Humans   []string
	Metrics  []Measure // whose scores against single references are shown
	Settings []Measure // whose scores of outputs are shown
	Prompts  []string  // names of all prompts that made references
	Note     string    // says which segments are left out, if any
	// Segments yields every segment that is shown once. Write takes one at a time, so that they
	// need not all be in memory.
	Segments iter.Seq2[*Segment, error]

	packed []byte // all of them and their columns, as they stand in a page
}

// Measure is a metric with a score for every output and reference, or a setting: a way to score an
// output against many references.
type Measure struct {
	Name          string `json:"name"` // such as "bleu, max of 10"
	LowerIsBetter bool   `json:"lower"`
	Digits        int    `json:"digits"` // decimals that are shown
	Metric        int    `json:"metric"` // of a setting: index into Explorer.Metrics; -1 for none of them
}

// Segment is one item of a test set. Fields that its JSON omits are in the page's columns.
type Segment struct {
	ID         string       `json:"id"`
	Document   string       `json:"document,omitempty"` // "" where none is stated
	Domain     string       `json:"-"`                  // "" where none is stated
	Source     refract.Text `json:"source"`
	References []Reference  `json:"references"`
	Outputs    []Output     `json:"outputs"`
}

// Reference is a reference of a segment.
type Reference struct {
	Text refract.Text `json:"text"`
	// Prompt is the index into Explorer.Prompts of the prompt that made it; -1
	// for an original.
	Prompt int    `json:"-"`
	Detail string `json:"detail,omitempty"` // for people, such as the model and the sample; may be ""
}

// Output is what one system made of a segment.
type Output struct {
	System int          `json:"-"` // index into Explorer.Systems, at most once in a segment
	Text   refract.Text `json:"text"`
	Human  []float64    `json:"-"` // one per Explorer.Humans; NaN where there is none
	Scores []Score      `json:"-"` // one per Explorer.Settings
	// Cells holds a row per Explorer.Metrics with a score per reference, NaN
	// where there is none. A row, or all of it, may be nil.
	Cells   []Numbers `json:"cells,omitempty"`
	Reports []Report  `json:"reports,omitempty"`
}

// Score is the score of an output under one setting.
type Score struct {
	Value float64 // NaN where there is none
	// Decided is the index of the deciding reference plus 1, or 0 if no single one
	// decided.
	Decided int
}

// DecidedBy returns a score decided by one reference, given by its index.
func DecidedBy(reference int, value float64) Score {
	return Score{Value: value, Decided: reference + 1}
}

// NoScore returns the score of an output that has none.
func NoScore() Score { return Score{Value: math.NaN()} }

// Report is what a judge or a person says about an output.
type Report struct {
	Judge string `json:"judge"` // a name
	// Outcome says how the answer was read, such as "scored", "no-error" or
	// "unparseable".
	Outcome string  `json:"outcome"`
	Score   Number  `json:"score"` // NaN where there is none
	Errors  []Error `json:"errors,omitempty"`
	// Notes are contradictions found in the report, and anything suspicious in the
	// texts.
	Notes []string `json:"notes,omitempty"`
}

// Error is one error that a judge reports.
type Error struct {
	Span        [2]int `json:"span"`               // a half-open range of runes (not bytes) of the output; empty where it is not known
	Location    string `json:"location,omitempty"` // as the judge stated it
	InSource    bool   `json:"source,omitzero"`    // the location is one of the source
	Type        string `json:"type,omitempty"`     // aspect or type
	Severity    string `json:"severity,omitempty"` // "critical", "major" or "minor"; others are shown as they are
	Explanation string `json:"explanation,omitempty"`
	Penalty     Number `json:"penalty"` // NaN where there is none
}
