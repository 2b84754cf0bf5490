package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Spans compares the errors that judges mark in outputs with those that people marked there.
type Spans struct {
	people map[[2]string][]*dataset.MQMRating // by segment and system
	judges []*marking                         // in order of appearance
}

// marking compares one judge with people. Every rating of an output counts.
type marking struct {
	judge      string
	seen       map[[2]string]bool
	counts     []analysis.SpanCounts
	places     []correlate.Place // of counts
	unanswered int               // rated outputs for which the judge's answer has no score
	errors     [2]int            // of people and of the judge, in the outputs compared
	left       [2]int            // of these, without a span in the output or without a severity
}

// people names the comparison of people with each other.
const people = "people, each with another"

// NewSpans returns a comparison with these ratings, which already has the people who rated
// the same outputs, if there are any.
func NewSpans(ratings []dataset.MQMRating) *Spans {
	s := &Spans{people: map[[2]string][]*dataset.MQMRating{}}
	for i := range ratings {
		r := &ratings[i]
		s.people[[2]string{r.ID, r.System}] = append(s.people[[2]string{r.ID, r.System}], r)
	}
	for i := range ratings {
		r := &ratings[i]
		for _, other := range s.people[[2]string{r.ID, r.System}] {
			if other != r {
				s.of(people).compare(other, r.Report.Errors)
			}
		}
	}
	return s
}

func (s *Spans) of(judge string) *marking {
	for _, m := range s.judges {
		if m.judge == judge {
			return m
		}
	}
	m := &marking{judge: judge, seen: map[[2]string]bool{}}
	s.judges = append(s.judges, m)
	return m
}

// Add compares a judge's report on an output; of reports against several references only the
// first.
func (s *Spans) Add(at *Place, r *analysis.Report) error {
	if at.Reference != nil && *at.Reference > 0 {
		return nil
	}
	m, output := s.of(at.Metric), [2]string{at.ID, at.System}
	if m.seen[output] {
		return fmt.Errorf("%s: segment %q, system %q has two reports", at.Metric, at.ID, at.System)
	}
	m.seen[output] = true
	ratings := s.people[output]
	switch {
	case len(ratings) == 0:
		return fmt.Errorf("%s: nobody rated segment %q, system %q", at.Metric, at.ID, at.System)
	case !r.Outcome.HasScore(): // no answer is not an answer without errors
		m.unanswered++
		return nil
	}
	length := utf8.RuneCountInString(ratings[0].Hypothesis)
	for i, e := range r.Errors {
		if e.Span.Start < 0 || e.Span.End < e.Span.Start || e.Span.End > length {
			return fmt.Errorf("%s: segment %q, system %q: error %d is at characters %d to %d of an output of %d: the report is on another text", at.Metric, at.ID, at.System, i+1, e.Span.Start, e.Span.End, length)
		}
	}
	for _, rating := range ratings {
		m.compare(rating, r.Errors)
	}
	return nil
}

func (m *marking) compare(r *dataset.MQMRating, claimed []analysis.Error) {
	m.counts = append(m.counts, analysis.CountSpans(utf8.RuneCountInString(r.Hypothesis), r.Report.Errors, claimed))
	m.places = append(m.places, correlate.Place{Segment: r.ID, Document: r.Document})
	for i, of := range [][]analysis.Error{r.Report.Errors, claimed} {
		m.errors[i] += len(of)
		for k := range of {
			if !of[k].Counts() {
				m.left[i]++
			}
		}
	}
}

// Read adds the reports of a file, as [Reports.Add] and [Reading.Copy] write them.
func (s *Spans) Read(judge, name string, in io.Reader) error {
	for l, err := range jsonline.Lines(in, mostLine) {
		if err == nil {
			err = s.addLine(judge, l.Text)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, l.Number, err)
		}
	}
	return nil
}

