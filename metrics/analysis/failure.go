package analysis

// Failure is a way in which a report of errors fails (InstructScore, table 2).
type Failure string

// The failures. Local ones make one field of an error wrong, global ones all.
const (
	M1 Failure = "M1" // the type is not consistent with the explanation
	M2 Failure = "M2" // the location is not consistent with the explanation
	M3 Failure = "M3" // the location is not in the output
	M4 Failure = "M4" // the explanation quotes as the output's what is not in it
	M5 Failure = "M5" // the severity is another one
	M6 Failure = "M6" // the explanation is wrong, though there is an error
	G1 Failure = "G1" // there is no error
	G2 Failure = "G2" // an earlier error of the report is the same
	G3 Failure = "G3" // the wrong phrase and the right one are not aligned
	G4 Failure = "G4" // one error mentions several
)

// Failures lists them.
func Failures() []Failure { return []Failure{M1, M2, M3, M4, M5, M6, G1, G2, G3, G4} }

// Unmeasured are those that no question asks for.
func Unmeasured() []Failure { return []Failure{M6} }

// fieldsOfError are the fields that a failure can make wrong: type, location,
// severity and explanation.
const fieldsOfError = 4

// field is the field that a local failure makes wrong; all of them (−1) for a
// global one.
func (f Failure) field() int {
	switch f {
	case M1:
		return 0
	case M2, M3:
		return 1
	case M5:
		return 2
	case M4, M6:
		return 3
	}
	return -1
}

// Alignment counts the fields that are right, of all fields, of the errors of a
// report with these failures. Their ratio is the alignment score of section 4.2.
func Alignment(failures [][]Failure) (right, fields int) {
	for _, of := range failures {
		var wrong [fieldsOfError]bool
		for _, f := range of {
			for i := range wrong {
				wrong[i] = wrong[i] || f.field() < 0 || f.field() == i
			}
		}
		for _, w := range wrong {
			if fields++; !w {
				right++
			}
		}
	}
	return right, fields
}
