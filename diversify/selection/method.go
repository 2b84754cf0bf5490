package selection

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/refract-eval/refract/internal/english"
)

// Method is a rule of selection.
type Method string

// The methods.
const (
	ByOrder    Method = "order"    // the first ones, in their order
	ByRandom   Method = "random"   // a random order
	ByFarthest Method = "farthest" // see farthest
	ByFacility Method = "facility" // see facility
)

// MethodNames returns the names of the methods.
func MethodNames() []string { return []string{"order", "random", "farthest", "facility"} }

// ParseMethod returns the method with a name. The error lists the names.
func ParseMethod(name string) (Method, error) {
	_, err := english.Index("method of selection", name, MethodNames())
	return Method(name), err
}

// String returns the method's name.
func (m Method) String() string { return string(m) }

// Compares reports whether the method looks at the texts.
func (m Method) Compares() bool { return m == ByFarthest || m == ByFacility }

// random orders the n candidates of a segment at random. The order depends only on the
// seed and the segment's id, not on other segments.
func random(n int, seed uint64, id string) []int {
	h := fnv.New64a()
	h.Write([]byte(id)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())).Perm(n)
}
