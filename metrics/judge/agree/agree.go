// Package agree compares judges on one dataset: their scores, the spans of the
// errors that they report, and the severities of these.
//
//  1. Read and OfRaters make Judges of reports and of the ratings of people.
//  2. ReadSet takes documents and human scores from a dataset.
//  3. Comparison.Pairs compares each two judges, and Comparison.ByPeople tests which
//     of them correlates better with human scores.
//
// An output whose report has no score is counted, and is in no number.
package agree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/internal/exact"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

// Output is what a judge reports on.
type Output struct{ ID, System string }

// Judge is what one judge says of outputs.
type Judge struct {
	Name    string
	Outputs []Output // in the order of its reports
	Reports map[Output]*analysis.Report
	People  bool // it is made of the ratings of people, and is not tested against them
}

func newJudge(name string) *Judge {
	return &Judge{Name: name, Reports: map[Output]*analysis.Report{}}
}

// add takes in a report on an output that has none yet.
func (j *Judge) add(o Output, r *analysis.Report) {
	j.Outputs, j.Reports[o] = append(j.Outputs, o), r
}

// marks says whether the judge reports any error.
func (j *Judge) marks() bool {
	for _, r := range j.Reports {
		if len(r.Errors) > 0 {
			return true
		}
	}
	return false
}

// ErrReferences says that a judge's reports on an output are of several references.
var ErrReferences = errors.New("reports of several references")

// Read makes a judge of each metric that has reports, in order of appearance;
// those of no metric are of the judge fallback, and those of raters of the judges
// that OfRaters makes. reference chooses among reports on the same output that are
// of several references; nil takes what there is.
func Read(rows iter.Seq2[*audit.Reported, error], fallback string, reference *int, each bool) ([]*Judge, error) {
	var all []*Judge
	var ratings []dataset.MQMRating
	rated := map[dataset.MQMRating]bool{}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		if row.ID == "" {
			return nil, errors.New("a report has no \"id\", so that it cannot be set beside that of another judge")
		}
		if reference != nil && row.Reference != nil && *row.Reference != *reference {
			continue
		}
		if row.Rater != "" {
			rating := dataset.MQMRating{ID: row.ID, System: row.System, Rater: row.Rater}
			switch {
			case !row.Report.Outcome.HasScore():
				return nil, fmt.Errorf("%s: the rating by %s has no score", row, row.Rater)
			case rated[rating]:
				return nil, fmt.Errorf("%s: %s has several ratings", row, row.Rater)
			}
			rated[rating], rating.Report = true, &row.Report
			ratings = append(ratings, rating)
			continue
		}
		name := cmp.Or(row.Metric, fallback)
		i := slices.IndexFunc(all, func(j *Judge) bool { return j.Name == name })
		if i < 0 {
			i, all = len(all), append(all, newJudge(name))
		}
		o := Output{row.ID, row.System}
		if all[i].Reports[o] != nil {
			if row.Reference != nil && reference == nil {
				return nil, fmt.Errorf("%s: %s has %w", row, name, ErrReferences)
			}
			return nil, fmt.Errorf(`%s: %s has several reports: set them apart by "metric", or by "rater" where people gave them`, row, name)
		}
		all[i].add(o, &row.Report)
	}
	if all = append(all, OfRaters(ratings, each)...); len(all) == 0 {
		return nil, fmt.Errorf("there is no report of reference %d (from 0)", *reference)
	}
	return all, nil
}

// People is the name of the judge that is made of all raters.
const People = "people"

// OfRaters makes a judge of the ratings of people: for each output the mean of
// their scores, with the errors of all of them. A span that several of them mark
// is there once, with the worst severity. each makes a judge of each rater.
func OfRaters(ratings []dataset.MQMRating, each bool) []*Judge {
	var all []*Judge
	byName := map[string]*Judge{}
	parts := map[Output][]*analysis.Report{}
	for _, r := range ratings {
		name, o := People, Output{r.ID, r.System}
		if each {
			name += "/" + r.Rater
		}
		j := byName[name]
		if j == nil {
			j = newJudge(name)
			j.People, byName[name], all = true, j, append(all, j)
		}
		if each {
			j.add(o, r.Report)
			continue
		}
		if parts[o] = append(parts[o], r.Report); len(parts[o]) == 1 {
			j.add(o, r.Report)
		}
	}
	for o, reports := range parts {
		all[0].Reports[o] = union(reports)
	}
	return all
}

// union makes one report of those of several raters.
func union(reports []*analysis.Report) *analysis.Report {
	out := &analysis.Report{}
	at := map[analysis.Span]int{}
	var scores []float64
	for _, r := range reports {
		scores = append(scores, *r.Score)
		for _, e := range r.Errors {
			i, known := at[e.Span]
			if !known || !e.Place.HasSpan() {
				if e.Place.HasSpan() {
					at[e.Span] = len(out.Errors)
				}
				out.Errors = append(out.Errors, e)
				continue
			}
			rank, _ := e.Severity.Rank()
			if than, _ := out.Errors[i].Severity.Rank(); rank > than {
				out.Errors[i] = e
			}
		}
	}
	outcome := analysis.Scored
	if len(out.Errors) == 0 {
		outcome = analysis.NoError
	}
	out.SetScore(outcome, exact.Mean(scores))
	return out
}

// Set is what a dataset says of the outputs.
type Set struct {
	Human      string // the name of the human scores; "" where there are none
	scores     map[Output]float64
	places     map[string]correlate.Place
	references map[Output]bool // those scored as systems
}

// ReadSet reads a dataset. human names the human scores to take: "" means the
// only ones, or mqm.
func ReadSet(ctx context.Context, ds refract.Dataset, human string) (*Set, error) {
	s := &Set{scores: map[Output]float64{}, places: map[string]correlate.Place{}, references: map[Output]bool{}}
	var names []string
	byName := map[string]map[Output]float64{}
	for seg, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		s.places[seg.ID] = correlate.Place{Segment: seg.ID, Document: seg.Document, Domain: seg.Domain}
		for _, h := range seg.Hypotheses {
			if h.Human {
				s.references[Output{seg.ID, h.System}] = true
			}
		}
		for _, j := range seg.Judgements {
			if byName[j.Name] == nil {
				names, byName[j.Name] = append(names, j.Name), map[Output]float64{}
			}
			if j.Valid {
				byName[j.Name][Output{seg.ID, j.System}] = j.Score
			}
		}
	}
	switch {
	case human != "":
		if byName[human] == nil {
			return nil, errors.New(suggest.Unknown("name of human scores", human, names))
		}
	case len(names) == 1:
		human = names[0]
	case slices.Contains(names, "mqm"):
		human = "mqm"
	}
	s.Human = human
	if human != "" {
		s.scores = byName[human]
	}
	return s, nil
}
