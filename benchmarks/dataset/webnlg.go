package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/text"
)

// openWebNLG reads the human evaluation of a WebNLG challenge as the
// organizers released it: of 2017 (Shimorina et al., 2018), where the folder
// has all_data_final_averaged.csv, and else of 2020 (Castro Ferreira et al.).
func openWebNLG(place string, o Options) (*set, error) {
	dir, options, err := splitSpec("webnlg", place, []string{"language", "references", "segments"}, nil)
	if err != nil {
		return nil, err
	}
	scores := filepath.Join(dir, webnlg2017Scores)
	switch _, err := os.Stat(scores); {
	case err == nil:
		if len(options) > 0 {
			return nil, specError("dataset %s: the options are for the challenge of 2020; %s is of 2017", text.Quote("webnlg:"+place), text.Path(dir))
		}
		return openHeld(dir, o, func(warn func(Warning)) ([]*refract.Segment, error) {
			return readWebNLG2017(dir, warn)
		})
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fileError(scores, err)
	}
	w := &webnlg2020{dir: dir, language: options.get("language"), references: options.get("references")}
	if w.language == "" {
		w.language = "en"
	}
	switch s := options.get("segments"); s {
	case "", "all":
	case "judged":
		w.judged = true
	default:
		return nil, specError("dataset %s: segments is %s; write all or judged", text.Quote("webnlg:"+place), text.Quote(s))
	}
	return openHeld(dir, o, w.read)
}

const (
	webnlg2017Scores = "all_data_final_averaged.csv"
	// webnlg2017Human is the team whose outputs are people's.
	webnlg2017Human = "webnlg"
)

// readWebNLG2017 reads the averaged scores, and the references that belong to
// the lines of MRs.txt: gold-sample-reference0.lex and so on, in which a blank
// line stands where there is no further reference.
func readWebNLG2017(dir string, warn func(Warning)) ([]*refract.Segment, error) {
	mrs := filepath.Join(dir, "MRs.txt")
	inputs, err := readLines(mrs, warn, text.Trim[[]byte])
	if err != nil {
		return nil, err
	}
	index := map[string]*refract.Segment{}
	segments := make([]*refract.Segment, len(inputs))
	for i, mr := range inputs {
		pos := refract.Position{File: mrs, Line: i + 1}
		if other, again := index[mr]; again {
			return nil, failAt(pos, 0, "is the same as line %d", other.Pos.Line)
		}
		segments[i] = &refract.Segment{ID: ordinal(i), Source: refract.NewText(triples(mr)), Pos: pos}
		index[mr] = segments[i]
	}
	files, err := names(dir, "gold-sample-reference", ".lex")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		path := filepath.Join(dir, "gold-sample-reference"+name+".lex")
		lines, err := readLines(path, warn, text.Trim[[]byte])
		if err != nil {
			return nil, err
		}
		if len(lines) != len(inputs) {
			return nil, unequal(mrs, len(inputs), path, len(lines))
		}
		for i, line := range lines {
			if line != "" {
				segments[i].References = append(segments[i].References, refract.NewText(line))
			}
		}
	}
	t, err := readTable(filepath.Join(dir, webnlg2017Scores), warn)
	if err != nil {
		return nil, err
	}
	warnNoReferences(dir, segments, "the references are files named gold-sample-reference0.lex and so on", warn)
	return segments, addTeams(t, index)
}

// triples puts each triple of a meaning representation on a line.
func triples(mr string) string { return strings.ReplaceAll(mr, "<br>", "\n") }

// addTeams adds the outputs and scores of the teams.
func addTeams(t *table, index map[string]*refract.Segment) error {
	c, err := t.need("mr", "team", "text", "fluency", "grammar", "semantics")
	if err != nil {
		return err
	}
	for i, row := range t.rows {
		mr, team := row[c[0]], row[c[1]]
		if team == "" {
			return failAt(t.pos(i), 0, "the row names no team")
		}
		s := index[text.Trim(mr)]
		if s == nil {
			return failAt(t.pos(i), 0, "the meaning representation %s is not in MRs.txt", text.Quote(mr))
		}
		if slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == team }) {
			return failAt(t.pos(i), 0, "team %s has another row for the same meaning representation (line %d of MRs.txt)", text.Quote(team), s.Pos.Line)
		}
		s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: team, Text: refract.NewText(row[c[2]]), Human: team == webnlg2017Human})
		for _, column := range c[3:] {
			v, ok, err := t.number(i, column)
			if err != nil {
				return err
			}
			s.Judgements = append(s.Judgements, refract.Judgement{Name: t.columns[column], System: team, Score: v, Valid: ok})
		}
	}
	return nil
}
