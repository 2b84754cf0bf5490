package judge

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Policy says what an answer without a score counts as. The zero Policy leaves it out.
// Either way the cell's report says what the answer was.
//
// A blocked or missing answer is left out under every policy except fail, because nothing
// was judged.
type Policy struct {
	value *float64 // instead of the score
	retry int      // number of new samples, or of doublings of the token limit for truncated answers
	fail  bool
}

const (
	defaultRetries = 2 // new samples that "retry" asks for
	maxRetries     = 20
	// retryTemperature is the minimum temperature for a new sample: greedy decoding would give
	// the same answer again.
	retryTemperature = 0.7
)

// PolicyNames lists the words that ParsePolicy reads.
func PolicyNames() []string { return []string{"exclude", "zero", "retry", "fail"} }

// ParsePolicy reads a policy: exclude, zero (as papers count it), a number to count instead
// of the score, retry or retry:N, or fail. retry:N asks for up to N new samples, and
// doubles the token limit for a truncated answer; an answer still without a score is
// excluded.
func ParsePolicy(s string) (Policy, error) {
	switch parameter, retry := strings.CutPrefix(s, "retry"); {
	case s == "exclude":
		return Policy{}, nil
	case s == "zero":
		return Policy{value: new(0.0)}, nil
	case s == "fail":
		return Policy{fail: true}, nil
	case s == "retry":
		return Policy{retry: defaultRetries}, nil
	case retry:
		n, err := strconv.Atoi(strings.TrimPrefix(parameter, ":"))
		if err != nil || n < 1 || n > maxRetries {
			return Policy{}, errors.New("retry takes a number of samples from 1 to " + strconv.Itoa(maxRetries) + ", such as retry:2")
		}
		return Policy{retry: n}, nil
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 {
		return Policy{value: &v}, nil
	}
	return Policy{}, fmt.Errorf("%w; or a number to count in their place", english.Unknown("policy for unparseable answers", s, PolicyNames()))
}

// String returns the policy as ParsePolicy reads it.
func (p Policy) String() string {
	switch {
	case p.retry > 0:
		return "retry:" + strconv.Itoa(p.retry)
	case p.fail:
		return "fail"
	case p.value == nil:
		return "exclude"
	case *p.value == 0:
		return "zero"
	}
	return strconv.FormatFloat(*p.value, 'g', -1, 64)
}

// Counts returns the number that a report without a score counts as, if any.
func (p Policy) Counts(o analysis.Outcome) (float64, bool) {
	if p.value != nil && (o == analysis.Unparseable || o == analysis.Cut) {
		return *p.value, true
	}
	return 0, false
}

// Fails reports whether an answer without a score is an error.
func (p Policy) Fails() bool { return p.fail }

// Retries returns how many new samples are asked for.
func (p Policy) Retries() int { return p.retry }