func (s *Spans) addLine(judge string, text []byte) error {
	var row struct {
		ID, System, Segment json.RawMessage
		Reference           *int
		Errors              *json.RawMessage
	}
	if err := json.Unmarshal(text, &row); err != nil {
		return explainJSON(err)
	}
	if row.Errors == nil {
		return errors.New("the row has no \"errors\"; 'refract parse' and 'refract score --reports' write reports with error spans")
	}
	r := &analysis.Report{}
	err := json.Unmarshal(text, r)
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		err = fmt.Errorf("%q is a JSON %s, which it is in no report; spans are [start, end], in characters of the output", kind.Field, kind.Value)
	}
	if err != nil {
		return err
	}
	return s.Add(&Place{ID: cmp.Or(label(row.ID), label(row.Segment)), System: label(row.System), Metric: judge, Reference: row.Reference}, r)
}

// Table shows precision, recall and F1 of each judge over all outputs, with intervals, and
// the mean of the outputs' F1.
func (s *Spans) Table(ctx context.Context, b experiment.Bootstrap) (*report.NamedTable, error) {
	t := &report.NamedTable{Name: "spans", Title: "Error spans of judges against those of people", Columns: []report.Column{{Name: "judge"}}}
	for _, name := range []string{"precision", "recall", "F1"} {
		t.Columns = append(t.Columns, report.Column{Name: strings.ToLower(name), Header: name, Kind: report.KindFloat, Digits: 3},
			report.Column{Name: strings.ToLower(name) + "_ci", Header: "ci", Kind: report.KindInterval, Digits: 3, Hide: name != "F1"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "mean_f1", Header: "mean F1", Kind: report.KindFloat, Digits: 3})
	for _, c := range [][2]string{{"ratings"}, {"unanswered"}, {"errors"}, {"not_counted", "lost"}, {"human_errors", "people’s"}, {"human_not_counted", "lost"}} {
		t.Columns = append(t.Columns, report.Column{Name: c[0], Header: c[1], Kind: report.KindInt})
	}
	t.Columns = append(t.Columns, report.Column{Name: "resampled_by", Hide: true})
	for _, m := range s.judges {
		by, units, err := b.UnitsOf(m.places)
		if err != nil {
			return nil, err
		}
		if units == nil { // a segment has several ratings
			segments := map[string]int32{}
			for _, at := range m.places {
				u, known := segments[at.Segment]
				if !known {
					u = int32(len(segments))
					segments[at.Segment] = u
				}
				units = append(units, u)
			}
		}
		row, sums, mean := []any{m.judge}, make([][]float64, len(m.counts)), 0.0
		for i, c := range m.counts {
			sums[i] = c.Sums()
			mean += c.F1() / float64(len(m.counts))
		}
		for _, of := range []func(analysis.SpanCounts) float64{analysis.SpanCounts.Precision, analysis.SpanCounts.Recall, analysis.SpanCounts.F1} {
			value, drawn, err := correlate.Bootstrap{Resamples: b.Resamples, Seed: b.Seed, Units: units}.OfSums(ctx, sums, func(s []float64) float64 {
				return of(analysis.SpanCounts{Agreed: s[0], Marked: s[1], Claimed: s[2]})
			})
			if err != nil {
				return nil, err
			}
			iv := drawn.Interval(b.Confidence)
			row = append(row, value, report.Interval(iv.Low, iv.High))
		}
		t.Add(append(row, mean, len(m.counts), m.unanswered, m.errors[1], m.left[1], m.errors[0], m.left[0], by)...)
	}
	t.Note("characters, by WMT25's rule: the right place with another severity counts half; mean F1: of single outputs; lost: errors without a place in the output or a severity, which count nothing")
	if !slices.ContainsFunc(s.judges, func(m *marking) bool { return m.judge != people }) {
		t.Note("no judge: take -m JUDGE, or --scores NAME=FILE.jsonl with reports that 'refract parse' wrote")
	}
	return t, nil
}
