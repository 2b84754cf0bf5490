package report_test

import (
	"math"
	"testing"

	"github.com/refract-eval/refract/internal/report"
)

func TestValueShow(t *testing.T) {
	for _, c := range []struct {
		value  report.Value
		digits int
		text   string
		ok     bool
	}{
		{report.Null(), 2, "", false},
		{report.Float(math.NaN()), 2, "", false},
		{report.String(""), 2, "", true},
		{report.String("<b>"), 0, "<b>", true},
		{report.Int(-3), 2, "-3", true},
		{report.Float(0.12345), 3, "0.123", true},
		{report.Float(0.5), 0, "0.5", true},
		{report.Float(math.Inf(-1)), 1, "-inf", true},
		{report.Interval(0.1, 0.25), 2, "[0.10, 0.25]", true},
	} {
		if text, ok := c.value.Show(c.digits); text != c.text || ok != c.ok {
			t.Errorf("%+v at %d digits: %q, %v, want %q, %v", c.value, c.digits, text, ok, c.text, c.ok)
		}
	}
}

func TestValueBounds(t *testing.T) {
	for _, c := range []struct {
		value     report.Value
		low, high float64
		ok        bool
	}{
		{report.Null(), 0, 0, false},
		{report.String("7"), 0, 0, false},
		{report.Int(7), 7, 7, true},
		{report.Float(0.5), 0.5, 0.5, true},
		{report.Interval(-1, 2), -1, 2, true},
		{report.Interval(math.NaN(), 2), 0, 0, false},
	} {
		low, high, ok := c.value.Bounds()
		if low != c.low || high != c.high || ok != c.ok {
			t.Errorf("%+v: %v, %v, %v", c.value, low, high, ok)
		}
	}
}
