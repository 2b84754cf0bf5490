package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/numeric"
	"github.com/refract-eval/refract/internal/text"
)

// judgementOf returns the judgement of a name on a system, and adds it where there is none.
func judgementOf(all *[]refract.Judgement, name, system string) *refract.Judgement {
	i := slices.IndexFunc(*all, func(j refract.Judgement) bool { return j.Name == name && j.System == system })
	if i < 0 {
		i = len(*all)
		*all = append(*all, refract.Judgement{Name: name, System: system})
	}
	return &(*all)[i]
}

// average makes the score of a judgement the mean of its ratings, if it has any.
func average(j *refract.Judgement) {
	var scores []float64
	for _, r := range j.Ratings {
		scores = append(scores, r.Score)
	}
	if len(scores) > 0 {
		j.Score, j.Valid = numeric.Mean(scores), true
	}
}

// nameRaters numbers raters without a name, and averages what one says twice. A rater who is alone
// and has no name is left out.
func nameRaters(j *refract.Judgement) {
	said := j.Ratings
	if len(said) == 1 && said[0].Rater == "" {
		said = nil
	}
	j.Ratings = nil
	for k, r := range said {
		r.Rater = cmp.Or(r.Rater, strconv.Itoa(k+1))
		if slices.ContainsFunc(j.Ratings, func(o refract.Rating) bool { return o.Rater == r.Rater }) {
			continue
		}
		var scores []float64
		for i, o := range said[k:] {
			if cmp.Or(o.Rater, strconv.Itoa(k+i+1)) == r.Rater {
				scores = append(scores, o.Score)
			}
		}
		if len(scores) > 1 { // the mean of -0 would be 0
			r.Score = numeric.Mean(scores)
		}
		j.Ratings = append(j.Ratings, refract.Rating{Rater: r.Rater, Score: r.Score})
	}
}

// agreement counts the raters of a dataset, until an output has the ratings of two.
type agreement struct {
	raters  []string
	several bool
}

// keepSeveral leaves judgements the ratings of several raters only.
func (a *agreement) keepSeveral(all []refract.Judgement) {
	for i := range all {
		j := &all[i]
		if a.several = a.several || len(j.Ratings) > 1; len(j.Ratings) == 1 {
			if !a.several && len(a.raters) <= mostRaters && !slices.Contains(a.raters, j.Ratings[0].Rater) {
				a.raters = append(a.raters, j.Ratings[0].Rater)
			}
			j.Ratings = nil
		}
	}
}

// mostRaters is how many raters are told apart.
const mostRaters = 100

// report warns where raters have no output in common.
func (a *agreement) report(file string, warn func(Warning)) {
	if n := len(a.raters); n > 1 && !a.several {
		many := english.Count(n, "rater")
		if n > mostRaters {
			many = fmt.Sprintf("more than %d raters", mostRaters)
		}
		warn(Warning{refract.Position{File: file}, many + ", and none has rated an output of another: how far they agree is not known"})
	}
}

// rate gives judgements their ratings. One that is not there, or has no score, is the mean.
func (r *record) rate(to *[]refract.Judgement) {
	for _, rater := range r.Ratings {
		for _, named := range rater.value {
			for _, of := range named.value {
				if j := judgementOf(to, named.name, of.name); of.value.Valid {
					j.Ratings = append(j.Ratings, refract.Rating{Rater: rater.name, Score: of.value.Value})
				}
			}
		}
	}
	for i := range *to {
		j := &(*to)[i]
		if !j.Valid {
			average(j)
		}
		nameRaters(j)
	}
}

// ratingsFile are the judgements of a file.
type ratingsFile struct {
	file NamedFile
	warn func(Warning)
	ids  []string
	rows [][]refract.Judgement // by id
	n    int                   // of judgements
}

// WithJudgements returns ds with human scores from tables: a row with id, system and score for
// each output, joined to the segments by id. A file's path is a spec as for [ReadScores],
// and its name that of the scores. Several scores of an output, as of several raters,
// become their mean, and where a column rater says whose each is, or without it by their order,
// they are the ratings of the judgement. Rows of outputs that the dataset does not have are counted in a
// [Warning]; a file without any other row is an error. The tables are read here, and kept.
func WithJudgements(ds refract.Dataset, files []NamedFile, o Options) (refract.Dataset, error) {
	d, warn := asSet(ds), warnOnce(o.Warn)
	for _, f := range files {
		all, err := readRatings(f, warn)
		if err != nil {
			return nil, err
		}
		d = joinRows(d, all.ids, all.rows, all.join)
	}
	return d, nil
}

func readRatings(f NamedFile, warn func(Warning)) (*ratingsFile, error) {
	all := &ratingsFile{file: f, warn: warn}
	index := map[string]int{}
	err := eachOutput(f.Path, warn, func(row *outputRow) error {
		i, ok := index[row.id]
		if !ok {
			i = len(all.rows)
			index[row.id], all.ids, all.rows = i, append(all.ids, row.id), append(all.rows, nil)
		}
		if j := judgementOf(&all.rows[i], f.Name, row.system); row.score.Valid {
			j.Ratings = append(j.Ratings, refract.Rating{Rater: row.rater, Score: row.score.Value})
		}
		return nil
	})
	var raters agreement
	for _, row := range all.rows {
		all.n += len(row)
		for i := range row {
			average(&row[i])
			nameRaters(&row[i])
		}
		raters.keepSeveral(row)
	}
	raters.report(f.Path, warn)
	if err == nil && all.n == 0 {
		err = failFile(f.Path, "there is no score; want rows with id, system and score")
	}
	return all, err
}

// join adds the ratings to segments, in a reading of them.
func (all *ratingsFile) join() (add func(*refract.Segment, *[]refract.Judgement) error, end func(int, [][]refract.Judgement) error) {
	taken, rated := 0, 0
	add = func(s *refract.Segment, row *[]refract.Judgement) error {
		if row == nil {
			return nil
		}
		before := len(s.Judgements)
		for _, j := range *row {
			if j.System == "" && len(s.Hypotheses) == 1 {
				j.System = s.Hypotheses[0].System
			}
			if !slices.ContainsFunc(s.Hypotheses, func(h refract.Hypothesis) bool { return h.System == j.System }) {
				continue
			}
			if slices.ContainsFunc(s.Judgements, func(k refract.Judgement) bool { return k.Name == j.Name && k.System == j.System }) {
				return failFile(all.file.Path, "segment %s (%s) has a score %s of system %s already; give the file another name", text.Quote(s.ID), s.Pos, text.Quote(j.Name), text.Quote(j.System))
			}
			s.Judgements = append(s.Judgements, j)
		}
		if n := len(s.Judgements) - before; n > 0 {
			taken += n
			rated++
		}
		return nil
	}
	return add, func(segments int, _ [][]refract.Judgement) error {
		pos := refract.Position{File: all.file.Path}
		switch {
		case taken == 0:
			return failAt(pos, 0, "none of its scores is of an output of the dataset: the first is of segment %s and system %s", text.Quote(all.ids[0]), text.Quote(all.rows[0][0].System))
		case taken < all.n:
			all.warn(Warning{pos, fmt.Sprintf("left out: scores of %s that the dataset does not have", english.Count(all.n-taken, "output"))})
		}
		if rated < segments {
			all.warn(Warning{pos, fmt.Sprintf("has scores of %d of %s; the others have none", rated, english.Count(segments, "segment"))})
		}
		return nil
	}
}
