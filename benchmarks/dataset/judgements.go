package dataset

import (
	"context"
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

// ratings are those of a file, by the id of the segment.
type ratings struct {
	file  NamedFile
	byID  map[string][]*rating
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
		all := &ratings{file: f, byID: map[string][]*rating{}}
		err := eachOutput(f.Path, warn, func(row *outputRow) error {
			of := all.byID[row.id]
			i := slices.IndexFunc(of, func(r *rating) bool { return r.System == row.system })
			if i < 0 {
				i = len(of)
				of = append(of, &rating{Judgement: refract.Judgement{Name: f.Name, System: row.system}})
				all.byID[row.id] = of
				all.n++
			}
			if all.n == 1 {
				all.first = fmt.Sprintf("segment %s and system %s", text.Quote(row.id), text.Quote(row.system))
			}
			if r := of[i]; row.score.Valid {
				r.sum, r.n, r.Valid = r.sum+row.score.Value, r.n+1, true
				r.Score = r.sum / float64(r.n)
			}
			return nil
		})
		if err == nil && all.n == 0 {
			err = failFile(f.Path, "there is no score; want rows with id, system and score")
		}
		if err != nil {
			return nil, err
		}
		d = d.judged(all, warn)
	}
	return d, nil
}

// judged adds the ratings of a file.
func (d *set) judged(all *ratings, warn func(Warning)) *set {
	out := *d
	out.lines, out.firsts = nil, d.first()
	out.read = func(ctx context.Context, each func(*refract.Segment) error) error {
		taken, segments, without := 0, 0, 0
		err := d.read(ctx, func(s *refract.Segment) error {
			n, err := all.add(s)
			if segments++; n == 0 {
				without++
			}
			if taken += n; err != nil {
				return err
			}
			return each(s)
		})
		pos := refract.Position{File: all.file.Path}
		switch {
		case err != nil:
		case taken == 0:
			err = failAt(pos, 0, "none of its scores is of an output of the dataset: the first is of %s", all.first)
		case taken < all.n:
			warn(Warning{pos, fmt.Sprintf("left out: scores of %s that the dataset does not have", english.Count(all.n-taken, "output"))})
		}
		if err == nil && without > 0 {
			warn(Warning{pos, fmt.Sprintf("has scores of %d of %s; the others have none", segments-without, english.Count(segments, "segment"))})
		}
		return err
	}
	return &out
}

// add adds the ratings of a segment's outputs, and returns how many there are.
func (all *ratings) add(s *refract.Segment) (n int, err error) {
	for _, r := range all.byID[s.ID] {
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
