package report

import "strconv"

// Show returns a value as people see it: a number rounded to digits decimals (0 for all),
// an interval as [low, high], a string unchanged.
// Nothing is escaped. ok is false for a missing value.
func (v Value) Show(digits int) (text string, ok bool) {
	if !v.present {
		return "", false
	}
	if v.kind == KindString {
		return v.text, true
	}
	return string(v.appendNumber(nil, digits)), true
}

// Bounds returns the ends of an interval, or a number twice. ok is false for
// a string and for a missing value.
func (v Value) Bounds() (low, high float64, ok bool) {
	if !v.present {
		return 0, 0, false
	}
	switch v.kind {
	case KindInt:
		return float64(v.integer), float64(v.integer), true
	case KindFloat:
		return v.low, v.low, true
	case KindInterval:
		return v.low, v.high, true
	default:
		return 0, 0, false
	}
}

// appendNumber appends a number or an interval as people see it.
func (v Value) appendNumber(dst []byte, digits int) []byte {
	switch v.kind {
	case KindInt:
		return strconv.AppendInt(dst, int64(v.integer), 10)
	case KindInterval:
		dst = appendRounded(append(dst, '['), v.low, digits)
		dst = appendRounded(append(dst, ", "...), v.high, digits)
		return append(dst, ']')
	default:
		return appendRounded(dst, v.low, digits)
	}
}
