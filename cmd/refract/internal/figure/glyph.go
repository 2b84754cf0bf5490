package figure

import "image/color"

// glyph draws a dot of a size, which is its radius.
type glyph func(c *canvas, tone color.NRGBA, at spot, size float64)

// shape returns the glyph of a series, so that a figure can be read without colours. A
// colour that comes again has another glyph.
func shape(i int) glyph {
	shapes := []glyph{(*canvas).disc, square, hollow, triangle, plus, cross}
	return shapes[(i+i/len(shapes))%len(shapes)]
}

// corners scales places around a dot to its size.
func corners(at spot, size float64, around ...spot) []spot {
	for i, p := range around {
		around[i] = spot{at.X + size*p.X, at.Y + size*p.Y}
	}
	return around
}

func square(c *canvas, tone color.NRGBA, at spot, size float64) {
	c.area(tone, corners(at, size*0.9, spot{-1, -1}, spot{1, -1}, spot{1, 1}, spot{-1, 1}))
}

func triangle(c *canvas, tone color.NRGBA, at spot, size float64) {
	c.area(tone, corners(at, size*1.2, spot{0, -1}, spot{0.87, 0.5}, spot{-0.87, 0.5}))
}

func hollow(c *canvas, tone color.NRGBA, at spot, size float64) {
	c.line(tone, 2*hair, corners(at, size*1.2, spot{-0.87, 0.5}, spot{0, -1}, spot{0.87, 0.5}, spot{-0.87, 0.5}))
}

func plus(c *canvas, tone color.NRGBA, at spot, size float64) {
	upright(c, tone, at, size)
	c.line(tone, 2*hair, corners(at, size, spot{-1, 0}, spot{1, 0}))
}

func cross(c *canvas, tone color.NRGBA, at spot, size float64) {
	c.line(tone, 2*hair, corners(at, size, spot{-0.7, -0.7}, spot{0.7, 0.7}))
	c.line(tone, 2*hair, corners(at, size, spot{-0.7, 0.7}, spot{0.7, -0.7}))
}

// upright draws the end of an interval.
func upright(c *canvas, tone color.NRGBA, at spot, size float64) {
	c.line(tone, 2*hair, corners(at, size, spot{0, -1}, spot{0, 1}))
}
