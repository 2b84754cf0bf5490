package judge

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Policy says what an answer without a score counts as. The zero Policy leaves
// it out. The report of the cell tells in any case what the answer was.
//
// A blocked or missing answer is left out under every policy but fail: nothing
// was judged.
type Policy struct {
	kind  policyKind
	worst bool    // value is the metric's worst score
	value float64 // in place of the score
	retry int     // new samples, or more room where the answer was cut
}

type policyKind uint8

const (
	exclude policyKind = iota
	substitute
	retry
	fail
)

// DefaultRetries is how many new samples "retry" asks for.
const DefaultRetries = 2

const maxRetries = 20

// RetryTemperature is the least temperature at which a new sample is asked
// for: greedy decoding would give the same answer again.
const RetryTemperature = 0.7

// PolicyNames lists what ParsePolicy reads, but for numbers.
func PolicyNames() []string { return []string{"exclude", "zero", "worst", "retry", "fail"} }

// ParsePolicy reads a policy: exclude, zero (as papers count it), worst (the
// worst score that the metric has), a number to count in place of the score,
// retry or retry:N (up to N new samples, and twice the room for an answer that
// was cut; then excluded), or fail.
func ParsePolicy(s string) (Policy, error) {
	name, parameter, has := strings.Cut(s, ":")
	switch {
	case s == "exclude":
		return Policy{}, nil
	case s == "zero":
		return Policy{kind: substitute}, nil
	case s == "worst":
		return Policy{kind: substitute, worst: true}, nil
	case s == "fail":
		return Policy{kind: fail}, nil
	case name == "retry":
		n := DefaultRetries
		if has {
			var err error
			if n, err = strconv.Atoi(parameter); err != nil || n < 1 || n > maxRetries {
				return Policy{}, errors.New("retry takes a number of samples from 1 to " + strconv.Itoa(maxRetries) + ", such as retry:2")
			}
		}
		return Policy{kind: retry, retry: n}, nil
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 {
		return Policy{kind: substitute, value: v}, nil
	}
	return Policy{}, errors.New(suggest.Unknown("policy for unparseable answers", s, PolicyNames()) + "; or a number to count in their place")
}

// String returns the policy in the words that ParsePolicy reads.
func (p Policy) String() string {
	switch {
	case p.kind == retry:
		return "retry:" + strconv.Itoa(p.retry)
	case p.kind == fail:
		return "fail"
	case p.worst:
		return "worst"
	case p.kind == substitute && p.value == 0:
		return "zero"
	case p.kind == substitute:
		return strconv.FormatFloat(p.value, 'g', -1, 64)
	}
	return "exclude"
}

// Within sets what "worst" counts as, for a metric with these bounds. It is an
// error where that bound is infinite.
func (p Policy) Within(lower, upper float64, d metrics.Direction) (Policy, error) {
	if !p.worst {
		return p, nil
	}
	if p.value = lower; d == metrics.LowerIsBetter {
		p.value = upper
	}
	if math.IsInf(p.value, 0) {
		return p, errors.New("the judge has no worst score; state one as a number, such as -25")
	}
	return p, nil
}

// Counts returns the number that a report without a score counts as, if any.
// That of "worst" is known once Within has settled it.
func (p Policy) Counts(o analysis.Outcome) (float64, bool) {
	if p.kind == substitute && (o == analysis.Unparseable || o == analysis.Cut) {
		return p.value, true
	}
	return 0, false
}

// Fails reports whether an answer without a score is an error.
func (p Policy) Fails() bool { return p.kind == fail }

// Retries returns how many new samples are asked for.
func (p Policy) Retries() int { return p.retry }
