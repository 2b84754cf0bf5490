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
	"github.com/refract-eval/refract/internal/numeric"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/analysis"
)

// MQMRating is one rater's judgement of one output: its errors with their spans, and the
// score by the weights of Freitag et al. (TACL 2021).
type MQMRating struct {
	ID, System, Rater  string
	Document           string
	Source, Hypothesis string
	Report             *analysis.Report
	Pos                refract.Position // position of its first row
}

// ReadMQM reads the ratings of a dataset "mqm:FILE", in the order of their first rows.
// Other datasets have none.
func ReadMQM(spec string, warn func(Warning)) ([]MQMRating, error) {
	place, ok := strings.CutPrefix(spec, "mqm:")
	path, _, err := splitSpec(spec, place, nil, []string{"reference"})
	if !ok || err != nil {
		return nil, nil // opening it reports the error
	}
	f, err := readMarot(path, warnOnce(warn))
	if err != nil {
		return nil, err
	}
	var out []MQMRating
	for _, r := range f.ratings {
		out = append(out, MQMRating{ID: r.of.segment.id, System: r.of.system, Rater: r.rater, Document: r.of.segment.document,
			Source: r.of.segment.source.text, Hypothesis: r.of.text, Report: r.report(), Pos: r.pos})
	}
	return out, nil
}

// openMQM reads the ratings of Marot (google/wmt-mqm-human-evaluation) as judgements: a row
// is an error, or says that there is none. place is FILE[,reference=SYSTEM…].
func openMQM(place string, o Options) (*set, error) {
	path, options, err := splitSpec("dataset "+text.Quote("mqm:"+place), place, nil, []string{"reference"})
	if err != nil {
		return nil, err
	}
	return openHeld(path, o, func(warn func(Warning)) ([]*refract.Segment, error) {
		f, err := readMarot(path, warn)
		if err != nil {
			return nil, err
		}
		var named []string
		for _, o := range options {
			named = append(named, o.value)
		}
		return f.dataset(named, o.References)
	})
}

// byPeople matches the names of references in the released files: "ref", "refA", "ref-A",
// "ref.A", and "Human-A.0".
var byPeople = regexp.MustCompile(`(?i)^(?:ref|human)[-._]?([a-z]?)(?:\.0)?$`)

// dataset makes the segments. named are the systems that are references whatever their
// names; chosen are the ones to use as references.
func (f *marotFile) dataset(named, chosen []string) ([]*refract.Segment, error) {
	var systems, people []string
	for _, s := range f.segments {
		for _, out := range s.outputs {
			if slices.Contains(systems, out.system) {
				continue
			}
			systems = append(systems, out.system)
			if byPeople.MatchString(out.system) || slices.Contains(named, out.system) {
				people = append(people, out.system)
			}
		}
	}
	for _, name := range named {
		if !slices.Contains(systems, name) {
			return nil, failFile(f.path, "has no system %s%s to be a reference; it has %s", text.Quote(name), didYouMean(name, systems), quotedNames(systems))
		}
	}
	slices.Sort(people)
	standard := func(name string) bool {
		m := byPeople.FindStringSubmatch(name)
		return m != nil && (m[1] == "" || strings.EqualFold(m[1], "a"))
	}
	references, err := chooseReferences(f.path, "the file", people, cmp.Or(first(people, standard), "refA"), chosen)
	if err != nil {
		return nil, err
	}
	var all []*refract.Segment
	for _, s := range f.segments {
		all = append(all, s.segment(people, references))
	}
	return all, nil
}

// first returns the first name for which is holds, or "".
func first(names []string, is func(string) bool) string {
	if i := slices.IndexFunc(names, is); i >= 0 {
		return names[i]
	}
	return ""
}

// segment returns the segment with judgements averaged over raters, and their ratings.
func (s *marotSegment) segment(people, references []string) *refract.Segment {
	out := &refract.Segment{ID: s.id, Source: refract.NewText(s.source.text), Document: s.document, Pos: s.source.pos}
	out.References = make([]refract.Text, len(references))
	for _, o := range s.outputs {
		written := refract.NewText(o.text)
		if k := slices.Index(references, o.system); k >= 0 {
			out.References[k] = written
		}
		out.Hypotheses = append(out.Hypotheses, refract.Hypothesis{System: o.system, Text: written, Human: slices.Contains(people, o.system)})
		j := refract.Judgement{Name: "mqm", System: o.system}
		for _, r := range o.ratings {
			j.Ratings = append(j.Ratings, refract.Rating{Rater: r.rater, Score: r.score()})
		}
		average(&j)
		nameRaters(&j)
		out.Judgements = append(out.Judgements, j)
	}
	return out
}

// score is minus the sum of the errors' weights; 0 without errors.
func (r *marotRating) score() float64 {
	var sum numeric.Sum
	for i := range r.errors {
		sum.Add(mqmWeight(r.errors[i].category, r.errors[i].severity))
	}
	return 0 - sum.Value()
}

// report has an error for each row. The span of an error is in the output; an error marked
// only in the source has none.
func (r *marotRating) report() *analysis.Report {
	out := &analysis.Report{}
	for i := range r.errors {
		row := &r.errors[i]
		weight := mqmWeight(row.category, row.severity)
		e := analysis.Error{Aspect: row.category, Severity: analysis.Severity(row.severity), Explanation: row.comment, Penalty: &weight, Place: analysis.NotStated}
		if dimension, aspect, ok := strings.Cut(row.category, "/"); ok {
			e.Dimension, e.Aspect = dimension, aspect
		}
		switch {
		case len(row.target.spans) > 0:
			e.Location, e.Span, e.Place = row.target.quote(), row.target.hull(), analysis.InHypothesis
			if len(row.target.spans) > 1 {
				e.Place = analysis.Approximate // the span also covers the text between the marks
			}
		case len(row.source.spans) > 0:
			e.Location, e.Place = row.source.quote(), analysis.InSource
		}
		out.Errors = append(out.Errors, e)
	}
	outcome := analysis.Scored
	if len(r.errors) == 0 {
		outcome = analysis.NoError
	}
	out.SetScore(outcome, r.score())
	return out
}

// mqmWeight is 5 for a major error, 25 for a non-translation, 1 for a minor one, 0.1 for
// minor punctuation, and 0 otherwise.
func mqmWeight(category, severity string) float64 {
	category = strings.ToLower(category)
	is := func(name string) bool { return category == name || strings.HasPrefix(category, name+"/") }
	switch strings.ToLower(severity) {
	case "major":
		if is("non-translation!") {
			return 25
		}
		return 5
	case "minor":
		if is("fluency/punctuation") {
			return 0.1
		}
		return 1
	}
	return 0
}

// oddities counts the lines of a file that are read but are not as they should be, by what
// is wrong.
type oddities struct {
	said  []string
	lines map[string]*examples
}

func (d *oddities) add(say string, line int) {
	if d.lines == nil {
		d.lines = map[string]*examples{}
	}
	if d.lines[say] == nil {
		d.said, d.lines[say] = append(d.said, say), &examples{}
	}
	d.lines[say].add(strconv.Itoa(line))
}

func (d *oddities) report(path string, warn func(Warning)) {
	for _, say := range d.said {
		warn(Warning{refract.Position{File: path}, fmt.Sprintf("%s (line %s): %s", english.Count(d.lines[say].n, "row"), d.lines[say], say)})
	}
}
