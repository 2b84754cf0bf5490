package analysis

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/internal/english"
)

// codes are the codes of Check, in the order of its problems, with the failure modes in
// table 2 of InstructScore's paper that they match.
var codes = []string{
	codeCount,       // the stated number of errors differs from the number of items
	codeTotal,       // the stated total is not the sum of the penalties
	codeLocation,    // M3: the location occurs nowhere in the output
	codeExplanation, // M4: the explanation quotes words as the output's that the output does not have
	codeRepeated,    // G2: the same error as an earlier one
	codeCorrection,  // G1: the output already has the suggested correction
	codePenalty,     // the penalty is out of the range given to the judge
	codeSeverity,    // the penalty contradicts the severity
}

const (
	codeCount, codeTotal, codeLocation, codeExplanation     = "count", "total", "location", "explanation"
	codeRepeated, codeCorrection, codePenalty, codeSeverity = "repeated", "correction", "penalty", "severity"
)

// Rules is what a judge was told about penalties. The zero value has no rule.
type Rules struct {
	// LowestPenalty and HighestPenalty are the range of a penalty. If both are 0, there is no
	// range.
	LowestPenalty, HighestPenalty float64
	// Weights are the penalties that go with the severities.
	Weights map[Severity]float64
	// Except overrides Weights for some aspects.
	Except []Exception
}

// Exception is the weight of errors of a severity whose aspect contains a text, ignoring
// case.
type Exception struct {
	Severity Severity `yaml:"severity"`
	Aspect   string   `yaml:"aspect"`
	Weight   float64  `yaml:"weight"`
}

// Weight returns the penalty for an error, if the rules have one.
func (r Rules) Weight(e *Error) (float64, bool) {
	for _, x := range r.Except {
		if x.Severity == e.Severity && strings.Contains(strings.ToLower(e.Aspect), strings.ToLower(x.Aspect)) {
			return x.Weight, true
		}
	}
	w, ok := r.Weights[e.Severity]
	return w, ok
}

// tolerance allows for rounding in sums of decimal fractions.
const tolerance = 1e-6

// Check sets the Problems of a report after Locate: where it contradicts itself, the rules
// or the texts. It asks no model, so it finds only what the texts show, and does not report
// doubtful cases. For Unlocated errors it checks only the numbers. A report without a score
// has no problems.
func (r *Report) Check(t Texts, rules Rules) {
	r.Problems = nil
	if !r.Outcome.HasScore() {
		return
	}
	if r.StatedErrors != nil && *r.StatedErrors != len(r.Errors) {
		r.problem(codeCount, -1, "the answer states %s, and lists %d", english.Count(*r.StatedErrors, "error"), len(r.Errors))
	}
	sum, known := 0.0, true
	for i := range r.Errors {
		if p := r.Errors[i].Penalty; p == nil {
			known = false
		} else {
			sum += *p
		}
	}
	if known && r.StatedTotal != nil && !(math.Abs(*r.StatedTotal-sum) <= tolerance) {
		r.problem(codeTotal, -1, "a total of %s is stated, the penalties sum to %s", shortest(*r.StatedTotal), shortest(sum))
	}
	r.checkTexts(t)
	r.checkRepeated()
	r.checkPenalties(rules)
	r.sortProblems()
}

// problem adds a problem of error i, or of the whole report if i is -1.
func (r *Report) problem(code string, i int, format string, args ...any) {
	p := Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
	if i >= 0 {
		p.Error = &i
	}
	r.Problems = append(r.Problems, p)
}

// sortProblems sorts the problems by error, those of the whole report first, and within an
// error by code.
func (r *Report) sortProblems() {
	whole := new(-1)
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(*cmp.Or(a.Error, whole), *cmp.Or(b.Error, whole)), cmp.Compare(slices.Index(codes, a.Code), slices.Index(codes, b.Code)))
	})
}

// checkRepeated finds errors reported before: the same location with the same type or the
// same explanation. The same place may have two different errors.
func (r *Report) checkRepeated() {
	type key struct{ what, location, with string }
	first := map[key]int{}
	for i := range r.Errors {
		e := &r.Errors[i]
		location := string(bytes.TrimFunc(foldPhrase(e.Location), unicode.IsPunct))
		if location == "" || e.Place == NotStated {
			continue
		}
		repeats := false
		for _, k := range []key{{"type", location, string(foldPhrase(e.Aspect))}, {"explanation", location, string(foldPhrase(e.Explanation))}} {
			if k.with == "" {
				continue
			}
			if earlier, again := first[k]; !again {
				first[k] = i
			} else if !repeats {
				r.problem(codeRepeated, i, "the location and %s of error %d again", k.what, earlier+1)
				repeats = true
			}
		}
	}
}

// checkPenalties compares penalties with the rules, with the severities, and with each
// other: no minor error may cost more than a major one of the same report.
func (r *Report) checkPenalties(rules Rules) {
	ranged := rules.LowestPenalty != 0 || rules.HighestPenalty != 0
	least := map[Severity]float64{} // smallest penalty by severity
	for _, e := range r.Errors {
		if p, ok := least[e.Severity]; e.Penalty != nil && (!ok || *e.Penalty < p) {
			least[e.Severity] = *e.Penalty
		}
	}
	for i := range r.Errors {
		e := &r.Errors[i]
		if e.Penalty == nil {
			continue
		}
		penalty := *e.Penalty
		switch {
		case !(penalty >= 0):
			r.problem(codePenalty, i, "the penalty %s is not a number of at least 0", shortest(penalty))
		case ranged && !(penalty >= rules.LowestPenalty-tolerance && penalty <= rules.HighestPenalty+tolerance):
			r.problem(codePenalty, i, "the penalty %s is not within %s and %s",
				shortest(penalty), shortest(rules.LowestPenalty), shortest(rules.HighestPenalty))
		}
		if w, ok := rules.Weight(e); ok {
			if !(math.Abs(penalty-w) <= tolerance) {
				r.problem(codeSeverity, i, "a %s error costs %s, not %s", e.Severity, shortest(w), shortest(penalty))
			}
			continue
		}
		severities := []Severity{Minor, Major, Critical}
		rank := slices.Index(severities, e.Severity)
		if rank < 0 {
			continue
		}
		for _, worse := range severities[rank+1:] {
			if p, ok := least[worse]; ok && penalty > p+tolerance {
				r.problem(codeSeverity, i, "a %s error of this report costs %s, more than a %s one (%s)",
					e.Severity, shortest(penalty), worse, shortest(p))
				break
			}
		}
	}
}

func shortest(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
