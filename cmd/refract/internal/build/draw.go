package build

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// newDraw returns random numbers for a purpose. They depend only on the seed and the names,
// not on the order or number of other items.
func newDraw(seed uint64, names ...string) *rand.Rand {
	h := sha256.New()
	for _, n := range names {
		fmt.Fprintf(h, "%d %s", len(n), n)
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(seed^binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}

// isValidation reports whether the examples of a text are for validation. All examples of a
// text, in any task or letter case, are on the same side.
func isValidation(seed uint64, share float64, group string) bool {
	return newDraw(seed, "split", folded(group)).Float64() < share
}

// some draws n of the values, in their order; all of them if n is 0.
func some[T any](seed uint64, purpose string, values []T, n int) []T {
	if n <= 0 || n >= len(values) {
		return values
	}
	var out []T
	for _, i := range slices.Sorted(slices.Values(newDraw(seed, purpose).Perm(len(values))[:n])) {
		out = append(out, values[i])
	}
	return out
}

// folded removes differences of case, white space and Unicode form from a text.
func folded(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(s))), " ")
}
