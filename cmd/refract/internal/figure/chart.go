package figure

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

// chart is a panel in layers, the lowest first.
type chart struct {
	title  string
	x, y   axis
	layers []layer
	pitch  float64 // between rows, where these decide the height; 0 elsewhere
}

// axis is the range of a chart in one direction, with its labels.
type axis struct {
	label     string
	low, high float64
	ticks     func(low, high float64) []tick // nil for roundTicks
	bare      bool                           // without a line
}

// tick is a place on an axis.
type tick struct {
	at    float64
	label string
}

// layer is an area, a line if it has a width, or dots if it has a glyph. The name of a line
// is written at its end.
type layer struct {
	name  string
	tone  color.NRGBA
	at    []spot
	width float64
	glyph glyph
	size  float64 // of a dot: its radius
}

func (c *chart) add(l ...layer) { c.layers = append(c.layers, l...) }

// fit finds the range of the layers.
func (c *chart) fit() {
	for i, l := range c.layers {
		for k, p := range l.at {
			c.x.include(p.X, i+k == 0)
			c.y.include(p.Y, i+k == 0)
		}
	}
}

// datum returns a place whose numbers are limited, so that margins can be added without
// overflow.
func datum(x, y float64) spot {
	const most = math.MaxFloat64 / 4
	return spot{max(-most, min(x, most)), max(-most, min(y, most))}
}

// include widens the range of an axis, or begins it.
func (a *axis) include(v float64, first bool) {
	if first {
		a.low, a.high = v, v
	}
	a.low, a.high = min(a.low, v), max(a.high, v)
}

// fit gives an axis a range where the data have none, and returns its ticks.
func (a *axis) fit() []tick {
	if a.low == a.high {
		by := max(1, math.Abs(a.low)/1e6)
		a.low, a.high = a.low-by, a.high+by
	}
	if a.ticks == nil {
		return roundTicks(a.low, a.high)
	}
	return a.ticks(a.low, a.high)
}

// share is how far along the axis a value is.
func (a *axis) share(v float64) float64 { return (v - a.low) / (a.high - a.low) }

// wholeTicks labels whole numbers: all of a dozen, and round ones of more.
func wholeTicks(low, high float64) []tick {
	if high-low > 12 {
		const room = 28 // characters
		ticks := roundTicks(low, high)
		if n := len(ticks); n > 2 && n*len(ticks[n-1].label) > room {
			apart := 2 * (ticks[1].at - ticks[0].at)
			ticks = slices.DeleteFunc(ticks, func(t tick) bool { return math.Mod(t.at, apart) != 0 })
		}
		return ticks
	}
	var out []tick
	for k := range int(math.Floor(high)-math.Ceil(low)) + 1 {
		whole := math.Ceil(low) + float64(k)
		out = append(out, tick{whole, strconv.FormatFloat(whole, 'f', -1, 64)})
	}
	return out
}

// roundTicks labels round numbers.
func roundTicks(low, high float64) []tick {
	values, digits := report.Ticks(low, high)
	out := make([]tick, len(values))
	for i, v := range values {
		out[i] = tick{v, report.TrueMinus(strconv.FormatFloat(v, 'f', digits, 64))}
	}
	return out
}
