package dataset

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
	"github.com/refract-eval/refract/internal/text"
)

// Score is a score that may be missing.
type Score struct {
	Value float64
	Valid bool
}

// scoreFields are the columns of a file of scores.
var scoreFields = []string{"id", "system", "score"}

// segmentFields are other columns of 'refract score --per segment', which are ignored.
var segmentFields = []string{"metric", "aggregate", "references", "status", "missing_references", "signature", "human"}

// ReadScores reads a metric's scores for the outputs of a dataset: one row with id, system
// and score each, in any order. The file is JSON Lines if its name ends in ".jsonl",
// tab-separated if it ends in ".tsv", and otherwise comma-separated. An empty score, NA,
// NaN or None, and null in JSON Lines, is a missing score, and so is an output without a
// row; a [Warning] counts the segments with rows for some outputs only. CSV and TSV put an
// apostrophe before an id or a name that looks like a formula, such as '-a; it is removed.
// In ".tsv", \\, \t, \n and \r represent the characters that tables escape this way.
//
// The result has a score for each segment and hypothesis. A row for an unknown output, a
// second row for the same one, an unknown column and a file without rows are errors with
// their position.
func ReadScores(path string, segments []*refract.Segment, warn func(Warning)) ([][]Score, error) {
	r := newScoreRows(segments)
	err := r.table(path, warn)
	if err == nil && r.rows == 0 {
		err = failFile(path, "there is no score; want rows with id, system and score")
	}
	if err == nil {
		err = r.check(path, warn)
	}
	return r.scores, err
}

// scoreRows collects the scores of segments in the order of the rows.
type scoreRows struct {
	segments []*refract.Segment
	index    map[string]int
	scores   [][]Score
	seen     [][]bool
	rows     int
}

func newScoreRows(segments []*refract.Segment) *scoreRows {
	r := &scoreRows{segments: segments, index: make(map[string]int, len(segments))}
	for i, s := range segments {
		r.index[s.ID] = i
		r.scores = append(r.scores, make([]Score, len(s.Hypotheses)))
		r.seen = append(r.seen, make([]bool, len(s.Hypotheses)))
	}
	return r
}

// check reports a file without any score, and warns about systems without scores and
// segments without a row.
func (r *scoreRows) check(path string, warn func(Warning)) error {
	scored, have, all := map[string]bool{}, 0, 0
	for i, s := range r.segments {
		for h, of := range s.Hypotheses {
			scored[of.System] = scored[of.System] || r.scores[i][h].Valid
		}
		if len(s.Hypotheses) > 0 {
			all++
		}
		if slices.Contains(r.seen[i], true) {
			have++
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(scored)), true) {
		return failFile(path, "%s, and none has a score: all are missing", english.Count(r.rows, "row"))
	}
	if have < all {
		warn(Warning{refract.Position{File: path}, fmt.Sprintf("has scores of %d of %s; the others have none", have, english.Count(all, "segment"))})
	}
	return nil
}

// shownDirection matches how tables show a character that sets the text direction.
var shownDirection = regexp.MustCompile(`\\u(?:061c|200[ef]|202[a-e]|206[6-9])`)

func (r *scoreRows) add(pos refract.Position, id, system string, s Score) error {
	i, ok := r.index[id]
	if !ok {
		i, ok = r.index[shownDirection.ReplaceAllStringFunc(id, func(shown string) string {
			code, _ := strconv.ParseUint(shown[2:], 16, 32)
			return string(rune(code))
		})]
	}
	if !ok {
		return failAt(pos, 0, "the dataset has no segment %s", text.Quote(id))
	}
	var names []string
	for h := range r.segments[i].Hypotheses {
		name := r.segments[i].Hypotheses[h].System
		if name != system {
			names = append(names, name)
			continue
		}
		if r.seen[i][h] {
			return failAt(pos, 0, "segment %s has two scores of system %s; a file holds the scores of one metric and aggregator", text.Quote(id), text.Quote(system))
		}
		r.seen[i][h], r.scores[i][h] = true, s
		r.rows++
		return nil
	}
	return failAt(pos, 0, "segment %s has no output of system %s%s; it has %s", text.Quote(id), text.Quote(system), didYouMean(system, names), quotedNames(names))
}

// tsvEscapes undoes the escapes of tab-separated tables.
var tsvEscapes = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// table reads the rows of a table with the three columns.
func (r *scoreRows) table(path string, warn func(Warning)) error {
	t := &tableSpec{path: path, columns: scoreFields, quotes: true}
	plain := text.Unguarded
	if strings.EqualFold(filepath.Ext(files.Unpacked(path)), ".tsv") {
		plain = func(s string) string { return text.Unguarded(tsvEscapes.Replace(s)) }
	}
	each := t.eachSeparated
	if strings.EqualFold(filepath.Ext(files.Unpacked(path)), ".jsonl") {
		each, plain = t.eachJSON, func(s string) string { return s }
	}
	return each(warn, func(row *tableRow) error {
		for _, name := range row.known {
			if !slices.Contains(scoreFields, name) && !slices.Contains(segmentFields, name) {
				return failAt(refract.Position{File: path, Line: 1}, 0, "the columns are %s; want id, system and score, or those of 'refract score --per segment'", quotedNames(row.known))
			}
		}
		var keys [2]string
		for i := range keys {
			t := row.values[i].one()
			if t.Value == "" {
				return failAt(row.pos, 0, "there is no %s", scoreFields[i])
			}
			keys[i] = plain(t.Value)
		}
		value, ok, err := number(row.values[2].one(), "score", row.decimalComma)
		if err != nil {
			return placed(err, row.pos)
		}
		return r.add(row.pos, keys[0], keys[1], Score{value, ok})
	})
}
