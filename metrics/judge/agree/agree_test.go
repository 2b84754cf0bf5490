package agree_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/dataset"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/agree"
	"github.com/refract-eval/refract/metrics/judge/audit"
)

func read(t *testing.T, rows string, reference *int) ([]*agree.Judge, error) {
	t.Helper()
	return agree.Read(audit.ReadReports("r.jsonl", strings.NewReader(rows)), "file", reference, true)
}

// report is a row; score may be null, and severity is that of the one error.
func report(id, metric, reference, score string) string {
	status := "scored"
	if score == "null" {
		status = "unparseable"
	}
	return fmt.Sprintf(`{"id":%q,"system":"a","metric":%q,"reference":%s,"status":%q,"score":%s,"errors":[{"location":"x","place":"hypothesis","span":[1,3],"severity":"major"}]}`+"\n",
		id, metric, reference, status, score)
}

// rating is a row by a rater.
func rating(id, rater, score string) string {
	return strings.Replace(report(id, "mqm", "null", score), `"system"`, fmt.Sprintf(`"rater":%q,"system"`, rater), 1)
}

func TestRead(t *testing.T) {
	judges, err := read(t, report("1", "m", "0", "-1")+report("1", "", "null", "-2")+report("2", "m", "0", "null"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range judges {
		for _, o := range j.Outputs {
			got = append(got, fmt.Sprint(j.Name, o, j.Reports[o].Outcome))
		}
	}
	if d := cmp.Diff([]string{"m{1 a}scored", "m{2 a}unparseable", "file{1 a}scored"}, got); d != "" {
		t.Error(d)
	}

	several := report("1", "m", "0", "-1") + report("1", "m", "1", "-5")
	if _, err := read(t, several, nil); !errors.Is(err, agree.ErrReferences) {
		t.Errorf("several references: %v", err)
	}
	if judges, err = read(t, several, new(1)); err != nil || *judges[0].Reports[agree.Output{ID: "1", System: "a"}].Score != -5 {
		t.Errorf("reference 1: %v, %v", judges, err)
	}
	for rows, want := range map[string]string{
		report("1", "m", "null", "-1") + report("1", "m", "null", "-1"):          `segment "1", system "a": m has several reports`,
		rating("1", "r", "-1") + rating("2", "r", "-1") + rating("1", "r", "-2"): `segment "1", system "a": r has several ratings`,
		rating("1", "r", "null"):      `segment "1", system "a": the rating by r has no score`,
		report("", "m", "null", "-1"): `a report has no "id"`,
	} {
		if _, err := read(t, rows, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := read(t, several, new(7)); err == nil || !strings.Contains(err.Error(), "no report of reference 7") {
		t.Error(err)
	}
}

// The raters together have the mean of their scores, as the dataset has it, and a
// span once, with the worst severity.
func TestOfRaters(t *testing.T) {
	rating := func(rater string, score float64, errs ...analysis.Error) dataset.MQMRating {
		r := &analysis.Report{Errors: errs}
		r.SetScore(analysis.Scored, score)
		return dataset.MQMRating{ID: "1", System: "a", Rater: rater, Report: r}
	}
	at := func(start, end int, s analysis.Severity) analysis.Error {
		return analysis.Error{Place: analysis.InHypothesis, Span: analysis.Span{Start: start, End: end}, Severity: s}
	}
	omission := analysis.Error{Place: analysis.InSource, Severity: analysis.Major}
	ratings := []dataset.MQMRating{
		rating("r1", -6, at(0, 2, analysis.Minor), omission),
		rating("r2", -5, at(0, 2, analysis.Major), at(4, 6, analysis.Minor), omission),
	}
	one := agree.OfRaters(ratings, false)
	if len(one) != 1 || one[0].Name != agree.People || !one[0].People {
		t.Fatalf("%+v", one)
	}
	r := one[0].Reports[one[0].Outputs[0]]
	if *r.Score != -5.5 {
		t.Errorf("score %v", *r.Score)
	}
	if d := cmp.Diff([]analysis.Error{at(0, 2, analysis.Major), omission, at(4, 6, analysis.Minor), omission}, r.Errors); d != "" {
		t.Error(d)
	}
	each := agree.OfRaters(ratings, true)
	if len(each) != 2 || each[1].Name != "people/r2" || len(each[0].Reports[each[0].Outputs[0]].Errors) != 2 {
		t.Errorf("%+v", each)
	}
}

// What has no score is counted, and in no number.
func TestPairs(t *testing.T) {
	judges, err := read(t, report("1", "m", "null", "-1")+report("2", "m", "null", "-2")+report("3", "m", "null", "-3")+report("4", "m", "null", "null")+report("5", "m", "null", "-9")+
		report("1", "n", "null", "-2")+report("2", "n", "null", "-4")+report("3", "n", "null", "-9")+report("4", "n", "null", "0")+report("6", "n", "null", "-9"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &agree.Comparison{Judges: judges, Resamples: 50, Confidence: 0.95}
	res, err := c.Pairs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := res.Pairs[0]
	if p.Outputs != 3 || p.Unscored != 1 || p.Alone != 2 || res.By != correlate.SegmentLevel {
		t.Errorf("%+v, by %v", p, res.By)
	}
	// Scores (−1, −2), (−2, −4), (−3, −9): the covariance is 7, the squares 2 and 26.
	if want := 7 / math.Sqrt(52); math.Abs(p.Pearson.Value-want) > 1e-12 || p.Kendall.Value != 1 {
		t.Errorf("pearson %v, want %v; kendall %v", p.Pearson.Value, want, p.Kendall.Value)
	}
	// Of 1 2 2 3 4 9: observed (1 + 4 + 36)·2/6, expected 2·(6·115 − 21²)/(6·5).
	if want := 1 - 82.0/6/(2*249.0/30); math.Abs(p.Alpha.Value-want) > 1e-12 {
		t.Errorf("alpha %v, want %v", p.Alpha.Value, want)
	}
	if p.Exact.Value != 1 || p.Exact.Low != 1 || p.Spans.Exact.Of != [2]int{3, 3} {
		t.Errorf("exact %+v of %v", p.Exact, p.Spans.Exact.Of)
	}
	again, err := c.Pairs(t.Context())
	if err != nil || again.Pairs[0].Alpha != p.Alpha || !(p.Alpha.Low <= p.Alpha.Value && p.Alpha.Value <= p.Alpha.High) {
		t.Errorf("%v, then %+v, %v", p.Alpha, again.Pairs[0].Alpha, err)
	}

	apart, err := read(t, report("1", "m", "null", "-1")+report("2", "n", "null", "-2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&agree.Comparison{Judges: apart}).Pairs(t.Context()); err == nil || !strings.Contains(err.Error(), "no two judges") {
		t.Error(err)
	}
}
