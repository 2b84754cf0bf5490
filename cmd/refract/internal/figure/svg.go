package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"github.com/rivo/uniseg"
)

// spot is a place in data units or in the picture.
type spot struct{ X, Y float64 }

// canvas collects the elements of one SVG picture. Lengths are points, and Y goes down.
type canvas struct{ b bytes.Buffer }

// text is one line of letters.
type text struct {
	s       string
	size    float64
	at      spot    // on the base line
	before  float64 // the share of the text before at: 0, 0.5 or 1
	upwards bool    // turned by 90 degrees, read from below
}

// textWidth estimates the length of a text in points. The font is unknown, so it assumes
// wide letters.
func textWidth(s string, size float64) float64 {
	return 0.58 * size * float64(uniseg.StringWidth(s))
}

func newCanvas(width, height float64) *canvas {
	v := &canvas{}
	w, h := short(width), short(height)
	fmt.Fprintf(&v.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" font-family="Liberation Sans, Arial, Helvetica, sans-serif">`+"\n", w, h, w, h)
	return v
}

func (c *canvas) area(tone color.NRGBA, outline []spot) {
	fmt.Fprintf(&c.b, `<path d="%sZ"%s/>`+"\n", path(outline), paint("fill", tone))
}

func (c *canvas) line(tone color.NRGBA, width float64, through []spot) {
	fmt.Fprintf(&c.b, `<path d="%s" fill="none"%s stroke-width="%s" stroke-linejoin="round"/>`+"\n", path(through), paint("stroke", tone), short(width))
}

func (c *canvas) disc(tone color.NRGBA, at spot, radius float64) {
	fmt.Fprintf(&c.b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", short(at.X), short(at.Y), short(radius), paint("fill", tone))
}

func (c *canvas) text(tone color.NRGBA, t text) {
	anchor := [...]string{"start", "middle", "end"}[int(2*t.before)]
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" font-size="%s" text-anchor="%s"%s`, short(t.at.X), short(t.at.Y), short(t.size), anchor, paint("fill", tone))
	if t.upwards {
		fmt.Fprintf(&c.b, ` transform="rotate(-90 %s %s)"`, short(t.at.X), short(t.at.Y))
	}
	c.b.WriteByte('>')
	_ = xml.EscapeText(&c.b, []byte(t.s)) // a buffer takes all
	c.b.WriteString("</text>\n")
}

func (c *canvas) WriteTo(w io.Writer) (int64, error) {
	c.b.WriteString("</svg>\n")
	return c.b.WriteTo(w)
}

func path(through []spot) []byte {
	var b []byte
	for i, p := range through {
		command := byte('L')
		if i == 0 {
			command = 'M'
		}
		b = append(append(append(append(b, command), short(p.X)...), ','), short(p.Y)...)
	}
	return b
}

func paint(what string, tone color.NRGBA) string {
	s := fmt.Sprintf(` %s="#%02x%02x%02x"`, what, tone.R, tone.G, tone.B)
	if tone.A < 255 {
		s += fmt.Sprintf(` %s-opacity="%s"`, what, short(float64(tone.A)/255))
	}
	return s
}

// short writes a length to a hundredth of a point.
func short(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100+0, 'f', -1, 64) }
