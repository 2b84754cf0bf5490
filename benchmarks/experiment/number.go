package experiment

import (
	"encoding/json"
	"math"
)

// Number is a float64 that may be undefined: NaN, and null in JSON.
type Number float64

// None is the Number that is undefined.
func None() Number { return Number(math.NaN()) }

// Defined reports whether there is a number.
func (n Number) Defined() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// MarshalJSON writes null for an undefined number.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Range is a confidence interval.
type Range struct {
	Low  Number `json:"low"`
	High Number `json:"high"`
	// Undefined is the number of resamples without a value; the interval omits them.
	Undefined int `json:"undefined,omitempty"`
}

// Contains reports whether a value lies within the interval, ends included.
func (r *Range) Contains(v float64) bool { return float64(r.Low) <= v && v <= float64(r.High) }

// Ends returns both ends, NaN for a nil interval.
func (r *Range) Ends() (low, high float64) {
	if r == nil {
		return math.NaN(), math.NaN()
	}
	return float64(r.Low), float64(r.High)
}
