package figure_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/cmd/refract/internal/figure"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
		&figure.Lines{Title: "bleu, max <&>", X: "references", Y: "pearson",
			Series: []figure.Series{band("all prompts", 0.03), random, {Name: "one", Points: []figure.Point{{X: 2, Y: 0.35, Low: math.NaN(), High: math.NaN()}}}, {Name: "none"}}},
		&figure.Bars{Title: "systems \u202e", Value: "score", Bars: []figure.Bar{
			{Name: "a long name of a system", Value: 3, Low: 2.5, High: 3.5}, {Name: "b", Value: -2, Low: nan, High: nan, Worse: true}, {Name: "c", Value: nan, Low: nan, High: nan}, {Name: "d", Value: 4, Low: 3.9, High: 4.1, Muted: true},
		}},
	}
}

func TestDrawGolden(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, figure.Draw(&b, figure.Style{}, panels()...))
	golden := filepath.Join("testdata", "panels.svg")
	if *update {
		require.NoError(t, os.WriteFile(golden, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n"))
	assert.Equal(t, "", diff, "differs from %s, which -update writes anew:\n", golden)
}

// Numbers of any size and texts of any length are drawn, as XML.
func TestDrawAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.NaN(), math.Inf(1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64}))
		series := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) figure.Series {
			s := figure.Series{Name: rapid.String().Draw(t, "name"), Muted: rapid.Bool().Draw(t, "muted")}
			for range rapid.IntRange(0, 4).Draw(t, "points") {
				s.Points = append(s.Points, figure.Point{X: number.Draw(t, "x"), Y: number.Draw(t, "y"), Low: number.Draw(t, "low"), High: number.Draw(t, "high")})
			}
			return s
		}), 0, 8).Draw(t, "series")
		bars := &figure.Bars{Title: rapid.String().Draw(t, "title"), Bars: []figure.Bar{{Name: strings.Repeat(rapid.String().Draw(t, "name"), 40), Value: number.Draw(t, "value"), Low: number.Draw(t, "low"), High: number.Draw(t, "high")}}}
		var b bytes.Buffer
		require.NoError(t, figure.Draw(&b, figure.Style{Dark: rapid.Bool().Draw(t, "dark")}, &figure.Lines{Series: append(series, figure.Series{Points: []figure.Point{{}}})}, bars))
		require.NoError(t, xml.Unmarshal(b.Bytes(), new(struct{})), "not XML")
		require.Equal(t, "", regexp.MustCompile(`NaN|Inf|[0-9]{5}`).FindString(text.ReplaceAllString(b.String(), "")), "a place")
	})
	for _, v := range []float64{math.MaxFloat64, -math.MaxFloat64, 1e17, math.SmallestNonzeroFloat64} {
		bar := figure.Bar{Name: strings.Repeat("name", 100), Value: v, Low: v / 2, High: -v}
		line := figure.Series{Name: "line", Points: []figure.Point{{v, 0, -v, v}, {v / 2, v, v, v}}}
		err := figure.Draw(io.Discard, figure.Style{}, &figure.Bars{Bars: []figure.Bar{bar}}, &figure.Lines{Series: []figure.Series{line}})
		require.NoError(t, err)
	}
}

var text = regexp.MustCompile(`>[^<]*</text>`)

func TestDrawErrors(t *testing.T) {
	assert.NoError(t, figure.Draw(io.Discard, figure.Style{}, &figure.Bars{}), "no bars")
	broken := errors.New("full")
	assert.ErrorIs(t, figure.Draw(writer{broken}, figure.Style{}, panels()...), broken)
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
		require.NoError(t, figure.Draw(&b, figure.Style{}, l))
		return b.String()
	}
	low, high := chart(0), chart(100)
	assert.NotContains(t, drawn(low), ">100<", "the axis goes beyond the values")
	figure.ShareY(low, high)
	for _, l := range []*figure.Lines{low, high} {
		for _, want := range []string{">0<", ">100<"} {
			assert.Contains(t, drawn(l), want, "the axis lacks")
		}
	}
}

// If whole numbers do not all fit on an axis, round ones are shown.
func TestWholeTicks(t *testing.T) {
	for most, want := range map[float64][]string{3: {">2<", ">3<"}, 14: {">2<", ">12<"}, 1875: {">500<", ">1000<", ">1500<"}} {
		var b bytes.Buffer
		err := figure.Draw(&b, figure.Style{}, &figure.Lines{Series: []figure.Series{{Points: []figure.Point{{X: 1, Y: 0.1}, {X: most, Y: 0.2}}}}})
		require.NoError(t, err)
		for _, label := range want {
			assert.Contains(t, b.String(), label, "the axis to %v lacks", most)
		}
		assert.NotContains(t, b.String(), ">7<", "the axis to %v has a number that is not round", most)
	}
}

// The names of many lines are all inside the picture, and do not overlap.
func TestManyLines(t *testing.T) {
	l := &figure.Lines{Title: "chrf", X: "references", Y: "kendall"}
	for i := range 30 {
		s := figure.Series{Name: fmt.Sprintf("line-%02d of a long name", i)}
		for k := range 5 {
			y := 0.2 + 0.0005*float64(i*k)
			s.Points = append(s.Points, figure.Point{X: float64(k), Y: y, Low: y, High: y})
		}
		l.Series = append(l.Series, s)
	}
	var b bytes.Buffer
	require.NoError(t, figure.Draw(&b, figure.Style{}, l))
	size := regexp.MustCompile(`width="([\d.]+)pt" height="([\d.]+)pt"`).FindStringSubmatch(b.String())
	var at []float64
	for _, m := range regexp.MustCompile(`<text x="([-\d.]+)" y="([-\d.]+)"[^>]*>line-`).FindAllStringSubmatch(b.String(), -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		width, _ := strconv.ParseFloat(size[1], 64)
		height, _ := strconv.ParseFloat(size[2], 64)
		if x+100 > width || y < 0 || y > height {
			t.Errorf("a name at %v, %v of a picture of %v × %v", x, y, width, height)
		}
		at = append(at, y)
	}
	slices.Sort(at)
	require.Len(t, at, len(l.Series), "%d names of", len(at))
	for i := range at[1:] {
		if at[i+1]-at[i] < 11.9 {
			t.Errorf("names at %v and %v", at[i], at[i+1])
		}
	}
}
