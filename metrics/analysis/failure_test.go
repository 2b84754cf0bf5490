package analysis

import "testing"

// The example of section 4.2: four errors, one global and one local failure.
func TestAlignment(t *testing.T) {
	for _, test := range []struct {
		name          string
		failures      [][]Failure
		right, fields int
	}{
		{"the paper's", [][]Failure{{G1}, {M1}, {}, {}}, 11, 16},
		{"table 8, local", [][]Failure{{M1}, {M2}}, 6, 8},
		{"table 8, global", [][]Failure{{}, {G1}}, 4, 8},
		{"a global failure takes in local ones", [][]Failure{{G2, M1, M5}}, 0, 4},
		{"two of one field", [][]Failure{{M2, M3}}, 3, 4},
		{"all local ones", [][]Failure{{M1, M2, M3, M4, M5, M6}}, 0, 4},
		{"nothing wrong", [][]Failure{{}}, 4, 4},
	} {
		if right, fields := Alignment(test.failures); right != test.right || fields != test.fields {
			t.Errorf("%s: %d/%d, want %d/%d", test.name, right, fields, test.right, test.fields)
		}
	}
}
