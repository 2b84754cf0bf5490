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

func TestBitsAreNumPys(t *testing.T) {
	raw, err := os.ReadFile("testdata/bits.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Rows []struct {
			Seed   uint64
			Trials []string
		}
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for _, r := range want.Rows {
		b := NewBits(NewGenerator(r.Seed))
		for i, trial := range r.Trials {
			words := make([]uint64, (len(trial)+63)/64)
			b.Fill(words, len(trial))
			got := make([]byte, len(trial))
			for k := range got {
				got[k] = '0' + byte(words[k>>6]>>(k&63)&1)
			}
			if string(got) != trial {
				t.Errorf("seed %d, trial %d: %s, want %s", r.Seed, i, got, trial)
			}
		}
	}
	if len(want.Rows) == 0 {
		t.Fatal("no vectors")
	}
}
