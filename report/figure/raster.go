package figure

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	scan "golang.org/x/image/vector"
)

// raster is a canvas that is written as PNG. All that it fills is polygons.
type raster struct {
	pixels  *image.RGBA
	letters *letters
	scan    scan.Rasterizer
}

// scale is how many pixels a point has.
const scale = dpi / 72.0

func newRaster(width, height float64, l *letters) *raster {
	return &raster{pixels: image.NewRGBA(image.Rect(0, 0, int(width*scale+0.5), int(height*scale+0.5))), letters: l}
}

func (r *raster) area(tone color.NRGBA, outline []spot) { r.fill(tone, outline) }

func (r *raster) disc(tone color.NRGBA, at spot, radius float64) { r.fill(tone, round(at, radius)) }

// round is a circle of as many corners as nobody sees.
func round(at spot, radius float64) []spot {
	const corners = 24
	outline := make([]spot, corners)
	for i := range outline {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		outline[i] = spot{at.X + radius*cos, at.Y + radius*sin}
	}
	return outline
}

// line fills a rectangle for each stretch and a disc where two meet. All turn the
// same way, as what overlaps would cancel out otherwise.
func (r *raster) line(tone color.NRGBA, width float64, path []spot) {
	var outlines [][]spot
	for i := 1; i < len(path); i++ {
		a, b := path[i-1], path[i]
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		if length == 0 {
			continue
		}
		x, y := (b.Y-a.Y)/length*width/2, (a.X-b.X)/length*width/2
		outlines = append(outlines, []spot{{a.X + x, a.Y + y}, {b.X + x, b.Y + y}, {b.X - x, b.Y - y}, {a.X - x, a.Y - y}})
		if i > 1 {
			outlines = append(outlines, round(a, width/2))
		}
	}
	r.fill(tone, outlines...)
}

func (r *raster) text(tone color.NRGBA, t text) {
	start := -t.before * r.letters.width(t.s, t.size)
	place := func(x float64, p fixed.Point26_6) spot {
		dx, dy := start+x+float64(p.X)/64/scale, float64(p.Y)/64/scale
		if t.upwards {
			dx, dy = dy, -dx
		}
		return spot{t.at.X + dx, t.at.Y + dy}
	}
	r.letters.glyphs(t.s, t.size, func(g sfnt.GlyphIndex, x float64) {
		var outlines [][]spot
		segments, err := r.letters.font.LoadGlyph(&r.letters.buffer, g, em(t.size*scale), nil)
		if err != nil {
			return // as one without a shape
		}
		var last spot
		for _, s := range segments {
			to := place(x, s.Args[0])
			n := len(outlines) - 1
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				outlines = append(outlines, []spot{to})
			case sfnt.SegmentOpLineTo:
				outlines[n] = append(outlines[n], to)
			case sfnt.SegmentOpQuadTo: // the only curves of this font
				pull := to
				to = place(x, s.Args[1])
				for _, f := range []float64{0.25, 0.5, 0.75, 1} {
					a, b, c := (1-f)*(1-f), 2*f*(1-f), f*f
					outlines[n] = append(outlines[n], spot{a*last.X + b*pull.X + c*to.X, a*last.Y + b*pull.Y + c*to.Y})
				}
			}
			last = to
		}
		r.fill(tone, outlines...)
	})
}

// fill fills what the outlines enclose.
func (r *raster) fill(tone color.NRGBA, outlines ...[]spot) {
	low, high := spot{math.Inf(1), math.Inf(1)}, spot{math.Inf(-1), math.Inf(-1)}
	for _, outline := range outlines {
		for _, p := range outline {
			low = spot{min(low.X, p.X), min(low.Y, p.Y)}
			high = spot{max(high.X, p.X), max(high.Y, p.Y)}
		}
	}
	// Far corners are brought near, so that they fit into whole numbers.
	pixel := func(f float64) int { return int(math.Floor(max(-1, min(f*scale, 1<<20)))) }
	box := image.Rect(pixel(low.X), pixel(low.Y), pixel(high.X)+1, pixel(high.Y)+1).Intersect(r.pixels.Rect)
	if box.Empty() {
		return
	}
	r.scan.Reset(box.Dx(), box.Dy())
	for _, outline := range outlines {
		for i, p := range outline {
			x, y := float32(p.X*scale-float64(box.Min.X)), float32(p.Y*scale-float64(box.Min.Y))
			if i == 0 {
				r.scan.MoveTo(x, y)
			} else {
				r.scan.LineTo(x, y)
			}
		}
		r.scan.ClosePath()
	}
	r.scan.Draw(r.pixels, box, image.NewUniform(tone), image.Point{})
}

func (r *raster) WriteTo(w io.Writer) (int64, error) { return 0, png.Encode(w, r.pixels) }
