package page

import "github.com/refract-eval/refract/internal/report"

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
	Forests []report.Forest // the first one stands open
	Facts   []report.Fact   // what the numbers rest on: data, versions, signatures
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
	Systems  []report.RankedSystem
	Notes    []string
}
