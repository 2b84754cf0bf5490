package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/report"
)

// Card is what a dataset card says beside what is counted. All texts in it,
// and all that comes from the segments, are shown as texts: nothing in them
// becomes YAML, Markdown or HTML.
type Card struct {
	Name      string   // of the set; "" leaves it to be filled in
	License   string   // a license identifier of Hugging Face; "" leaves it to be filled in
	Languages []string // codes of the references' languages
	// Prompts has the texts of prompts. Those of which the set has variants are
	// shown.
	Prompts []Prompt
	// Diversity is a table to show; nil where it was not measured.
	Diversity *Table
}

// Prompt is what a model was asked.
type Prompt struct{ Name, Text string }

// Table is a table of texts.
type Table struct {
	Columns []string
	Rows    [][]string
}

const fillIn = "*to fill in*"

// frontMatter writes the YAML that Hugging Face reads. Every value is in
// double quotes with JSON's escapes, which are YAML's too, so that no text
// becomes a key.
func (p *page) frontMatter(c *Card, m *dataset.Manifest) {
	p.WriteString("---\n")
	if c.Name != "" {
		p.field("pretty_name", c.Name)
	}
	license := c.License
	if license == "" {
		license = "unknown"
	}
	p.field("license", license)
	p.list("language", c.Languages...)
	p.list("tags", "evaluation", "multiple-references", "paraphrases", "refract")
	p.list("size_categories", sizeCategory(m.Segments))
	if m.Format == dataset.FormatParquet {
		p.WriteString("configs:\n  - config_name: default\n    data_files:\n      - split: test\n        path: " + parquetPath + "\n")
	}
	p.WriteString("---\n\n")
}

func (p *page) field(key, value string) { fmt.Fprintf(p, "%s: %s\n", key, quoted(value)) }

func (p *page) list(key string, values ...string) {
	for i, v := range values {
		if i == 0 {
			fmt.Fprintf(p, "%s:\n", key)
		}
		fmt.Fprintf(p, "  - %s\n", quoted(v))
	}
}

