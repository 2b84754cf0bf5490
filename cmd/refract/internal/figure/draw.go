package figure

import "image/color"

// drawing draws charts on a canvas.
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

// ends lists the names of lines to the right of them.
func (d drawing) ends(f *frame) {
	x, y := f.right+nameGap, f.top+rowHeight/2
	for i, l := range f.layers {
		if l.width == 0 || l.name == "" {
			continue
		}
		d.line(l.tone, l.width, x, y, x+2*nameGap, y)
		if i+1 < len(f.layers) && f.layers[i+1].glyph != nil {
			f.layers[i+1].glyph(d.canvas, l.tone, spot{x + nameGap, y}, f.layers[i+1].size)
		}
		d.canvas.text(l.tone, text{s: l.name, size: tickSize, at: spot{x + 3*nameGap, y + tickSize*middle}})
		y += rowHeight
	}
}
