package dataset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// Score is a score that may be missing.
type Score struct {
	Value float64
	Valid bool
}

// outputFields are the columns of a table about outputs; one without references or, where
// only one system can be meant, without systems lacks these.
var outputFields = []string{"id", "score", "system", "reference", "rater"}

// outputRow is a row about the output of a system.
type outputRow struct {
	pos                   refract.Position
	id, system, reference string // "" for a column that is not there
	rater                 string // "" for none
	score                 Score
}

// eachOutput reads a table with a row for each output. spec is FILE, or
// FILE,id=COLUMN,system=COLUMN,score=COLUMN,reference=COLUMN where columns have other names;
// FILE:COLUMN names that of the scores.
func eachOutput(spec string, warn func(Warning), read func(*outputRow) error) error {
	path, options, err := splitSpec(text.Quote(spec), spec, outputFields, nil)
	if err != nil {
		return err
	}
	file := parseTexts(path)
	path = file.path
	t := &tableSpec{path: path, columns: slices.Clone(outputFields), optional: outputFields[2:], quotes: true,
		wanted: "; wanted are the columns id, system and score (and reference, for a score of each reference); where they have other names, write FILE,id=COLUMN,system=COLUMN,score=COLUMN"}
	t.columns[1] = cmp.Or(file.column, t.columns[1])
	for _, o := range options {
		t.columns[slices.Index(outputFields, o.key)] = o.value
	}
	each, plain := t.eachSeparated, text.Unguarded
	switch ending(path) {
	case ".jsonl", ".ndjson", ".json", ".parquet":
		each, plain = t.each, func(s string) string { return s }
	case ".tsv":
		plain = func(s string) string { return text.Unguarded(tsvEscapes.Replace(s)) }
	}
	return each(warn, asRow, func(row *tableRow) error {
		out := &outputRow{pos: row.pos}
		for i, to := range []*string{&out.id, nil, &out.system, &out.reference, &out.rater} {
			absent := slices.Contains(row.absent, i)
			if to == nil || absent && t.may(t.columns[i]) {
				continue
			}
			if absent {
				return t.noColumn(path, t.columns[i], row.columns(map[string]bool{}))
			}
			if *to = plain(row.values[i].one().Value); *to == "" && to != &out.rater {
				return failAt(row.pos, 0, "there is no %s", t.columns[i])
			}
		}
		var err error
		if out.score.Value, out.score.Valid, err = number(row.values[1].one(), t.columns[1], row.decimalComma); err != nil {
			return placed(err, row.pos)
		}
		return read(out)
	})
}

// ReadScores reads a metric's scores for the outputs of a dataset: one row with id, system
// and score each, in any order. spec is a file, with the columns of other names after it:
// "FILE,id=COLUMN,system=COLUMN,score=COLUMN", or "FILE:COLUMN" for that of the scores. The file is JSON Lines if its name ends in
// ".jsonl" or ".json", Parquet if in ".parquet", tab-separated if in ".tsv", a score file of
// mt-metrics-eval if in ".seg.score", and otherwise comma-separated. The column system may
// be left out if the dataset has outputs of one system. An empty score, NA, NaN or None, and
// null in JSON Lines, is a missing score, and so is an output without a row; a [Warning]
// counts the segments without a score. CSV and TSV put an apostrophe before
// an id or a name that looks like a formula, such as '-a; it is removed. In ".tsv", \\, \t, \n
// and \r represent the characters that tables escape this way.
//
// A column reference makes each score one against a single reference: it holds the
// reference's number from 0, variants after the originals; or the name of the prompt that it
// was made with, or its text.
//
// The result has for each segment the scores of its first output, against all references if
// there is that column, then those of its second output, and so on. A row for an unknown
// output, a second row for the same one and a file without rows are errors with their
// position. Other columns are not read.
func ReadScores(spec string, segments []*refract.Segment, warn func(Warning)) (scores [][]Score, perReference bool, err error) {
	r := newScoreRows(segments)
	path, _, _ := strings.Cut(spec, ",")
	if strings.HasSuffix(spec, ".seg.score") {
		err = r.inOrder(spec, warn)
	} else {
		err = eachOutput(spec, warn, r.add)
	}
	if err == nil && r.rows == 0 {
		err = failFile(path, "there is no score; want rows with id, system and score")
	}
	if err == nil {
		err = r.check(path, warn)
	}
	return r.scores, r.perReference, err
}

// scoreRows collects the scores of segments in the order of the rows.
type scoreRows struct {
	segments     []*refract.Segment
	index        map[string]int
	scores       [][]Score
	seen         [][]bool // as scores
	rows         int
	perReference bool
}

func newScoreRows(segments []*refract.Segment) *scoreRows {
	r := &scoreRows{segments: segments, index: make(map[string]int, len(segments))}
	for i, s := range segments {
		r.index[s.ID] = i
	}
	return r
}

