package text

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// A Seen finds the same repetitions as a map.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := NewSeen(), map[string]int64{}
		for i, id := range rapid.SliceOf(rapid.StringN(0, 2, -1)).Draw(t, "ids") {
			at := int64(i) + 1
			before, again := s.Add(id, at)
			want, wantAgain := m[id]
			if before != want || again != wantAgain {
				t.Fatalf("Add(%q, %d) = %d, %v; want %d, %v", id, at, before, again, want, wantAgain)
			}
			if !again {
				m[id] = at
			}
		}
	})
}

func TestSeenFar(t *testing.T) {
	s := NewSeen()
	s.Add("far", math.MaxInt64)
	before, _ := s.Add("far", 1)
	assert.True(t, before == math.MaxUint32, "far is at %d", before)
}
