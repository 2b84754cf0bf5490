// Package aggregate reduces the scores of one hypothesis against its references to one
// number, as equation 3 of Div-Ref does, and in related ways.
//
// Aggregators work on plain numbers. The caller's [Policy] says what happens if scores are
// missing, and every result counts the scores that were used and those that were missing.
//
// # The choice
//
// Scores of one output against its references are s1, …, sn. Div-Ref (Tang et al., 2024) takes
// their maximum: an output need resemble only one good answer. The mean asks it to resemble all of
// them; best:k=3 is between the two, and native leaves the combination to the metric, as BLEU
// clips its counts by all references at once.
// Names are literal: max is the largest number also where lower is better, and best goes by the
// metric's direction.
//
//	best:k=2 of 20, 60, missing, 40 = 50 from 3 scores, 1 missing
package aggregate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/numeric"
)

// Aggregator reduces scores over references. Parse creates one.
type Aggregator struct {
	name   string
	native bool
	single bool
	best   bool // a default "max", which For replaces by "min" if a lower score is better
	param  float64
	reduce reduction
}

// reduction may reorder the scores, which are never empty. sign is +1 if a higher score is
// better and -1 if a lower one is.
type reduction func(scores []float64, param, sign float64) float64

// The usual aggregators; Parse makes all others.
var (
	Max    = Must("max")
	Mean   = Must("mean")
	Single = Must("single") // the first reference alone
	Native = Must("native") // the metric's own rule for several references
)

// Name returns the canonical spec, such as "max" or "best:k=3", as signatures state
// it.
func (a Aggregator) Name() string { return a.name }

// Native reports whether the metric's own rule for several references is used instead
// of a reduction of its scores.
func (a Aggregator) Native() bool { return a.native }

// Single reports whether only the first reference counts.
func (a Aggregator) Single() bool { return a.single }

// Extreme returns 1 if the result is always the largest score, -1 if it is always the
// smallest, and 0 for all other aggregators.
func (a Aggregator) Extreme(higherIsBetter bool) int {
	switch {
	case a.name == "max", a.name == "best:k=1" && higherIsBetter:
		return 1
	case a.name == "min", a.name == "best:k=1":
		return -1
	}
	return 0
}

// For returns the aggregator to use for a metric: a "max" from Default becomes "min" if
// a lower score is better. Others are returned unchanged.
func (a Aggregator) For(higherIsBetter bool) Aggregator {
	if a.best && !higherIsBetter {
		return Must("min")
	}
	return a
}

// TakesWorst reports whether the aggregator is "max" although a lower score is better,
// so that it takes the worst score.
func (a Aggregator) TakesWorst(higherIsBetter bool) bool { return !higherIsBetter && a.name == "max" }

// Worst returns the note that the aggregator takes the worst score of a metric.
func (a Aggregator) Worst(metric string) string {
	return fmt.Sprintf("%s: lower is better, so %s takes the worst reference of each output; min takes the best", metric, a.name)
}

// Policy says what to do if some of the scores to reduce are missing.
type Policy uint8

// The policies.
const (
	Exclude   Policy = iota // reduce the others
	Propagate               // the result is missing, too
	Fail                    // return ErrMissing
)

var policies = []string{"exclude", "propagate", "fail"}

// ParsePolicy parses the name of a policy.
func ParsePolicy(s string) (Policy, error) {
	i, err := english.Index("policy for missing scores", s, policies)
	return Policy(i), err
}

// String returns the name that ParsePolicy parses.
func (p Policy) String() string { return policies[p] }

// ErrMissing is returned under the policy Fail.
var ErrMissing = errors.New("a score is missing")

// Result is an aggregated number with the counts behind it.
type Result struct {
	Value   float64 // meaningless unless OK
	OK      bool    // whether there is a number
	Used    int     // number of scores used
	Missing int     // number of scores missing
}

// Apply reduces scores. ok says which of them are present; nil means all. buf is memory
// to work in with at least len(scores) elements, or nil. For a native aggregator Apply
// returns an error.
func (a Aggregator) Apply(scores []float64, ok []bool, higherIsBetter bool, p Policy, buf []float64) (Result, error) {
	if a.native {
		return Result{}, fmt.Errorf("aggregator %s reduces no scores: the metric does it by its own rule", a.name)
	}
	if a.single && len(scores) > 1 {
		scores = scores[:1]
		if ok != nil {
			ok = ok[:1]
		}
	}
	buf = buf[:0]
	for i, s := range scores {
		if ok == nil || ok[i] {
			buf = append(buf, s)
		}
	}
	res := Result{Used: len(buf), Missing: len(scores) - len(buf)}
	if res.Missing > 0 && p == Fail {
		return res, ErrMissing
	}
	if len(buf) == 0 || res.Missing > 0 && p == Propagate {
		return res, nil
	}
	sign := -1.0
	if higherIsBetter {
		sign = 1
	}
	v := a.reduce(buf, a.param, sign)
	if math.IsNaN(v) {
		return res, fmt.Errorf("aggregator %s is not defined for the score %v", a.name, slices.Min(buf))
	}
	res.Value, res.OK = v, true
	return res, nil
}

