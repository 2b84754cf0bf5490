package report

import (
	"cmp"
	"math"
	"strconv"
)

// Kind is what the values of a column are.
type Kind uint8

// The kinds.
const (
	KindString Kind = iota
	KindInt
	KindFloat
	KindInterval
)

// Column describes one column of a table.
type Column struct {
	// Name is the key in formats for programs; unique and not empty.
	Name string
	// Header is the heading in formats for people; Name where it is "".
	Header string
	Kind   Kind
	// Digits is the number of decimals of a float or interval in formats for
	// people; 0 shows all.
	Digits int
	// Hide leaves the column out of the formats for people.
	Hide bool
	// Minor lets the column be left out of a table that is too wide for a
	// terminal.
	Minor bool
	// Best is which values are best, and painted on a terminal: 1 the highest, -1 the
	// lowest, 0 none.
	Best int
	// Secondary puts the column after the others on a page, which shows it on demand.
	Secondary bool
}

// Heading returns what people see above the column.
func (c *Column) Heading() string { return cmp.Or(c.Header, c.Name) }

// Numeric reports whether the column holds numbers or intervals.
func (c *Column) Numeric() bool { return c.Kind != KindString }

// Value is one cell of a row. The zero Value is missing.
type Value struct {
	text      string
	integer   int
	low, high float64 // a float is in low
	kind      Kind
	present   bool
}

// Null returns a missing value, which fits a column of any kind.
func Null() Value { return Value{} }

// String returns a string; "" is a value, not a missing one.
func String(s string) Value { return Value{text: s, kind: KindString, present: true} }

// StringOrNull returns a string, or a missing value for "".
func StringOrNull(s string) Value {
	if s == "" {
		return Null()
	}
	return String(s)
}

// Int returns a whole number.
func Int(n int) Value { return Value{integer: n, kind: KindInt, present: true} }

// Float returns a number; a NaN is missing.
func Float(f float64) Value {
	return Value{low: f, kind: KindFloat, present: !math.IsNaN(f)}
}

// Interval returns an interval such as a confidence interval; it is missing
// if a bound is a NaN.
func Interval(low, high float64) Value {
	return Value{low: low, high: high, kind: KindInterval, present: !math.IsNaN(low) && !math.IsNaN(high)}
}

// appendFloat appends the shortest digits that give f back, infinities as
// inf and -inf. Exponents appear where JavaScript, and so encoding/json, has
// them.
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if math.IsInf(abs, 1) {
		return appendInfinity(dst, f)
	}
	form := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, 64)
}

// appendRounded appends f with a number of decimals, all of them for 0.
func appendRounded(dst []byte, f float64, digits int) []byte {
	switch abs := math.Abs(f); {
	case digits <= 0:
		return appendFloat(dst, f)
	case math.IsInf(abs, 1):
		return appendInfinity(dst, f)
	case abs >= 1e15: // beyond what a float64 resolves: decimals would be noise
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	default:
		return strconv.AppendFloat(dst, f, 'f', digits, 64)
	}
}

func appendInfinity(dst []byte, f float64) []byte {
	if f < 0 {
		return append(dst, "-inf"...)
	}
	return append(dst, "inf"...)
}
