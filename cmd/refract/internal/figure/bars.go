package figure

import "slices"

// Bars is a chart of horizontal bars, the first on top, with room for long names.
type Bars struct {
	Title, Value string // Value labels the axis of values
	Bars         []Bar
	Dots         bool // instead of bars, for differences
}

// Bar is the length of a bar, NaN for none, with the bounds of its interval,
// NaN for none.
type Bar struct {
	Name             string
	Value, Low, High float64
	Muted, Worse     bool // grey, and the second colour
}

func (b *Bars) chart(t theme) *chart {
	n := len(b.Bars)
	names := make([]tick, n)
	c := &chart{title: label(b.Title), x: axis{label: label(b.Value)}}
	if b.Dots {
		c.pitch = dotsPitch
	}
	c.y = axis{bare: true, ticks: func(_, _ float64) []tick { return names }}
	width := min(14, 50*millimetre/float64(n))
	for i, bar := range b.Bars {
		at := float64(n - 1 - i) // the axis goes up
		names[i] = tick{at, label(bar.Name)}
		tone := t.tone(0)
		switch {
		case bar.Muted:
			tone = t.muted
		case bar.Worse:
			tone = t.tone(1)
		}
		if finite(bar.Value, bar.Low, bar.High) {
			ends := []spot{datum(bar.Low, at), datum(bar.High, at)}
			whisker := t.ink
			if b.Dots {
				whisker = tone
			}
			c.add(layer{tone: whisker, width: 2 * hair, at: ends}, layer{tone: whisker, glyph: upright, size: 2.5, at: ends})
		}
		switch {
		case !finite(bar.Value):
		case b.Dots:
			c.add(layer{tone: tone, glyph: (*canvas).disc, size: 3.5, at: []spot{datum(bar.Value, at)}})
		default:
			c.layers = slices.Insert(c.layers, 0, layer{tone: tone, width: width, at: []spot{{0, at}, datum(bar.Value, at)}})
		}
	}
	c.add(layer{tone: t.quiet, width: hair, at: []spot{{0, -0.6}, {0, float64(n) - 0.4}}})
	c.fit()
	// Whiskers keep a distance from the names and from the edge.
	margin := (c.x.high - c.x.low) / 20
	if c.x.low < 0 {
		c.x.low -= margin
	}
	if c.x.high > 0 {
		c.x.high += margin
	}
	c.y.low, c.y.high = -0.6, float64(n)-0.4
	return c
}
