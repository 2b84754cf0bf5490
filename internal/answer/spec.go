package answer

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// The kinds of answers.
const (
	Number        = "number"        // a number, as in "85", "Score: 8.5/10" (GEMBA-DA, GEMBA-SQM)
	Stars         = "stars"         // one to five stars, as in "4", "four stars", "★★★★☆"
	Classes       = "classes"       // one of the names that Spec.Classes lists
	JSON          = "json"          // a JSON document with a number at Spec.Path
	Errors        = "errors"        // a JSON document with a list of errors (XGPTScore, MQM)
	TIGERScore    = "tigerscore"    // the numbered error analysis of the TIGERScore models
	InstructScore = "instructscore" // the numbered error analysis of the InstructScore models
	GEMBA         = "gemba"         // errors under the headings Critical, Major and Minor (GEMBA-MQM, GEMBA-ESA)
)

// Kinds lists the kinds of answers, in the order of the documentation.
func Kinds() []string {
	return []string{Number, Stars, Classes, JSON, Errors, TIGERScore, InstructScore, GEMBA}
}

// The forms of an error list in JSON.
const (
	// XGPTScore is {"errors": {"error_1": {"error_location", "error_aspect",
	// "explanation", "severity", "score_reduction"}, …}} (TIGERScore, table
	// 15); a list in place of the inner object is read as well. The score is
	// −sum of the reductions.
	XGPTScore = "xgptscore"
	// MQM is {"errors": [{"span", "category", "severity", "explanation"}, …]}.
	// The score is −sum of the severities' weights.
	MQM = "mqm"
)

// Spec describes the answers of a judge. The zero value of a field stands for
// its default; a field that the kind does not have must be left out.
type Spec struct {
	Kind string `yaml:"kind"` // one of Kinds

	// Lower and Upper bound the score; what lies outside is unparseable.
	// number: default 0 and 100. stars: default 1 and 5, whole numbers of at
	// least 1. json: default none. The error lists have an upper bound of 0,
	// and a Lower (at most 0, default none) is where their sum stops, as −25
	// in GEMBA-MQM.
	Lower *float64 `yaml:"lower"`
	Upper *float64 `yaml:"upper"`
	// Integer refuses fractions (number, json, stars). A fraction of stars is
	// read where it is stated.
	Integer bool `yaml:"integer"`
	// OutOf lists the denominators that may follow a number, as in "8.5/10" or
	// "8 out of 10" (number). Default: Upper. A number out of another
	// denominator d than Upper is scaled by Upper/d.
	OutOf []float64 `yaml:"out_of"`
	// After is what the number follows, whatever its case, as "[RESULT]" in
	// Prometheus (number). Where it stands several times with different numbers,
	// the answer is unparseable.
	After string `yaml:"after" json:",omitempty"`

	// Path leads to the number (json) or to the list (errors): names joined by
	// dots, and indexes in brackets counted from 0, as in "scores[0].value".
	// A name in brackets and double quotes may hold anything: ["a.b"]. errors:
	// default "errors".
	Path string `yaml:"path"`

	// Classes are the answers that count (classes).
	Classes []Class `yaml:"classes"`

	// Form sets the defaults of an error list (errors): XGPTScore or MQM.
	Form string `yaml:"form"`
	// Fields names the members of an error (errors). Default: those of Form.
	Fields Fields `yaml:"fields"`
	// Weights are the penalties by severity (errors, instructscore, gemba):
	// critical, major, minor, each at least 0. Default of instructscore: major 5,
	// minor 1; its critical, which the models do not use, is as major. Default of
	// MQM and gemba: critical 25, major 5, minor 1 (GEMBA-MQM). An error list
	// with weights ignores the penalties that the answer states.
	Weights map[analysis.Severity]float64 `yaml:"weights"`
	// Except are penalties of some aspects in place of the Weights (errors).
	Except []analysis.Exception `yaml:"except" json:",omitempty"`
	// Cut reads an answer that ends within its JSON as far as it goes (json,
	// errors), which is said in Report.Detail. By default it is unparseable,
	// for the errors that are missing would count as none.
	Cut bool `yaml:"cut"`
}

// Class is one answer of a classification.
type Class struct {
	Name  string  `yaml:"name"`
	Value float64 `yaml:"value"`
}

// Fields names the members of an error in a JSON list. A member that a list
// does not have is "".
type Fields struct {
	Location    string `yaml:"location"`
	Aspect      string `yaml:"aspect"`
	Dimension   string `yaml:"dimension"`
	Severity    string `yaml:"severity"`
	Explanation string `yaml:"explanation"`
	Penalty     string `yaml:"penalty"`
}

// names are the members' names by what they hold.
func (f Fields) names() [fields]string {
	return [fields]string{fieldLocation: f.Location, fieldAspect: f.Aspect, fieldDimension: f.Dimension,
		fieldSeverity: f.Severity, fieldExplanation: f.Explanation, fieldPenalty: f.Penalty}
}

