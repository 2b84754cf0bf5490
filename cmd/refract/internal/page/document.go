package page

import (
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// Document is what one report shows. All its strings are plain text from
// anywhere: they are escaped here, and never read as markup.
type Document struct {
	Title string
	Claim string // what a reader takes away, in a few words; may be ""
	// Evidence are the sentences that support the claim, and Findings those that
	// limit it, which stand below the first forest.
	Evidence, Findings []string
	// Rules say for each of several metrics what a reader takes away; nil if the claim does.
	Rules  *report.NamedTable
	Method string // how intervals and p-values of the forests were made
	// Terms are explained where a sentence names them, the longest first.
	Terms   []report.Fact
	Forests []Forest      // the first one stands open
	Facts   []report.Fact // what the numbers rest on: data, versions, signatures
	Figures []Figure
	// Tables can be sorted and filtered by a reader. Hidden columns are left out. The
	// anchor of a table is "table-" and its name.
	Tables   []*report.NamedTable
	Rankings []Ranking
	Explorer *Explorer // nil for a report without segments
}

// Figure is a picture with its numbers.
type Figure struct {
	ID    string // the anchor
	Title string
	// SVG is the picture; Dark the same for a dark background, or nil. They are
	// embedded as images, in which nothing can run or load.
	SVG, Dark []byte
	Alt       string             // describes the picture for people who cannot see it; required
	Findings  []string           // sentences about it
	Aside     bool               // shown on demand
	Data      *report.NamedTable // the numbers, shown on demand; nil for none
	Notes     []string
}

// Ranking is the order of systems under each of several settings.
type Ranking struct {
	Title    string
	Settings []string // the first is what the others are compared with, such as "human"
	Systems  []experiment.RankedSystem
	Notes    []string
}

// Forest compares settings with a baseline: a plot of intervals on one scale.
type Forest struct {
	Title string
	Value string  // names the statistic, such as "Kendall’s τ"
	Unit  string  // of the axis, such as "difference in Kendall’s τ with mqm"
	Level float64 // of the intervals, such as 0.95
	Rows  []ForestRow
	Notes []string
}

// ForestRow is one setting under one grouping. Rows of a setting follow each other.
type ForestRow struct {
	Setting    string            // such as "BLEU max"
	Grouping   string            // such as "by segment"; "" where there is only one
	Value      experiment.Number // of the setting
	Difference experiment.Number
	Range      *experiment.Range // nil for none
	P          experiment.Number // undefined for none
	Outcome    Outcome
}

// Outcome says which way a verdict goes.
type Outcome string

// The outcomes. The zero Outcome is a plain statement.
const (
	Neutral Outcome = ""
	Better  Outcome = "better"
	Worse   Outcome = "worse"
	Unclear Outcome = "unclear" // the data do not decide
)
