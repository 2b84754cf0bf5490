package program

import (
	_ "embed" // of the helper
	"errors"
	"fmt"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
)

// Helper is refract_metric.py, with which a metric in Python answers requests.
//
//go:embed refract_metric.py
var Helper []byte

// protocol is the version of the protocol.
const protocol = 1

// hello is the first line that a program writes.
type hello struct {
	Refract   int               `json:"refract"` // version of the protocol
	Name      string            `json:"name"`
	Signature map[string]string `json:"signature"` // what changes the numbers
	Needs     []string          `json:"needs"`     // of "source" and "reference"
	Direction string            `json:"direction"` // which scores are better: "higher" (or "") or "lower"
	Lower     *float64          `json:"lower"`     // bounds; null means none
	Upper     *float64          `json:"upper"`
	Native    bool              `json:"native"` // it has its own rule for several references
	Batch     int               `json:"batch"`  // maximum segments in a request; 0 lets Refract choose

	info metrics.Info // from the fields above
}

var (
	nameForm = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9.,:=+/_-]{0,79}$`)
	keyForm  = text.Regexp(`^[A-Za-z][A-Za-z0-9_.-]{0,39}$`)
	ownKeys  = []string{"program", "hello"} // keys of Signature
)

const (
	mostText  = 200  // bytes of a value in a signature
	mostBatch = 4096 // segments
)

// readHello parses and checks the line.
func readHello(line []byte) (*hello, error) {
	h := &hello{}
	if err := read(line, h); err != nil {
		return nil, err
	}
	var err error
	if h.info, err = metrics.Declared(h.Direction, h.Lower, h.Upper); err != nil {
		return nil, err
	}
	h.info.Name = Name + ":" + h.Name
	switch {
	case h.Refract != protocol:
		return nil, fmt.Errorf(`"refract" is %d, and %d is the version of the protocol`, h.Refract, protocol)
	case !nameForm().MatchString(h.Name):
		return nil, fmt.Errorf(`"name" is %.100q; up to 80 letters, digits and .,:=+/_- make one`, h.Name)
	case h.Batch < 0 || h.Batch > mostBatch:
		return nil, fmt.Errorf(`"batch" is %d; want a number from 1 to %d`, h.Batch, mostBatch)
	}
	for _, need := range h.Needs {
		switch need {
		case "source":
			h.info.NeedsSource = true
		case "reference":
			h.info.NeedsReferences = true
		default:
			return nil, fmt.Errorf(`"needs" has %.100q, and neither "source" nor "reference"`, need)
		}
	}
	if h.Native && !h.info.NeedsReferences {
		return nil, errors.New(`"native" goes with a metric that needs "reference"`)
	}
	for k, v := range h.Signature {
		if !keyForm().MatchString(k) || len(v) > mostText || metrics.IsReserved(k, ownKeys...) {
			return nil, fmt.Errorf(`"signature" has %.100q: want up to 40 letters, digits and _.- for a key, up to %d bytes for its value, and none of the keys that docs/reference/protocols.md lists`, k, mostText)
		}
	}
	return h, nil
}

// read reads a line that is one object, whose fields must be known and unique. A null field
// counts as absent, and NaN and infinities as null.
func read(line []byte, into any) error {
	return jsonline.Unmarshal(jsonline.Finite(line), into, "a line")
}
