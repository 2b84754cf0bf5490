package page

import "github.com/refract-eval/refract/report"

// Document is what one report shows. All its strings are plain text from
// anywhere: they are escaped here, and never read as markup.
type Document struct {
	Title string
	// Summary is a sentence or two below the title; may be "".
	Summary  string
	Facts    []report.Fact    // what the numbers rest on: data, versions, signatures
	Verdicts []report.Verdict // the most important ones first; of many, the others are shown on demand
	Figures  []Figure
	// Tables can be sorted and filtered by a reader. Hidden columns are left out.
	// The name of one, of letters, digits and hyphens, is its address within the
	// page after "table-"; it is unique, or "" to have one made.
	Tables   []*report.NamedTable
	Rankings []Ranking
	Explorer *Explorer // nil for a report without segments
}

// Figure is one picture with the numbers behind it.
type Figure struct {
	// ID is the address within the page: letters, digits and hyphens, unique
	// among tables, figures and rankings; "" to have one made.
	ID    string
	Title string
	// SVG is the picture; Dark the same for a dark background, or nil. They are
	// embedded as images, in which nothing can run or load.
	SVG, Dark []byte
	Narrow    bool               // fits a narrow window; others are scrolled there
	Alt       string             // what the picture shows, for who cannot see it; required
	Data      *report.NamedTable // the numbers, shown on demand; nil for none
	Notes     []string
}

// Ranking is the order of systems under each of several settings.
type Ranking struct {
	ID       string // as of a Figure
	Title    string
	Settings []string // the first is what the others are compared with, such as "human"
	Digits   int      // of the scores
	Systems  []report.RankedSystem
	Notes    []string
}
