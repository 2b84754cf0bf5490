package publish

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
)

// Card holds what a dataset card says in addition to the counts. Its texts, and everything
// from the segments, are shown as plain text: nothing in them becomes YAML, Markdown or HTML.
type Card struct {
	Name      string   // of the set; "" leaves a gap to fill in
	License   string   // a license identifier of Hugging Face; "" leaves a gap to fill in
	Languages []string // codes of the references' languages
	// SourceLanguage is the code of the sources' language, if it is known and another one.
	SourceLanguage string
	// Prompts holds the texts of prompts. The card shows those for which the set has
	// variants.
	Prompts []Prompt
}

// Prompt is a prompt that a model was asked with.
type Prompt struct{ Name, Text string }

// cardTemplate is the template of the card. It passes every untrusted text through a function
// that escapes it for its place.
//
//go:embed card.md.tmpl
var cardTemplate string

// shown is the data of the template.
type shown struct {
	Card     *Card
	Manifest *dataset.Manifest
	Stats    *Stats
}

// FrontMatter returns what the Hub reads of the card.
func (s shown) FrontMatter() *FrontMatter {
	var splits []Split
	if path := s.Loaded(); path != "" {
		splits = []Split{{Name: "test", Path: path}}
	}
	f := NewFrontMatter(s.Card.Name, s.Card.License, s.Stats.Segments, splits, "evaluation", "multiple-references", "paraphrases")
	f.Tasks = []string{"text-generation"}
	if s.Card.SourceLanguage != "" {
		f.Tasks = []string{"translation"}
		f.SetLanguages(s.Card.SourceLanguage)
	}
	f.SetLanguages(s.Card.Languages...)
	return f
}

// Citation returns how to cite the set, in the form of BibTeX.
func (s shown) Citation() string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}\\\n\r\"", r) {
			return -1
		}
		return r
	}, s.Card.Name)
	year := ""
	if !s.Stats.Last.IsZero() {
		year = fmt.Sprintf("  year = {%d},\n", s.Stats.Last.Year())
	}
	return fmt.Sprintf("@misc{%s,\n  title = {%s},\n  author = {to fill in},\n%s  note = {%s segments with %s reference texts, set %s}\n}",
		s.Name(), cmp.Or(plain, "to fill in"), year, comma(s.Stats.Segments), comma(s.Texts()), s.Name())
}

// Texts returns the number of original references and variants.
func (s shown) Texts() int { return s.Stats.References + s.Stats.Variants }

// Description describes the set in a sentence.
func (s shown) Description() string {
	return fmt.Sprintf("Generated text is scored against many references: %s segments with %s original references and %s variants of them.",
		comma(s.Stats.Segments), comma(s.Stats.References), comma(s.Stats.Variants))
}

// Answers returns the number of models' answers.
func (s shown) Answers() int { return s.Stats.Variants + s.Stats.Rejected }

// RejectedLeftOut returns the number of rejected answers that are not in the files.
func (s shown) RejectedLeftOut() int { return s.Stats.Rejected - s.Manifest.Rejected }

// Name returns the name of the set as signatures state it.
func (s shown) Name() string { return refract.SetName(s.Manifest.Set) }

// Loaded returns the file that Hugging Face's datasets library loads; "" if it loads none.
func (s shown) Loaded() string {
	if f := s.Manifest.Role(dataset.RoleSegments); len(f) == 1 {
		return f[0].Path
	}
	return ""
}

// Columns returns the files of references as arguments for sacreBLEU; "" for other formats.
func (s shown) Columns() string {
	refs := s.Manifest.Role(dataset.RoleReference)
	switch n := len(refs); {
	case s.Manifest.Format != dataset.FormatText || n == 0:
		return ""
	case n == 1:
		return refs[0].Path
	default:
		return refs[0].Path + " … " + refs[n-1].Path
	}
}

// Counted returns a table of counts by the given columns; "" if it has no row. absent is shown
// for unknown values.
func (s shown) Counted(absent string, columns ...string) string {
	rows := [][]string{append(slices.Clone(columns), "variants", "rejected")}
	for _, c := range s.Stats.counts[columns[0]].descending() {
		parts, cells := strings.SplitN(c.key, keySeparator, len(columns)), make([]string, len(columns))
		for i := range cells {
			if cells[i] = absent; i < len(parts) && parts[i] != "" {
				cells[i] = parts[i]
			}
		}
		rows = append(rows, append(cells, comma(c.kept), comma(c.rejected)))
	}
	if len(rows) == 1 {
		return ""
	}
	return markdownTable(rows...)
}

// Prompts returns the prompts for which the set has answers, without their text if it is
// unknown.
func (s shown) Prompts() []Prompt {
	var out []Prompt
	for _, c := range s.Stats.counts["prompt"].descending() {
		if c.key == "" || c.key == others {
			continue
		}
		p := Prompt{Name: c.key}
		if i := slices.IndexFunc(s.Card.Prompts, func(known Prompt) bool { return known.Name == c.key }); i >= 0 {
			p = s.Card.Prompts[i]
		}
		out = append(out, p)
	}
	return out
}

// Findings returns the findings of the Stats, with names escaped for Markdown.
func (s shown) Findings() []Finding {
	out := s.Stats.Findings()
	for i := range out {
		out[i].Model = inline(out[i].Model)
	}
	return out
}

// Diversity returns how different the variants of a segment are on average.
func (s shown) Diversity() string {
	rows := [][]string{{"measure", "mean", "segments"}}
	for _, m := range s.Stats.diversity.Means {
		if m.Segments > 0 {
			rows = append(rows, []string{m.Measure, strconv.FormatFloat(m.Value(), 'f', 3, 64), comma(m.Segments)})
		}
	}
	if len(rows) == 1 {
		return ""
	}
	return markdownTable(rows...)
}