// Bounds returns the range of the scores and whether an answer can attain its
// ends. No error is 0 for the error lists, which is attained; nothing limits
// how many errors a model states (an answer may hold more than its prompt asks
// for), so that their lower bound is -Inf unless Lower is set. A spec that New
// refuses has the bounds -Inf and +Inf, which are not attained.
func (s Spec) Bounds() (lower, upper float64, lowerAttained, upperAttained bool) {
	c, err := s.complete()
	if err != nil {
		return math.Inf(-1), math.Inf(1), false, false
	}
	switch c.Kind {
	case Classes:
		lower, upper = math.Inf(1), math.Inf(-1)
		for _, class := range c.Classes {
			lower, upper = min(lower, class.Value), max(upper, class.Value)
		}
		return lower, upper, true, true
	case Errors, TIGERScore, InstructScore, GEMBA:
		lower, lowerAttained = math.Inf(-1), c.Lower != nil
		if lowerAttained {
			lower = *c.Lower
		} else if c.Kind == GEMBA {
			lower, lowerAttained = -counted*slices.Max(slices.Collect(maps.Values(c.Weights))), true
		}
		return lower, 0, lowerAttained, true
	default:
		lower, upper = math.Inf(-1), math.Inf(1)
		if c.Lower != nil {
			lower, lowerAttained = *c.Lower, true
		}
		if c.Upper != nil {
			upper, upperAttained = *c.Upper, true
		}
		return lower, upper, lowerAttained, upperAttained
	}
}

// Rules returns what the prompt asks the penalties to keep to: a reduction of
// 0.5 to 5 for TIGERScore and XGPTScore, the weights where there are some, and
// nothing for the other kinds.
func (s Spec) Rules() analysis.Rules {
	c, err := s.complete()
	if err != nil {
		return analysis.Rules{}
	}
	switch {
	case c.Kind == TIGERScore, c.Kind == Errors && c.Form == XGPTScore && c.Weights == nil:
		return analysis.Rules{LowestPenalty: 0.5, HighestPenalty: 5}
	case c.Kind == Errors, c.Kind == InstructScore, c.Kind == GEMBA:
		return analysis.Rules{Weights: maps.Clone(c.Weights), Except: c.Except}
	}
	return analysis.Rules{}
}

