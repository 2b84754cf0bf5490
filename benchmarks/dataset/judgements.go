package dataset

import (
	"fmt"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// rating is the mean of the scores that people gave to an output.
type rating struct {
	refract.Judgement
	sum float64
	n   int
}

// ratings are those of a file.
type ratings struct {
	file  NamedFile
	ids   []string
	rows  [][]*rating // by id
	n     int
	first string // the output that the file has first
}

// WithJudgements returns ds with human scores from tables: a row with id, system and score for
// each output, joined to the segments by id. A file's path is a spec as for [ReadScores],
// and its name that of the scores. Several scores of an output, as of several raters,
// become their mean. Rows of outputs that the dataset does not have are counted in a
// [Warning]; a file without any other row is an error. The tables are read here, and kept.
func WithJudgements(ds refract.Dataset, files []NamedFile, o Options) (refract.Dataset, error) {
	d, warn := asSet(ds), warnOnce(o.Warn)
	for _, f := range files {
		all, err := readRatings(f, warn)
		if err != nil {
			return nil, err
		}
		d = joinRows(d, all.ids, all.rows, func() (func(*refract.Segment, *[]*rating) error, func(int, [][]*rating) error) {
			return all.join(warn)
		})
	}
	return d, nil
}

func readRatings(f NamedFile, warn func(Warning)) (*ratings, error) {
	all := &ratings{file: f}
	index := map[string]int{}
	err := eachOutput(f.Path, warn, func(row *outputRow) error {
		i, ok := index[row.id]
		if !ok {
			i = len(all.rows)
			index[row.id], all.ids, all.rows = i, append(all.ids, row.id), append(all.rows, nil)
		}
		k := slices.IndexFunc(all.rows[i], func(r *rating) bool { return r.System == row.system })
		if k < 0 {
			k = len(all.rows[i])
			all.rows[i] = append(all.rows[i], &rating{Judgement: refract.Judgement{Name: f.Name, System: row.system}})
			all.n++
		}
		if all.n == 1 {
			all.first = fmt.Sprintf("segment %s and system %s", text.Quote(row.id), text.Quote(row.system))
		}
		if r := all.rows[i][k]; row.score.Valid {
			r.sum, r.n, r.Valid = r.sum+row.score.Value, r.n+1, true
			r.Score = r.sum / float64(r.n)
		}
		return nil
	})
	if err == nil && all.n == 0 {
		err = failFile(f.Path, "there is no score; want rows with id, system and score")
	}
	return all, err
}

// join adds the ratings to segments, in a reading of them.
func (all *ratings) join(warn func(Warning)) (add func(*refract.Segment, *[]*rating) error, end func(int, [][]*rating) error) {
	taken, rated := 0, 0
	add = func(s *refract.Segment, row *[]*rating) error {
		if row == nil {
			return nil
		}
		n, err := all.add(s, *row)
		if taken += n; n > 0 {
			rated++
		}
		return err
	}
	return add, func(segments int, _ [][]*rating) error {
		pos := refract.Position{File: all.file.Path}
		switch {
		case taken == 0:
			return failAt(pos, 0, "none of its scores is of an output of the dataset: the first is of %s", all.first)
		case taken < all.n:
			warn(Warning{pos, fmt.Sprintf("left out: scores of %s that the dataset does not have", english.Count(all.n-taken, "output"))})
		}
		if rated < segments {
			warn(Warning{pos, fmt.Sprintf("has scores of %d of %s; the others have none", rated, english.Count(segments, "segment"))})
		}
		return nil
	}
}

// add adds the ratings of a segment's outputs, and returns how many there are.
func (all *ratings) add(s *refract.Segment, row []*rating) (n int, err error) {
	for _, r := range row {
		j := r.Judgement
		if j.System == "" && len(s.Hypotheses) == 1 {
			j.System = s.Hypotheses[0].System
		}
		if !slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == j.System }) {
			continue
		}
		if slices.ContainsFunc(s.Judgements, func(k refract.Judgement) bool { return k.Name == j.Name && k.System == j.System }) {
			return n, failFile(all.file.Path, "segment %s (%s) has a score %s of system %s already; give the file another name", text.Quote(s.ID), s.Pos, text.Quote(j.Name), text.Quote(j.System))
		}
		s.Judgements = append(s.Judgements, j)
		n++
	}
	return n, nil
}
