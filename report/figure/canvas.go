package figure

import (
	"fmt"
	"image/color"
	"io"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// spot is a place in the units of the data, or on a canvas.
type spot struct{ X, Y float64 }

// canvas is a picture in the making. Lengths are points, and Y goes down.
type canvas interface {
	area(tone color.NRGBA, outline []spot)
	line(tone color.NRGBA, width float64, path []spot)
	disc(tone color.NRGBA, at spot, radius float64)
	text(tone color.NRGBA, t text)
	io.WriterTo
}

// text is one line of letters.
type text struct {
	s       string
	size    float64
	at      spot    // on the base line
	before  float64 // the share of the text that stands before it
	upwards bool    // it is read from below
}

// letters measures and outlines texts.
type letters struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
}

func newLetters() (*letters, error) {
	f, err := sfnt.Parse(liberationsansregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("figure: the font: %w", err)
	}
	return &letters{font: f}, nil
}

// width is the length of a text of a size.
func (l *letters) width(s string, size float64) float64 {
	return l.glyphs(s, size, func(sfnt.GlyphIndex, float64) {})
}

// glyphs calls f with the glyphs of a text and where they begin, and returns
// where the text ends.
func (l *letters) glyphs(s string, size float64, f func(g sfnt.GlyphIndex, x float64)) float64 {
	x := 0.0
	for _, r := range s {
		g, _ := l.font.GlyphIndex(&l.buffer, r) // 0, an empty box, where there is none
		f(g, x)
		if advance, err := l.font.GlyphAdvance(&l.buffer, g, em(size), font.HintingNone); err == nil {
			x += float64(advance) / 64
		}
	}
	return x
}

// em is a size in the unit of the font.
func em(size float64) fixed.Int26_6 { return fixed.Int26_6(size*64 + 0.5) }
