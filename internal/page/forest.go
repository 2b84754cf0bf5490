package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/report"
)

// forestView is a forest with its axis. Positions are shares of the plot's
// width, so that it has the width that there is.
type forestView struct {
	*report.Forest
	ID     string
	Ticks  []tick
	Zero   string
	Groups []forestGroupView
	Level  string // of the intervals, such as "95%"
	Many   bool   // there are several views
	Drawn  bool   // some interval is drawn
	Tested bool   // something is significant, or is not
}

type forestGroupView struct {
	Name, Against string
	Rows          []forestRowView
}

type forestRowView struct {
	Name    string
	Span    int
	Effects []effectView
}

type effectView struct {
	View                        string
	Class                       string // of the view, and of what is decided
	Value, Difference, Range, P string
	Low, High, At               string // "" for what is not drawn: no mark stands without an interval
	Square                      bool
}

// tick is a labelled place of an axis.
type tick struct {
	At, Label string
	Outer     bool // stays where there is little room
}

// forestDigits is how many decimals of a statistic people print.
const forestDigits = 3

func newForestView(f *report.Forest, number int) forestView {
	v := forestView{Forest: f, ID: fmt.Sprintf("forest-%d", number), Many: len(f.Views) > 1, Level: strconv.FormatFloat(100*f.Level, 'g', 4, 64) + "%"}
	var s scale
	s.take(0)
	for _, g := range f.Groups {
		for _, r := range g.Rows {
			for _, e := range r.Effects {
				s.take(float64(e.Difference))
				if e.Range != nil {
					s.take(float64(e.Range.Low), float64(e.Range.High))
				}
			}
		}
	}
	s.widen(0.06)
	v.Zero = s.share(0)
	v.Ticks = s.ticks()
	for _, g := range f.Groups {
		group := forestGroupView{Name: g.Name, Against: g.Against}
		for _, r := range g.Rows {
			row := forestRowView{Name: r.Name, Span: len(r.Effects)}
			for i, e := range r.Effects {
				effect := newEffectView(&e, f.Views[i], i, &s)
				v.Drawn, v.Tested = v.Drawn || effect.At != "", v.Tested || e.Outcome != report.Neutral
				row.Effects = append(row.Effects, effect)
			}
			group.Rows = append(group.Rows, row)
		}
		v.Groups = append(v.Groups, group)
	}
	return v
}

func newEffectView(e *report.Effect, view string, at int, s *scale) effectView {
	v := effectView{View: view, Class: "view" + strconv.Itoa(min(at, 1)+1), Value: "–", Difference: "–", Range: "–", P: "–", Square: at > 0}
	if e.Outcome == report.Better || e.Outcome == report.Worse {
		v.Class += " decided"
	}
	if e.Value.Defined() {
		v.Value = decimals(float64(e.Value), forestDigits)
	}
	if e.Difference.Defined() {
		v.Difference = signed(float64(e.Difference), forestDigits)
	}
	if r := e.Range; r != nil && r.Low.Defined() && r.High.Defined() && e.Difference.Defined() {
		v.Range = "[" + decimals(float64(r.Low), forestDigits) + ", " + decimals(float64(r.High), forestDigits) + "]"
		v.Low, v.High, v.At = s.share(float64(r.Low)), s.share(float64(r.High)), s.share(float64(e.Difference))
	}
	if e.P != "" {
		v.P = e.P
	}
	return v
}

// decimals writes a number as people print it, with a true minus and no sign of
// a zero.
func decimals(f float64, digits int) string {
	text := strconv.FormatFloat(f, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return report.TrueMinus(text)
}

// signed is decimals with the sign of a plus.
func signed(f float64, digits int) string {
	text := decimals(f, digits)
	if f > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}

// scale is the range of values that a plot shows.
type scale struct {
	low, high float64
	any       bool
}

// take widens the scale to the finite ones among the values.
func (s *scale) take(values ...float64) {
	for _, f := range values {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		if !s.any {
			s.low, s.high, s.any = f, f, true
		}
		s.low, s.high = min(s.low, f), max(s.high, f)
	}
}

// widen adds a margin on either side.
func (s *scale) widen(by float64) {
	margin := by * (s.high - s.low)
	if margin == 0 {
		margin = 1
	}
	s.low, s.high = s.low-margin, s.high+margin
}

// share is the place of a value within the scale.
func (s *scale) share(f float64) string {
	return strconv.FormatFloat(100*(min(max(f, s.low), s.high)-s.low)/(s.high-s.low), 'f', 2, 64) + "%"
}

// ticks are round numbers of the scale.
func (s *scale) ticks() []tick {
	values, digits := report.Ticks(s.low, s.high)
	out := make([]tick, len(values))
	for i, v := range values {
		out[i] = tick{At: s.share(v), Label: signed(v, digits), Outer: v == 0 || i == 0 || i == len(values)-1}
		if v == 0 {
			out[i].Label = "0"
		}
	}
	return out
}
