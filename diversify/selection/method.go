package selection

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/refract-eval/refract/internal/english"
)

// Method is a rule of selection.
type Method uint8

// The methods.
const (
	ByOrder    Method = iota // the first ones, in their order
	ByRandom                 // a random order
	ByFarthest               // see farthest
	ByFacility               // see facility
)

var methodNames = []string{"order", "random", "farthest", "facility"}

// MethodNames returns the names that [ParseMethod] knows.
func MethodNames() []string { return slices.Clone(methodNames) }

// ParseMethod returns the method with a name. The error lists the names.
func ParseMethod(name string) (Method, error) {
	i, err := english.Index("method of selection", name, methodNames)
	return Method(i), err
}

// String returns the method's name for ParseMethod.
func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Compares reports whether the method looks at the texts.
func (m Method) Compares() bool { return m == ByFarthest || m == ByFacility }

// random orders the n candidates of a segment at random. The order depends only on the
// seed and the segment's id, not on other segments.
func random(n int, seed uint64, id string) []int {
	h := fnv.New64a()
	h.Write([]byte(id)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())).Perm(n)
}
