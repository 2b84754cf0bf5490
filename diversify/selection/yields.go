package selection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/text"
)

// Yields counts segments by their number of variants. The zero value is ready for use.
type Yields struct {
	segments map[int]int
	ids      map[int][]string // ids of the first segments, by number of variants
}

// namedIDs is the number of ids kept for each number of variants.
const namedIDs = 5

// Add counts a segment with n variants.
func (y *Yields) Add(id string, n int) {
	if y.segments == nil {
		y.segments, y.ids = map[int]int{}, map[int][]string{}
	}
	y.segments[n]++
	if len(y.ids[n]) < namedIDs {
		y.ids[n] = append(y.ids[n], strings.Clone(id))
	}
}

// Usable returns the number of variants of a segment that can be chosen: those with a
// text.
func Usable(seg *refract.Segment) int {
	n := 0
	for i := range seg.Variants {
		if usable(seg.Variants[i].Text) {
			n++
		}
	}
	return n
}

// Count counts the segments of a dataset by the variants that can be chosen.
func (s *Selector) Count(ctx context.Context, ds refract.Dataset) (*Yields, error) {
	y := &Yields{}
	for seg, err := range ds.Segments(ctx) {
		if err != nil {
			return nil, err
		}
		n := 0
		for i := range seg.Variants {
			if s.can(seg, &seg.Variants[i]) {
				n++
			}
		}
		y.Add(seg.ID, n)
	}
	return y, ctx.Err()
}

// Numbers returns the different numbers of variants that segments have, the least first.
func (y *Yields) Numbers() []int { return slices.Sorted(maps.Keys(y.segments)) }

// Below returns the number of segments with fewer than k variants, and lists the first of
// them with their numbers, the fewest first, such as `"a" (0), "b" (2), …`.
func (y *Yields) Below(k int) (segments int, named string) {
	var names []string
	for _, n := range y.Numbers() {
		if n >= k {
			break
		}
		segments += y.segments[n]
		for _, id := range y.ids[n] {
			names = append(names, fmt.Sprintf("%s (%d)", text.Quote(id), n))
		}
	}
	if names = names[:min(len(names), namedIDs)]; len(names) < segments {
		names = append(names, "…")
	}
	return segments, strings.Join(names, ", ")
}

// Lack returns how many variants are missing in total for k per segment.
func (y *Yields) Lack(k int) int {
	lack := 0
	for n, segments := range y.segments {
		lack += segments * max(0, k-n)
	}
	return lack
}

// String lists how many segments have each number of variants, the largest first, such
// as "10: 180 segments, 9: 15, 0: 5". If there are many numbers, the middle ones are
// combined.
func (y *Yields) String() string {
	numbers := y.Numbers()
	slices.Reverse(numbers)
	const most = 12
	var parts []string
	for i, n := range numbers {
		switch count := y.segments[n]; {
		case i == 0:
			parts = append(parts, fmt.Sprintf("%d: %s", n, english.Count(count, "segment")))
		case i < most || i == len(numbers)-1:
			parts = append(parts, fmt.Sprintf("%d: %d", n, count))
		case i == most:
			rest := 0
			for _, m := range numbers[i : len(numbers)-1] {
				rest += y.segments[m]
			}
			parts = append(parts, fmt.Sprintf("%d to %d: %d", n, numbers[len(numbers)-2], rest))
		}
	}
	return strings.Join(parts, ", ")
}
