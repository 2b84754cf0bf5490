package metrics

import "github.com/refract-eval/refract/internal/english"

// Status says what became of one cell of a score matrix.
type Status uint8

// The statuses. Only a Scored cell has a number.
const (
	Scored            Status = iota
	MissingHypothesis        // the system has no text for the segment
	MissingReference         // the reference is declared absent
	MissingSource            // the metric needs a source and the segment has none
	Failed                   // the metric gave no number for this cell
	Unparseable              // a judge's answer states no score
	Blocked                  // a content filter withheld the judge's answer
	Cut                      // the judge's answer was truncated
	Unneeded                 // left out because it cannot change the requested result
	Ended                    // the metric had failed before it reached this cell
)

var statuses = []string{"scored", "missing-hypothesis", "missing-reference", "missing-source", "failed",
	"unparseable", "blocked", "cut", "unneeded", "ended"}

// String returns the name that ParseStatus reads.
func (s Status) String() string {
	return english.Name("Status", int(s), statuses)
}

// ParseStatus reads the name of a status, such as "missing-reference". The
// error lists the known ones.
func ParseStatus(s string) (Status, error) {
	i, err := english.Index("status", s, statuses)
	return Status(i), err
}
