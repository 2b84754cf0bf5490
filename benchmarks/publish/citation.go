package publish

import (
	"cmp"
	"strings"

	"github.com/goccy/go-yaml"
)

// CitationName is the file that says how to cite a set, in the Citation File Format.
const CitationName = "CITATION.cff"

// citation is a work in the Citation File Format 1.2.0, with the names of its fields.
type citation struct {
	Version    string     `yaml:"cff-version,omitempty"`
	Message    string     `yaml:"message,omitempty"`
	Type       string     `yaml:"type"`
	Title      cardText   `yaml:"title"`
	Authors    []author   `yaml:"authors"`
	Released   string     `yaml:"date-released,omitempty"`
	Year       int        `yaml:"year,omitempty"`
	Collection string     `yaml:"collection-title,omitempty"`
	References []citation `yaml:"references,omitempty"`
}

type author struct {
	Name   string `yaml:"name,omitempty"`
	Family string `yaml:"family-names,omitempty"`
	Given  string `yaml:"given-names,omitempty"`
}

// divRefPaper is the source of the method, with its authors as GIVEN FAMILY.
var divRefPaper = citation{
	Type: "conference-paper", Year: 2024,
	Title:      "Not All Metrics Are Guilty: Improving NLG Evaluation by Diversifying References",
	Collection: "Proceedings of the 2024 Conference of the North American Chapter of the Association for Computational Linguistics: Human Language Technologies (Volume 1: Long Papers)",
}

const divRefAuthors = "Tianyi Tang, Hongyuan Lu, Yuchen Jiang, Haoyang Huang, Dongdong Zhang, Wayne Xin Zhao, Tom Kocmi, Furu Wei"

// citationFile returns the file of a set, whose authors are to be filled in.
func (s shown) citationFile() ([]byte, error) {
	method := divRefPaper
	for name := range strings.SplitSeq(divRefAuthors, ", ") {
		i := strings.LastIndexByte(name, ' ')
		method.Authors = append(method.Authors, author{Given: name[:i], Family: name[i+1:]})
	}
	c := citation{
		Version: "1.2.0", Message: "If you use this set, cite it, the benchmark that its originals are from, and the paper of the method.",
		Type: "dataset", Title: cardText(cmp.Or(s.Card.Name, "to fill in") + ", set " + s.Name()),
		Authors: []author{{Name: "to fill in"}}, References: []citation{method},
	}
	if !s.Stats.Last.IsZero() {
		c.Released = s.Stats.Last.Format("2006-01-02")
	}
	return yaml.MarshalWithOptions(c, yaml.IndentSequence(true))
}
