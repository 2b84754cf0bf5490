package figure

import (
	"cmp"
	"image/color"
	"slices"
)

// drawing is charts on their way to a canvas.
type drawing struct {
	canvas *canvas
	theme  theme
}

func (d drawing) draw(f *frame) {
	d.axes(f)
	for _, l := range f.layers {
		at := f.places(l.at)
		switch {
		case l.glyph != nil:
			for _, p := range at {
				l.glyph(d.canvas, l.tone, p, l.size)
			}
		case l.width > 0:
			d.canvas.line(l.tone, l.width, at)
		default:
			d.canvas.area(l.tone, at)
		}
	}
	d.ends(f)
}

func (d drawing) line(tone color.NRGBA, width, x1, y1, x2, y2 float64) {
	d.canvas.line(tone, width, []spot{{x1, y1}, {x2, y2}})
}

// axes draws the title, the grid and the axes.
func (d drawing) axes(f *frame) {
	ink, quiet, grid := d.theme.ink, d.theme.quiet, d.theme.grid
	floor, wall := f.bottom+apart, f.left-apart
	for _, k := range f.ticks[0] {
		if x := f.across(k.at); x >= f.left && x <= f.right {
			d.line(grid, hair/2, x, f.top, x, f.bottom)
			d.line(quiet, hair, x, floor, x, floor+tickLength)
			d.canvas.text(ink, text{s: k.label, size: tickSize, at: spot{x, floor + tickLength + tickSize}, before: 0.5})
		}
	}
	for _, k := range f.ticks[1] {
		if y := f.up(k.at); y >= f.top && y <= f.bottom {
			d.line(grid, hair/2, f.left, y, f.right, y)
			if !f.y.bare {
				d.line(quiet, hair, wall-tickLength, y, wall, y)
			}
			d.canvas.text(ink, text{s: k.label, size: tickSize, at: spot{f.labels, y + tickSize*middle}, before: 1})
		}
	}
	d.line(quiet, hair, f.left, floor, f.right, floor)
	if !f.y.bare {
		d.line(quiet, hair, wall, f.top, wall, f.bottom)
	}
	for _, t := range []text{
		{s: f.title, at: spot{(f.left + f.right) / 2, f.top - edge - headSize/4}},
		{s: f.x.label, at: spot{(f.left + f.right) / 2, floor + tickLength + rowHeight + headSize}},
		{s: f.y.label, at: spot{f.side - headSize*0.4, (f.top + f.bottom) / 2}, upwards: true},
	} {
		if t.size, t.before = headSize, 0.5; t.s != "" {
			d.canvas.text(ink, t)
		}
	}
}

// ends writes the names of lines beside their ends, apart from each other. A thin
// line leads to a name that stands off.
func (d drawing) ends(f *frame) {
	type end struct {
		layer
		at spot
	}
	var ends []end
	for _, l := range f.chart.ends() {
		ends = append(ends, end{l, f.places(l.at[len(l.at)-1:])[0]})
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.at.Y, b.at.Y) })
	at := make([]float64, len(ends))
	for i, e := range ends {
		at[i] = e.at.Y
	}
	spread(at, f.top, f.bottom)
	for i, e := range ends {
		x := e.at.X + nameGap
		if off := at[i] - e.at.Y; max(off, -off) > rowHeight/4 {
			d.line(e.tone, hair, e.at.X+millimetre/2, e.at.Y, x-millimetre/2, at[i])
		}
		d.canvas.text(e.tone, text{s: e.name, size: tickSize, at: spot{x, at[i] + tickSize*middle}})
	}
}
