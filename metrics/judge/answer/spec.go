package answer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Kinds of answers.
const (
	Number        = "number"        // a number, such as "85" or "Score: 8.5/10" (GEMBA-DA, GEMBA-SQM)
	Stars         = "stars"         // one to five stars, such as "4", "four stars" or "★★★★☆"
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

const statedTotal = "stated" // a [Spec.Total]

// The forms of an error list in JSON.
const (
	// XGPTScore is {"errors": {"error_1": {"error_location", "error_aspect",
	// "explanation", "severity", "score_reduction"}, …}} (TIGERScore, table 15). A list
	// instead of the inner object is accepted as well. The score is −sum of the
	// reductions.
	XGPTScore = "xgptscore"
	// MQM is {"errors": [{"span", "category", "severity", "explanation"}, …]}.
	// The score is −sum of the severities' weights.
	MQM = "mqm"
)

// Spec describes the answers of a judge. The zero value of a field means its default. Fields
// that the kind does not use must be left out.
type Spec struct {
	Kind string `yaml:"kind"` // one of Kinds

	// Lower and Upper bound the score; an answer outside is unparseable. The default is 0
	// and 100 for number, 1 and 5 for stars, and none for json. Error lists have the upper
	// bound 0; their sum stops at Lower (at most 0, default none), as at −25 in GEMBA-MQM.
	Lower *float64 `yaml:"lower"`
	Upper *float64 `yaml:"upper"`
	// Integer refuses fractions (number, json, stars). Otherwise fractions are accepted,
	// also of stars.
	Integer bool `yaml:"integer"`
	// OutOf and Cut are no longer used. They stay because a judge's hash includes them.
	OutOf []float64 `yaml:"-"`
	// After is the mark before the number, in any case, such as "[RESULT]" in Prometheus
	// (number). If it occurs several times with different numbers, the answer is
	// unparseable.
	After string `yaml:"after" json:",omitempty"`

	// Path leads to the number (json) or to the list (errors, default "errors"). It is
	// names joined by dots.
	Path string `yaml:"path"`

	// Classes are the possible answers (classes).
	Classes []Class `yaml:"classes"`

	// Form sets the defaults of an error list (errors): XGPTScore or MQM.
	Form string `yaml:"form"`
	// Fields names the members of an error (errors); default as Form has them.
	Fields Fields `yaml:"fields"`
	// Weights are the penalties by severity (errors, instructscore, gemba): critical,
	// major, minor, each at least 0. The default for instructscore is major 5, minor 1;
	// critical, which its models do not use, counts as major. The default for MQM and
	// gemba is critical 25, major 5, minor 1 (GEMBA-MQM). An error list with weights
	// ignores penalties stated in the answer.
	Weights map[analysis.Severity]float64 `yaml:"weights"`
	// Except overrides the Weights for some aspects (errors).
	Except []analysis.Exception `yaml:"except" json:",omitempty"`
	Cut    bool                 `yaml:"-"`
	// Total selects the score (tigerscore): "stated" for minus the total that the answer
	// states, as in the released scorer, and "" for minus the sum of the penalties.
	Total string `yaml:"total" json:",omitempty"`
}

// Class is one possible answer of a classification.
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

// names returns the members' names by field.
func (f Fields) names() [fields]string {
	return [fields]string{fieldLocation: f.Location, fieldAspect: f.Aspect, fieldDimension: f.Dimension,
		fieldSeverity: f.Severity, fieldExplanation: f.Explanation, fieldPenalty: f.Penalty}
}

// Bounds returns the range of the scores. For error lists it is 0 for no error down to
// -Inf, unless Lower is set, because an answer may list more errors than its prompt asks for.
// A spec that New refuses has the bounds -Inf and +Inf.
func (s Spec) Bounds() (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	c, err := s.complete()
	if err != nil {
		return lower, upper
	}
	if c.Kind == Classes {
		byValue := func(a, b Class) int { return cmp.Compare(a.Value, b.Value) }
		return slices.MinFunc(c.Classes, byValue).Value, slices.MaxFunc(c.Classes, byValue).Value
	}
	if c.listsErrors() {
		upper = 0
	}
	if c.Kind == GEMBA {
		lower = -counted * slices.Max(slices.Collect(maps.Values(c.Weights)))
	}
	return *cmp.Or(c.Lower, &lower), *cmp.Or(c.Upper, &upper)
}

// Rules returns the limits that the prompt sets for penalties: 0.5 to 5 for TIGERScore and
// XGPTScore, the weights if there are any, and none for other kinds.
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

// complete checks the spec and fills in the defaults.
func (s Spec) complete() (Spec, error) {
	if !slices.Contains(Kinds(), s.Kind) {
		return s, fmt.Errorf("kind %q is not one of %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	if err := s.refuseForeign(); err != nil {
		return s, err
	}
	s, err := s.withDefaults()
	return s, cmp.Or(err, s.checkRange(), s.checkWeights())
}

// withDefaults fills in what the kind leaves out, and checks what only it has.
func (s Spec) withDefaults() (Spec, error) {
	switch s.Kind {
	case Number:
		if (s.Lower == nil) != (s.Upper == nil) {
			return s, s.wrong("lower", "and upper go together: set both or none")
		}
		s.Lower, s.Upper = cmp.Or(s.Lower, new(0.0)), cmp.Or(s.Upper, new(100.0))
	case Stars:
		s.Lower, s.Upper = new(1.0), new(5.0)
	case Classes:
		return s, s.checkClasses()
	case Errors:
		return s.completeErrors()
	case InstructScore:
		s.Weights = merged(map[analysis.Severity]float64{analysis.Major: 5, analysis.Minor: 1}, s.Weights)
		if _, ok := s.Weights[analysis.Critical]; !ok {
			s.Weights[analysis.Critical] = s.Weights[analysis.Major]
		}
	case TIGERScore:
		if s.Total != "" && s.Total != statedTotal {
			return s, s.wrong("total", "%q is not %s", s.Total, statedTotal)
		}
	case GEMBA:
		if s.Weights == nil {
			s.Weights = mqmWeights()
		}
	}
	return s, nil
}

// checkRange checks the path and the bounds.
func (s Spec) checkRange() error {
	lower, upper := *cmp.Or(s.Lower, new(math.Inf(-1))), *cmp.Or(s.Upper, new(math.Inf(1)))
	switch {
	case (s.Kind == JSON || s.Kind == Errors) && slices.Contains(strings.Split(s.Path, "."), ""):
		return s.wrong("path", "%q names no member: write the name, or names with dots between them", s.Path)
	case !(lower < upper), s.Lower != nil && !finite(lower), s.Upper != nil && !finite(upper):
		return s.wrong("lower", "%v is not a number below upper, %v", lower, upper)
	case s.listsErrors() && lower > 0:
		return s.wrong("lower", "%v is above 0, the score of an answer without errors", lower)
	}
	return nil
}

func (s Spec) listsErrors() bool {
	return slices.Contains([]string{Errors, TIGERScore, InstructScore, GEMBA}, s.Kind)
}

// refuseForeign returns an error for fields that the kind would ignore.
func (s Spec) refuseForeign() error {
	for _, f := range []struct {
		name  string
		set   bool
		kinds []string
	}{
		{"lower", s.Lower != nil, []string{Number, JSON, Errors, TIGERScore, InstructScore, GEMBA}},
		{"upper", s.Upper != nil, []string{Number, JSON}},
		{"integer", s.Integer, []string{Number, Stars, JSON}},
		{"after", s.After != "", []string{Number}},
		{"path", s.Path != "", []string{JSON, Errors}},
		{"classes", s.Classes != nil, []string{Classes}},
		{"form", s.Form != "", []string{Errors}},
		{"fields", s.Fields != Fields{}, []string{Errors}},
		{"weights", s.Weights != nil, []string{Errors, InstructScore, GEMBA}},
		{"except", s.Except != nil, []string{Errors}},
		{"total", s.Total != "", []string{TIGERScore}},
	} {
		if f.set && !slices.Contains(f.kinds, s.Kind) {
			return s.wrong(f.name, "is not a field of this kind, only of %s: leave it out", strings.Join(f.kinds, ", "))
		}
	}
	return nil
}

func (s Spec) checkClasses() error {
	if len(s.Classes) < 2 {
		return s.wrong("classes", "lists %d classes: give at least two, each with a name and a value", len(s.Classes))
	}
	seen := map[string]bool{"": true}
	for _, c := range s.Classes {
		key := className(c.Name)
		if seen[key] || !finite(c.Value) {
			return s.wrong("classes", "%q with the value %v: a name has a letter or digit and stands once (case, spaces and marks at the ends do not count), and a value is a number", c.Name, c.Value)
		}
		seen[key] = true
	}
	return nil
}

// forms are the members of an error by the form of its list.
var forms = map[string]Fields{
	"": {},
	XGPTScore: {Location: "error_location", Aspect: "error_aspect", Severity: "severity",
		Explanation: "explanation", Penalty: "score_reduction"},
	MQM: {Location: "span", Aspect: "category", Severity: "severity", Explanation: "explanation"},
}

func (s Spec) completeErrors() (Spec, error) {
	fields, known := forms[s.Form]
	if !known {
		return s, s.wrong("form", "%q is neither %s nor %s", s.Form, XGPTScore, MQM)
	}
	if s.Form == MQM {
		s.Weights = merged(mqmWeights(), s.Weights)
	}
	s.Fields = cmp.Or(s.Fields, fields)
	s.Path = cmp.Or(s.Path, "errors")
	switch {
	case s.Weights != nil && s.Fields.Severity == "":
		return s, s.wrong("fields", "has no severity, which weights need")
	case s.Weights == nil && s.Fields.Penalty == "":
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
	for severity, w := range s.Weights {
		if !slices.Contains(worstFirst, severity) || !finite(w) || w < 0 {
			return s.wrong("weights", "%q, %v: a severity is critical, major or minor, and a weight a number of at least 0", severity, w)
		}
	}
	return nil
}

// wrong returns an error about a field.
func (s Spec) wrong(field, format string, args ...any) error {
	return fmt.Errorf("%s of kind %s: "+format, append([]any{field, s.Kind}, args...)...)
}

// mqmWeights returns the weights of GEMBA-MQM.
func mqmWeights() map[analysis.Severity]float64 {
	return map[analysis.Severity]float64{analysis.Critical: 25, analysis.Major: 5, analysis.Minor: 1}
}

// merged returns the defaults with what is given instead.
func merged(defaults, given map[analysis.Severity]float64) map[analysis.Severity]float64 {
	maps.Copy(defaults, given)
	return defaults
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
