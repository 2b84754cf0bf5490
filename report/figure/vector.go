package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
)

// vector is a canvas that is written as SVG.
type vector struct{ b bytes.Buffer }

func newVector(width, height float64) *vector {
	v := &vector{}
	w, h := short(width), short(height)
	fmt.Fprintf(&v.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="0 0 %s %s" font-family="Liberation Sans, Arial, Helvetica, sans-serif">`+"\n", w, h, w, h)
	return v
}

func (v *vector) area(tone color.NRGBA, outline []spot) {
	fmt.Fprintf(&v.b, `<path d="%sZ"%s/>`+"\n", path(outline), paint("fill", tone))
}

func (v *vector) line(tone color.NRGBA, width float64, through []spot) {
	fmt.Fprintf(&v.b, `<path d="%s" fill="none"%s stroke-width="%s" stroke-linejoin="round"/>`+"\n", path(through), paint("stroke", tone), short(width))
}

func (v *vector) disc(tone color.NRGBA, at spot, radius float64) {
	fmt.Fprintf(&v.b, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", short(at.X), short(at.Y), short(radius), paint("fill", tone))
}

func (v *vector) text(tone color.NRGBA, t text) {
	anchor := [...]string{"start", "middle", "end"}[int(2*t.before)]
	fmt.Fprintf(&v.b, `<text x="%s" y="%s" font-size="%s" text-anchor="%s"%s`, short(t.at.X), short(t.at.Y), short(t.size), anchor, paint("fill", tone))
	if t.upwards {
		fmt.Fprintf(&v.b, ` transform="rotate(-90 %s %s)"`, short(t.at.X), short(t.at.Y))
	}
	v.b.WriteByte('>')
	_ = xml.EscapeText(&v.b, []byte(t.s)) // a buffer takes all
	v.b.WriteString("</text>\n")
}

func (v *vector) WriteTo(w io.Writer) (int64, error) {
	v.b.WriteString("</svg>\n")
	return v.b.WriteTo(w)
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