// complete checks the spec and fills the defaults in.
func (s Spec) complete() (Spec, error) {
	if !slices.Contains(Kinds(), s.Kind) {
		return s, fmt.Errorf("kind %q is not one of %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	if err := s.refuseForeign(); err != nil {
		return s, err
	}
	for _, b := range []struct {
		name string
		at   *float64
	}{{"lower", s.Lower}, {"upper", s.Upper}} {
		if b.at != nil && !finite(*b.at) {
			return s, s.wrong(b.name, "%v is not a finite number", *b.at)
		}
	}
	var err error
	switch s.Kind {
	case Number:
		s, err = s.completeNumber()
	case Stars:
		s, err = s.completeStars()
	case Classes:
		err = s.checkClasses()
	case JSON:
		if s.Path == "" {
			err = s.wrong("path", "is missing: name the member that holds the score")
		}
	case Errors:
		s, err = s.completeErrors()
	case InstructScore:
		s.Weights = withDefaults(s.Weights, map[analysis.Severity]float64{analysis.Major: 5, analysis.Minor: 1})
		if _, ok := s.Weights[analysis.Critical]; !ok {
			s.Weights[analysis.Critical] = s.Weights[analysis.Major]
		}
	case GEMBA:
		if s.Weights == nil {
			s.Weights = mqmWeights()
		}
	}
	if err != nil {
		return s, err
	}
	if s.listsErrors() {
		if s.Lower != nil && *s.Lower > 0 {
			return s, s.wrong("lower", "%v is above 0, the score of an answer without errors", *s.Lower)
		}
		return s, s.checkWeights()
	}
	if s.Lower != nil && s.Upper != nil && *s.Lower >= *s.Upper {
		return s, s.wrong("lower", "%v is not below upper, %v", *s.Lower, *s.Upper)
	}
	return s, nil
}

func (s Spec) listsErrors() bool {
	return s.Kind == Errors || s.Kind == TIGERScore || s.Kind == InstructScore || s.Kind == GEMBA
}

// refuseForeign refuses fields that the kind would ignore.
func (s Spec) refuseForeign() error {
	fields := []struct {
		name  string
		set   bool
		kinds []string
	}{
		{"lower", s.Lower != nil, []string{Number, Stars, JSON, Errors, TIGERScore, InstructScore, GEMBA}},
		{"upper", s.Upper != nil, []string{Number, Stars, JSON}},
		{"integer", s.Integer, []string{Number, Stars, JSON}},
		{"out_of", s.OutOf != nil, []string{Number}},
		{"after", s.After != "", []string{Number}},
		{"path", s.Path != "", []string{JSON, Errors}},
		{"classes", s.Classes != nil, []string{Classes}},
		{"form", s.Form != "", []string{Errors}},
		{"fields", s.Fields != Fields{}, []string{Errors}},
		{"weights", s.Weights != nil, []string{Errors, InstructScore, GEMBA}},
		{"except", s.Except != nil, []string{Errors}},
		{"cut", s.Cut, []string{JSON, Errors}},
	}
	for _, f := range fields {
		if f.set && !slices.Contains(f.kinds, s.Kind) {
			return s.wrong(f.name, "is not a field of this kind, only of %s: leave it out", strings.Join(f.kinds, ", "))
		}
	}
	return nil
}

func (s Spec) completeNumber() (Spec, error) {
	if s.Lower == nil && s.Upper == nil {
		lower, upper := 0.0, 100.0
		s.Lower, s.Upper = &lower, &upper
	}
	if s.Lower == nil || s.Upper == nil {
		return s, s.wrong("lower", "and upper go together: set both or none")
	}
	for _, d := range s.OutOf {
		if !finite(d) || d <= 0 {
			return s, s.wrong("out_of", "%v is not a number above 0", d)
		}
	}
	if s.OutOf == nil && *s.Upper > 0 {
		s.OutOf = []float64{*s.Upper}
	}
	return s, nil
}

// mostStars keeps a number of stars countable at a glance, and its words few.
const mostStars = 10

func (s Spec) completeStars() (Spec, error) {
	lower, upper := 1.0, 5.0
	if s.Lower == nil {
		s.Lower = &lower
	}
	if s.Upper == nil {
		s.Upper = &upper
	}
	if *s.Lower < 0 || *s.Lower != math.Trunc(*s.Lower) {
		return s, s.wrong("lower", "%v is not a whole number of stars", *s.Lower)
	}
	if *s.Upper > mostStars || *s.Upper != math.Trunc(*s.Upper) {
		return s, s.wrong("upper", "%v is not a whole number of stars up to %d", *s.Upper, mostStars)
	}
	return s, nil
}

func (s Spec) checkClasses() error {
	if len(s.Classes) < 2 {
		return s.wrong("classes", "lists %d classes: give at least two, each with a name and a value", len(s.Classes))
	}
	seen := map[string]bool{}
	for _, c := range s.Classes {
		key := classKey(c.Name)
		switch {
		case key == "":
			return s.wrong("classes", "has a name without a letter or digit: %q", c.Name)
		case seen[key]:
			return s.wrong("classes", "has the name %q twice (case, spaces and marks at the ends do not count)", c.Name)
		case !finite(c.Value):
			return s.wrong("classes", "%q has the value %v, which is not a finite number", c.Name, c.Value)
		}
		seen[key] = true
	}
	return nil
}

func (s Spec) completeErrors() (Spec, error) {
	var fields Fields
	switch s.Form {
	case XGPTScore:
		fields = Fields{Location: "error_location", Aspect: "error_aspect", Severity: "severity",
			Explanation: "explanation", Penalty: "score_reduction"}
	case MQM:
		fields = Fields{Location: "span", Aspect: "category", Severity: "severity", Explanation: "explanation"}
		s.Weights = withDefaults(s.Weights, mqmWeights())
	case "":
	default:
		return s, s.wrong("form", "%q is neither %s nor %s", s.Form, XGPTScore, MQM)
	}
	if s.Fields == (Fields{}) {
		s.Fields = fields
	}
	if s.Path == "" {
		s.Path = "errors"
	}
	if s.Weights != nil {
		if s.Fields.Severity == "" {
			return s, s.wrong("fields", "has no severity, which weights need")
		}
		return s, nil
	}
	if s.Fields.Penalty == "" {
		return s, s.wrong("fields", "has no penalty: name the member that holds it, or set weights or form")
	}
	return s, nil
}

func (s Spec) checkWeights() error {
	if s.Weights != nil && len(s.Weights) == 0 {
		return s.wrong("weights", "is empty")
	}
	for _, x := range s.Except {
		if _, weighted := s.Weights[x.Severity]; !weighted || x.Aspect == "" || !finite(x.Weight) || x.Weight < 0 {
			return s.wrong("except", "%+v needs a severity that has a weight, an aspect, and a weight of at least 0", x)
		}
	}
	for _, severity := range slices.Sorted(maps.Keys(s.Weights)) {
		switch severity {
		case analysis.Critical, analysis.Major, analysis.Minor:
		default:
			return s.wrong("weights", "%q is not a severity: critical, major or minor", severity)
		}
		if w := s.Weights[severity]; !finite(w) || w < 0 {
			return s.wrong("weights", "%v for %s is not a number of at least 0", w, severity)
		}
	}
	return nil
}

// wrong is the error for one field.
func (s Spec) wrong(field, format string, args ...any) error {
	return errors.New(field + " of kind " + s.Kind + ": " + fmt.Sprintf(format, args...))
}

// mqmWeights are those of GEMBA-MQM.
func mqmWeights() map[analysis.Severity]float64 {
	return map[analysis.Severity]float64{analysis.Critical: 25, analysis.Major: 5, analysis.Minor: 1}
}

func withDefaults(given, defaults map[analysis.Severity]float64) map[analysis.Severity]float64 {
	all := maps.Clone(defaults)
	maps.Copy(all, given)
	return all
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
