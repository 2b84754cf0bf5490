package figure_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/refract-eval/refract/report/figure"
)

func panels() []figure.Panel {
	band := func(name string, by float64) figure.Series {
		s := figure.Series{Name: name}
		for k := range 11 {
			y := 0.3 + by*math.Sqrt(float64(k))
			s.Points = append(s.Points, figure.Point{X: float64(k), Y: y, Low: y - 0.01, High: y + 0.01})
		}
		return s
	}
	random := band("random", 0.015)
	random.Muted = true
	random.Points[3].Y = math.NaN()
	nan := math.NaN()
	return []figure.Panel{
		&figure.Lines{Title: "bleu, max <&>", X: "references", Y: "pearson", WholeX: true,
			Series: []figure.Series{band("all prompts", 0.03), random, {Name: "one", Points: []figure.Point{{X: 2, Y: 0.35, Low: math.NaN(), High: math.NaN()}}}, {Name: "none"}}},
		&figure.Bars{Title: "systems \u202e", Value: "score", Bars: []figure.Bar{
			{"a long name of a system", 3, 2.5, 3.5}, {"b", -2, nan, nan}, {"c", nan, nan, nan}, {"d", 4, 3.9, 4.1},
		}},
	}
}

func TestDrawSVG(t *testing.T) {
	for _, dark := range []bool{false, true} {
		var a, b bytes.Buffer
		style := figure.Style{Dark: dark}
		if err := figure.Draw(&a, style, panels()...); err != nil {
			t.Fatal(err)
		}
		if err := figure.Draw(&b, style, panels()...); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Error("the same panels give other bytes")
		}
		var text strings.Builder
		for d := xml.NewDecoder(&a); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("not XML: %v", err)
			}
			if c, ok := token.(xml.CharData); ok {
				text.Write(c)
			}
		}
		for _, want := range []string{"bleu, max <&>", "all prompts", "random", "pearson", "a long name of a system", `systems \u202e`} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the picture lacks the text %q", want)
			}
		}
		if strings.Contains(text.String(), "none") {
			t.Error("a series without points is in the legend")
		}
	}
}

func TestDrawPNG(t *testing.T) {
	var b bytes.Buffer
	if err := figure.Draw(&b, figure.Style{Format: figure.PNG}, panels()...); err != nil {
		t.Fatal(err)
	}
	image, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Bounds().Size(); size.X < 2*size.Y {
		t.Errorf("two panels side by side are %v pixels", size)
	}
}

func TestDrawErrors(t *testing.T) {
	for want, c := range map[string]struct {
		style  figure.Style
		panels []figure.Panel
	}{
		"no panels":      {},
		"unknown format": {figure.Style{Format: "gif"}, panels()},
		"at least one":   {panels: []figure.Panel{&figure.Bars{}}},
	} {
		if err := figure.Draw(io.Discard, c.style, c.panels...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	broken := errors.New("full")
	if err := figure.Draw(writer{broken}, figure.Style{}, panels()...); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type writer struct{ err error }

func (w writer) Write([]byte) (int, error) { return 0, w.err }

// Charts that share an axis are drawn on the range of both.
func TestShareY(t *testing.T) {
	chart := func(y float64) *figure.Lines {
		return &figure.Lines{Series: []figure.Series{{Name: "line", Points: []figure.Point{{X: 1, Y: y, Low: y - 1, High: y + 1}, {X: 2, Y: y + 2, Low: math.NaN(), High: math.NaN()}}}}}
	}
	drawn := func(l *figure.Lines) string {
		var b bytes.Buffer
		if err := figure.Draw(&b, figure.Style{}, l); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	low, high := chart(0), chart(100)
	if strings.Contains(drawn(low), ">100<") {
		t.Error("the axis goes beyond the values")
	}
	figure.ShareY(low, high)
	for _, l := range []*figure.Lines{low, high} {
		for _, want := range []string{">0<", ">100<"} {
			if !strings.Contains(drawn(l), want) {
				t.Errorf("the axis lacks %s", want)
			}
		}
	}
}
