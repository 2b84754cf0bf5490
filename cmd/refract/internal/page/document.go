package page

import (
	"github.com/refract-eval/refract/cmd/refract/internal/figure"
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
	Forests []Figure      // the first one stands open
	Facts   []report.Fact // what the numbers rest on: data, versions, signatures
	Figures []Figure
	// Tables can be sorted and filtered by a reader. Hidden columns are left out. The
	// anchor of a table is "table-" and its name.
	Tables   []*report.NamedTable
	Rankings []*report.NamedTable // as Tables
	Explorer *Explorer            // nil for a report without segments
}

// Figure is a picture with its numbers. A forest is one whose Data is always shown.
type Figure struct {
	ID       string // the anchor, and a name for a file, such as "curve-1"
	Title    string
	Alt      string             // describes the picture for people who cannot see it; required
	Findings []string           // sentences about it
	Aside    bool               // shown on demand
	Data     *report.NamedTable // the numbers, shown on demand; nil for none
	Notes    []string
	Panels   []figure.Panel // side by side; none for no picture
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
