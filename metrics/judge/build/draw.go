package build

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/refract-eval/refract/metrics/analysis"
)

// drawOf returns random numbers for a purpose. They depend on the seed and the
// names alone, so that neither order nor number of other items changes them.
func drawOf(seed uint64, names ...string) *rand.Rand {
	h := sha256.New()
	for _, n := range names {
		fmt.Fprintf(h, "%d %s", len(n), n)
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(seed^binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}

// isValidation says whether the examples of a text are for validation. All of a
// text, in whatever task or case, are on one side.
func isValidation(seed uint64, share float64, group string) bool {
	return drawOf(seed, "split", folded(group)).Float64() < share
}

// some draws n of the values, in their order; all of them where n is 0.
func some[T any](seed uint64, purpose string, values []T, n int) []T {
	if n <= 0 || n >= len(values) {
		return values
	}
	taken := make([]bool, len(values))
	for _, i := range drawOf(seed, purpose).Perm(len(values))[:n] {
		taken[i] = true
	}
	out := make([]T, 0, n)
	for i, v := range values {
		if taken[i] {
			out = append(out, v)
		}
	}
	return out
}

// mostDesignated is the most errors that are asked for, as the metric finds five
// at most.
const mostDesignated = 5

// designate draws 1 to 5 errors for a text: of each the dimension, where the task
// has some, the type and the severity. Types repeat only where there are too few.
func designate(seed uint64, t *Task, text string) []analysis.Error {
	draw := drawOf(seed, "errors", t.Name, text)
	out := make([]analysis.Error, 1+draw.IntN(mostDesignated))
	left := map[string][]ErrorType{}
	for i := range out {
		if len(left) == 0 {
			for _, e := range t.Errors {
				left[e.Dimension] = append(left[e.Dimension], e)
			}
		}
		dimensions := sortedKeys(left)
		d := dimensions[draw.IntN(len(dimensions))]
		k := draw.IntN(len(left[d]))
		e := left[d][k]
		if left[d] = append(left[d][:k:k], left[d][k+1:]...); len(left[d]) == 0 {
			delete(left, d)
		}
		out[i] = analysis.Error{Dimension: e.Dimension, Aspect: e.Type, Severity: analysis.Minor}
		if draw.IntN(2) == 1 {
			out[i].Severity = analysis.Major
		}
	}
	return out
}