// kind documents an aggregator and its parameter.
type kind struct {
	name, param, def, doc string
	want                  string // what is wrong with a parameter that is not valid
	valid                 func(float64) bool
	reduce                reduction // nil if the metric does it
}

var kinds = []kind{
	{name: "single", doc: "only the first reference", reduce: func(s []float64, _, _ float64) float64 { return s[0] }},
	{name: "max", doc: "the largest score", reduce: func(s []float64, _, _ float64) float64 { return slices.Max(s) }},
	{name: "mean", doc: "the arithmetic mean", reduce: func(s []float64, _, _ float64) float64 { return numeric.Mean(s) }},
	{name: "min", doc: "the smallest score", reduce: func(s []float64, _, _ float64) float64 { return slices.Min(s) }},
	{name: "median", doc: "the middle score, or the mean of the middle two", reduce: func(s []float64, _, _ float64) float64 { return Median(s) }},
	{name: "best", param: "k", def: "1", doc: "the mean of the k best scores, best by the metric's direction; of all where there are fewer",
		want:   fmt.Sprintf("k must be a whole number from 1 to %d", math.MaxInt32),
		valid:  func(k float64) bool { return k >= 1 && k == math.Trunc(k) && k <= math.MaxInt32 },
		reduce: meanBest},
	{name: "softmax", param: "t", def: "1", doc: "the mean weighted by exp(score/t), by the metric's direction; t is in units of the score",
		want:   "the temperature t must be positive",
		valid:  func(t float64) bool { return t > 0 && !math.IsInf(t, 0) },
		reduce: softmax},
	{name: "power", param: "p", def: "2", doc: "the power mean with exponent p; 0 is the geometric mean; for scores from 0",
		want:   "the exponent p must be finite",
		valid:  func(p float64) bool { return !math.IsNaN(p) && !math.IsInf(p, 0) },
		reduce: func(s []float64, p, _ float64) float64 { return powerMean(s, p) }},
	{name: "native", doc: "the metric's own rule for several references"},
}

// Names lists the aggregators.
func Names() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Doc describes an aggregator: its spec with the default parameter, and what it
// computes.
type Doc struct{ Spec, Text string }

// Docs describes all aggregators.
func Docs() []Doc {
	var docs []Doc
	for _, k := range kinds {
		spec := k.name
		if k.param != "" {
			spec += ":" + k.param + "=" + k.def
		}
		docs = append(docs, Doc{spec, k.doc})
	}
	return docs
}

// SpecError says what is wrong with the spec of an aggregator.
type SpecError struct {
	Spec string
	Err  error
}

func (e *SpecError) Error() string {
	if english.IsUnknown(e.Err, "aggregator") {
		return e.Err.Error()
	}
	return fmt.Sprintf("aggregator %q: %v", e.Spec, e.Err)
}

// Unwrap returns the cause.
func (e *SpecError) Unwrap() error { return e.Err }

// Parse creates the aggregator of a spec: "max", or with a parameter "best:k=3", for
// short "best:3". Its errors are of type *SpecError.
func Parse(spec string) (Aggregator, error) {
	name, rest, given := strings.Cut(spec, ":")
	switch name {
	case "average", "avg":
		name = "mean"
	case "maximum":
		name = "max"
	case "minimum":
		name = "min"
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return Aggregator{}, &SpecError{spec, english.Unknown("aggregator", name, Names())}
	}
	k := &kinds[i]
	a := Aggregator{name: name, single: name == "single", native: k.reduce == nil, reduce: k.reduce}
	if k.param == "" {
		if given {
			return Aggregator{}, &SpecError{spec, fmt.Errorf("%s takes no parameter", name)}
		}
		return a, nil
	}
	key, value, named := strings.Cut(rest, "=")
	switch {
	case !given:
		value = k.def
	case !named:
		value = rest
	case key != k.param:
		return Aggregator{}, &SpecError{spec, english.Unknown("parameter", key, []string{k.param})}
	}
	x, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return Aggregator{}, &SpecError{spec, fmt.Errorf("%s=%q is not a number", k.param, value)}
	case !k.valid(x):
		return Aggregator{}, &SpecError{spec, errors.New(k.want)}
	}
	a.param = x
	a.name = fmt.Sprintf("%s:%s=%s", name, k.param, strconv.FormatFloat(x, 'g', -1, 64))
	return a, nil
}

// Default creates the aggregators that a program uses if its user names none. Their
// "max" means the best score; see For.
func Default(specs ...string) []Aggregator {
	var out []Aggregator
	for _, spec := range specs {
		a := Must(spec)
		a.best = a.name == "max"
		out = append(out, a)
	}
	return out
}

// Must is Parse for a spec in a program's code; it panics on an error.
func Must(spec string) Aggregator {
	a, err := Parse(spec)
	if err != nil {
		panic(err)
	}
	return a
}
