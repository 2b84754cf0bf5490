package numpy

import (
	"encoding/json"
	"os"
	"testing"
)

// The vectors are those of NumPy itself; the file says of which version.
func TestBelowIsNumPys(t *testing.T) {
	raw, err := os.ReadFile("testdata/draws.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Draws []struct {
			Seed   uint64
			N      uint32
			Values []uint32
		}
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for _, d := range want.Draws {
		g := NewGenerator(d.Seed)
		for i, v := range d.Values {
			if got := g.Below(d.N); got != v {
				t.Fatalf("seed %d, number %d below %d: %d, want %d", d.Seed, i, d.N, got, v)
			}
		}
	}
	if len(want.Draws) == 0 {
		t.Fatal("no vectors")
	}
}