// begin makes room for the scores, as soon as a row shows what they are of.
func (r *scoreRows) begin(perReference bool) {
	r.perReference = perReference
	for i, s := range r.segments {
		n := len(s.Hypotheses) * r.columns(i)
		r.scores, r.seen = append(r.scores, make([]Score, n)), append(r.seen, make([]bool, n))
	}
}

// columns is how many scores an output of a segment has.
func (r *scoreRows) columns(i int) int {
	if r.perReference {
		return max(1, r.segments[i].NumReferences())
	}
	return 1
}

// inOrder reads a file of mt-metrics-eval, whose rows have no ids.
func (r *scoreRows) inOrder(path string, warn func(Warning)) error {
	var systems []string
	for _, s := range r.segments {
		for _, h := range s.Hypotheses {
			if !slices.Contains(systems, h.System) {
				systems = append(systems, h.System)
			}
		}
	}
	all, err := readScores(path, systems, len(r.segments), warn)
	r.begin(false)
	for _, of := range all {
		for i, s := range r.segments {
			h := slices.IndexFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == of.System })
			if h >= 0 && err == nil {
				r.scores[i][h], r.seen[i][h] = Score{of.Values[i], of.Valid[i]}, true
				r.rows++
			}
		}
	}
	return err
}

// check reports a file without any score, and warns about segments without one.
func (r *scoreRows) check(path string, warn func(Warning)) error {
	have, all := 0, 0
	for i, s := range r.segments {
		if len(s.Hypotheses) > 0 {
			all++
		}
		if slices.ContainsFunc(r.scores[i], func(s Score) bool { return s.Valid }) {
			have++
		}
	}
	if have == 0 {
		return failFile(path, "%s, and none has a score: all are missing", english.Count(r.rows, "row"))
	}
	if have < all {
		warn(Warning{refract.Position{File: path}, fmt.Sprintf("has scores of %d of %s; the others have none", have, english.Count(all, "segment"))})
	}
	return nil
}

// shownDirection matches how tables show a character that sets the text direction.
var shownDirection = regexp.MustCompile(`\\u(?:061c|200[ef]|202[a-e]|206[6-9])`)

func (r *scoreRows) add(row *outputRow) error {
	if r.scores == nil {
		r.begin(row.reference != "")
	}
	i, ok := r.index[row.id]
	if !ok {
		i, ok = r.index[shownDirection.ReplaceAllStringFunc(row.id, func(shown string) string {
			code, _ := strconv.ParseUint(shown[2:], 16, 32)
			return string(rune(code))
		})]
	}
	if !ok {
		return failAt(row.pos, 0, "the dataset has no segment %s", text.Quote(row.id))
	}
	s := r.segments[i]
	h := slices.IndexFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == row.system })
	switch {
	case h >= 0:
	case row.system == "" && len(s.Hypotheses) == 1:
		h = 0
	case row.system == "":
		return failAt(row.pos, 0, "segment %s has outputs of %s, and the row does not say of which it is: there is no column system; write FILE,system=COLUMN", text.Quote(row.id), english.Count(len(s.Hypotheses), "system"))
	default:
		var names []string
		for _, h := range s.Hypotheses {
			names = append(names, h.System)
		}
		return failAt(row.pos, 0, "segment %s has no output of system %s%s; it has %s", text.Quote(row.id), text.Quote(row.system), didYouMean(row.system, names), quotedNames(names))
	}
	at, of := h, text.Quote(s.Hypotheses[h].System)
	if r.perReference {
		k, err := referenceOf(s, row.reference)
		if err != nil {
			return placed(err, row.pos)
		}
		at = h*r.columns(i) + k
		of += " and reference " + text.Quote(row.reference)
	}
	if r.seen[i][at] {
		return failAt(row.pos, 0, "segment %s has two scores of system %s; a file holds the scores of one metric and aggregator", text.Quote(row.id), of)
	}
	r.seen[i][at], r.scores[i][at] = true, row.score
	r.rows++
	return nil
}

// referenceOf finds a reference of a segment by its number, its prompt or its text.
func referenceOf(s *refract.Segment, name string) (int, error) {
	all := s.AllReferences(nil)
	n, err := strconv.Atoi(name)
	if err == nil && n >= 0 && n < len(all) {
		return n, nil
	}
	found := -1
	for i, v := range s.Variants {
		if v.Prompt == name && found >= 0 {
			return 0, fmt.Errorf("segment %s has several variants of the prompt %s; write their numbers from 0, after the originals", text.Quote(s.ID), text.Quote(name))
		}
		if v.Prompt == name {
			found = len(s.References) + i
		}
	}
	if found < 0 {
		found = slices.Index(all, refract.NewText(name))
	}
	if found < 0 {
		return 0, fmt.Errorf("segment %s has %s, and none is %s: write a number from 0, the name of a prompt, or the text; without the column reference a score is of all references", text.Quote(s.ID), english.Count(len(all), "reference"), text.Quote(name))
	}
	return found, nil
}

// tsvEscapes undoes the escapes of tab-separated tables.
var tsvEscapes = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
