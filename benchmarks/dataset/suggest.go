package dataset

import (
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
)

// columnWords lists common names of columns, without case, punctuation and numbers at the
// end, by the matching option of a table: spec.
var columnWords = []struct {
	option string
	words  []string
}{
	{"id", []string{"id", "segid", "segmentid", "sampleid", "docid", "idx", "index", "unnamed", "indexlevel"}},
	{"source", []string{"source", "src", "sourcetext", "input", "article", "document", "question", "prompt"}},
	{"references", []string{"references", "refs", "targets", "answers", "golds"}},
	{"reference", []string{"reference", "ref", "referencetext", "target", "tgt", "trg", "gold", "golden", "groundtruth", "label", "answer"}},
	{"system", []string{"system", "systemname", "systemid", "model", "modelname"}},
	{"output", []string{"output", "hypothesis", "hyp", "prediction", "predictions", "pred", "response", "generation", "generated", "generatedtext", "mt", "candidate", "translation", "completion", "filteredresps"}},
	{"human", []string{"human", "humanscore", "humanscores", "rating", "judgement", "judgment", "da", "mqm"}},
}

// noWord matches what does not distinguish names of columns.
var noWord = regexp.MustCompile(`[\d\s_.:,"-]+`)

// optionOf returns the option of a table that a column has by its name, or "", and how usual the
// name is for it: 0 for the most usual one.
func optionOf(column string) (option string, rank int) {
	word := strings.ToLower(column)
	if i := strings.LastIndexByte(word, '.'); i > 0 && strings.Trim(word[i:], ".0123456789") != "" { // in a structure
		word = word[i:]
	}
	word = noWord.ReplaceAllString(word, "")
	for _, c := range columnWords {
		if i := slices.Index(c.words, word); i >= 0 {
			return c.option, i
		}
	}
	return "", 0
}

// suggestTable returns a spec for a table, as far as the names of its columns tell what
// they are; COLUMN stands for the rest.
func suggestTable(path string, columns []string) string {
	found := map[string][]string{} // several of references only
	var own string                 // the options of columns that JSON Lines of segments have as objects
	for _, column := range columns {
		name, isSystem := strings.CutPrefix(column, "hypotheses.")
		score, isScore := strings.CutPrefix(column, "human.")
		switch o, rank := optionOf(column); {
		case isSystem:
			own += ",system:" + name + "=" + quoteColumn(column)
		case isScore:
			own += ",human:" + strings.Replace(score, ".", ":", 1) + "=" + quoteColumn(column)
		case o == "":
		case o == "reference" || len(found[o]) == 0:
			found[o] = append(found[o], column)
		default:
			if _, before := optionOf(found[o][0]); rank < before {
				found[o][0] = column
			}
		}
	}
	spec := "table:" + path
	add := func(option string, or ...string) {
		columns := found[option]
		if len(columns) == 0 {
			columns = or
		}
		for _, column := range columns {
			spec += "," + option + "=" + quoteColumn(column)
		}
	}
	key := found["source"]
	if ids := found["id"]; ids != nil && strings.Contains(strings.ToLower(ids[0]), "id") { // not an index, which rows do not share
		key = ids
	}
	if found["system"] != nil && key != nil { // a row is an output
		spec += ",group=" + quoteColumn(key[0])
	} else {
		add("id")
	}
	add("source")
	add("references")
	if found["references"] == nil {
		add("reference", "COLUMN")
	}
	output, system := slices.Concat(found["output"], []string{"COLUMN"})[0], "NAME"
	switch {
	case own != "":
		for _, column := range []string{"document", "domain", "language"} {
			if slices.Contains(columns, column) {
				spec += "," + column + "=" + column
			}
		}
		spec += own
	case found["system"] != nil:
		add("system")
		spec += ",output=" + quoteColumn(output)
	default:
		if found["output"] != nil {
			system = noWord.ReplaceAllString(output, "")
		}
		spec += ",system:" + system + "=" + quoteColumn(output)
	}
	if human := found["human"]; human != nil {
		spec += ",human:" + noWord.ReplaceAllString(human[0], "") + "=" + quoteColumn(human[0])
	}
	return "'" + text.Visible(spec) + "'"
}