func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(report.Visible(s)); err != nil {
		panic(err) // a string, into memory
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// sizeCategory is Hugging Face's name for a number of rows.
func sizeCategory(n int) string {
	switch {
	case n < 1_000:
		return "n<1K"
	case n < 10_000:
		return "1K<n<10K"
	case n < 100_000:
		return "10K<n<100K"
	case n < 1_000_000:
		return "100K<n<1M"
	}
	return "1M<n<10M"
}

// page is a document in Markdown.
type page struct{ bytes.Buffer }

func (p *page) say(format string, args ...any) { fmt.Fprintf(p, format+"\n\n", args...) }

// table writes a table, of which package report escapes the cells.
func (p *page) table(columns []report.Column, rows [][]report.Value) {
	w, err := report.NewWriter(p, report.Markdown, columns, report.Options{})
	for _, row := range rows {
		if err == nil {
			err = w.Row(row...)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // memory takes all, and the columns are ours
	}
	p.WriteString("\n")
}

// block writes a text in a fence that is longer than any in it.
func (p *page) block(kind, s string) {
	longest, run := 0, 0
	for _, c := range s {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	fmt.Fprintf(p, "%s%s\n", fence, kind)
	for line := range strings.SplitSeq(s, "\n") {
		fmt.Fprintf(p, "%s\n", report.Visible(line))
	}
	fmt.Fprintf(p, "%s\n\n", fence)
}

// inline escapes a text that stands in a line of Markdown.
func inline(s string) string {
	var b strings.Builder
	for _, c := range report.Visible(strings.ReplaceAll(s, "\n", " ")) {
		if strings.ContainsRune("\\`*_{}[]<>()#+-.!|~&:@", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func comma(n int) string { return humanize.Comma(int64(n)) }

// markdown writes the card.
func (c *Card) markdown(m *dataset.Manifest, s *Stats) []byte {
	p := &page{}
	p.frontMatter(c, m)
	name := inline(c.Name)
	if name == "" {
		name = fillIn
	}
	p.say("# %s", name)
	p.say("%s segments with %s reference texts: %s originals and %s variants of them, which language models wrote, to score generated text against many references. Made with %s.",
		comma(s.Segments), comma(s.References+s.Variants), comma(s.References), comma(s.Variants), inline(m.Tool))
	p.say("Content hash: `%s`", m.Set)
	c.contents(p, m, s)
	c.making(p, s)
	c.filters(p, s)
	c.diversity(p)
	c.scoring(p, m)
	p.say("## Licence")
	p.say("Of this set: %s. Of the benchmark that the originals are from: %s. What the terms of the models above say of their answers: %s.", orFillIn(c.License), fillIn, fillIn)
	p.say("## Citation")
	p.say("The benchmark that the originals are from: %s.", fillIn)
	p.say("The method:")
	p.block("bibtex", citation)
	return append(bytes.TrimRight(p.Bytes(), "\n"), '\n')
}

func orFillIn(s string) string {
	if s == "" {
		return fillIn
	}
	return inline(s)
}

const citation = `@inproceedings{tang-etal-2024-metrics,
  title = {Not All Metrics Are Guilty: Improving {NLG} Evaluation by Diversifying References},
  author = {Tang, Tianyi and others},
  booktitle = {Proceedings of NAACL},
  year = {2024}
}`

func (c *Card) contents(p *page, m *dataset.Manifest, s *Stats) {
	p.say("## Contents")
	var rows [][]report.Value
	row := func(what string, n int) {
		rows = append(rows, []report.Value{report.String(what), report.String(comma(n))})
	}
	row("segments", s.Segments)
	row("original references", s.References)
	row("variants", s.Variants)
	row("fewest references of a segment", s.MinReferences)
	row("most references of a segment", s.MaxReferences)
	row("missing texts", s.Missing)
	row("empty texts", s.Empty)
	row("references that repeat a text of their segment", s.Repeated)
	row("rejected answers in the files", m.Rejected)
	row("rejected answers that this format leaves out", s.Rejected-m.Rejected)
	row("outputs of systems that were left out", s.Hypotheses)
	row("human judgements that were left out", s.Judgements)
	p.table([]report.Column{{Name: "what"}, {Name: "number"}}, rows)
	if s.Trimmed > 0 {
		p.say("White space at the ends of %s texts was removed before publishing.", comma(s.Trimmed))
	}
	p.say("%s", formatTexts[m.Format])
}

// formatTexts says how the files of a format are laid out.
var formatTexts = map[string]string{
	dataset.FormatJSONL:   "`" + jsonlPath + "` has a JSON object a line: `id`, `source`, `references`, `variants` with where each came from, `rejected` answers with their verdicts, `document` and `domain`. `null` is a missing text.",
	dataset.FormatParquet: "Columns: `id`, `source`, `references` (a list of texts), `variants` and `rejected` (lists of records: `reference` is the index of the original that the `text` rewrites), `document`, `domain`. A null text is missing. `raw_is` says what the model's answer was before it was cleaned: `text` for the text itself, `raw` for the column `raw`, `missing`, or nothing where the origin is not known.",
	dataset.FormatText:    "`ref.0`, `ref.1` and so on have a segment a line: the originals first, then the variants. `src` has the sources, where there are any.",
	dataset.FormatMTME:    "The layout of mt-metrics-eval: `references/LP.NAME.txt` and `sources/LP.txt` have a segment a line, the names of the references in order. `[No translation supplied]` is a missing text.",
	dataset.FormatDivRef:  "`ref.0` and so on have the originals, a segment a line, and `" + divRefPath + "` the variants of the first of them, as a Python list a line. `None` is a missing text.",
}

// counted writes a table of counts.
func (p *page) counted(what string, list []keyCount, name func(key string) string) {
	columns := []report.Column{{Name: what}, {Name: "variants"}, {Name: "rejected"}}
	var rows [][]report.Value
	for _, c := range list {
		rows = append(rows, []report.Value{report.String(name(c.key)), report.String(comma(c.kept)), report.String(comma(c.rejected))})
	}
	p.table(columns, rows)
}

func orElse(absent string) func(string) string {
	return func(key string) string {
		if key == "" {
			return absent
		}
		return key
	}
}

func (c *Card) making(p *page, s *Stats) {
	p.say("## How the variants were made")
	if s.Variants+s.Rejected == 0 {
		p.say("There are none.")
		return
	}
	p.say("Each original was given to a language model with an instruction to rewrite it, as in Div-Ref (Tang et al., 2024).")
	columns := []report.Column{{Name: "model"}, {Name: "as served"}, {Name: "revision"}, {Name: "variants"}, {Name: "rejected"}}
	var rows [][]report.Value
	for _, m := range s.models.descending() {
		cells := strings.SplitN(m.key, modelKey, 3)
		var row []report.Value
		for i := range 3 {
			cell := "not stated"
			if i < len(cells) && cells[i] != "" {
				cell = cells[i]
			}
			row = append(row, report.String(cell))
		}
		rows = append(rows, append(row, report.String(comma(m.kept)), report.String(comma(m.rejected))))
	}
	p.table(columns, rows)
	if len(s.samplings.list) > 0 {
		p.counted("sampling", s.samplings.descending(), orElse("not stated"))
	}
	if !s.First.IsZero() {
		p.say("The answers are from %s to %s.", s.First.Format(time.DateOnly), s.Last.Format(time.DateOnly))
	}
	if s.PromptTokens+s.CompletionTokens > 0 {
		p.say("They cost %s tokens of prompts and %s of answers, as far as the servers counted them.", comma(s.PromptTokens), comma(s.CompletionTokens))
	}
	p.say("### Prompts")
	p.counted("prompt", s.prompts.descending(), orElse("not stated"))
	for _, prompt := range s.prompts.descending() {
		if prompt.key == "" || prompt.key == others {
			continue
		}
		text := "the text is not known"
		for _, known := range c.Prompts {
			if known.Name == prompt.key {
				text = ""
				p.say("%s:", inline(prompt.key))
				p.block("text", known.Text)
			}
		}
		if text != "" {
			p.say("%s: %s.", inline(prompt.key), text)
		}
	}
}

func (c *Card) filters(p *page, s *Stats) {
	if s.Variants+s.Rejected == 0 {
		return
	}
	p.say("## Filters")
	p.counted("verdict", s.verdicts.descending(), orElse("not judged"))
	if len(s.cleaned.list) > 0 {
		p.say("Answers that were cleaned, by step:")
		p.counted("step", s.cleaned.descending(), orElse("not stated"))
	}
	p.say("Why the server ended its answers:")
	p.counted("finish reason", s.finishes.descending(), orElse("not stated"))
}

func (c *Card) diversity(p *page) {
	p.say("## Diversity")
	if c.Diversity == nil {
		p.say("It was not measured; `refract diversity` does.")
		return
	}
	var columns []report.Column
	for _, name := range c.Diversity.Columns {
		columns = append(columns, report.Column{Name: name})
	}
	var rows [][]report.Value
	for _, r := range c.Diversity.Rows {
		row := make([]report.Value, len(columns))
		for i := range row {
			if i < len(r) {
				row[i] = report.String(r[i])
			}
		}
		rows = append(rows, row)
	}
	p.table(columns, rows)
}

// scoring shows how to load the set and score with it.
func (c *Card) scoring(p *page, m *dataset.Manifest) {
	p.say("## Scoring with it")
	if m.Format == dataset.FormatParquet {
		p.block("python", "from datasets import load_dataset\n\nsegments = load_dataset(\"FOLDER\", split=\"test\")")
	}
	if refs := m.Role(dataset.RoleReference); m.Format == dataset.FormatText && len(refs) > 0 {
		list := refs[0].Path
		if n := len(refs); n > 1 {
			list = fmt.Sprintf("%s … %s", list, refs[n-1].Path)
		}
		p.block("sh", fmt.Sprintf("sacrebleu %s -i system.txt -m bleu chrf", list))
	}
	p.block("sh", "refract publish --verify FOLDER\nrefract score published:FOLDER --hyp mine=system.txt -a native,max,mean")
	p.say("The signature of every score that Refract makes with this set has `set:%s` in it.", refract.SetName(m.Set))
}
