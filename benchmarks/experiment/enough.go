package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// Verdict says how many references are enough. It is false where the curve does
// not tell.
func (c *CurveResult) Verdict(several bool) (Verdict, bool) {
	v := Verdict{Dataset: c.Dataset, Kind: "curve", Value: report.None()}
	if len(c.Points) < 2 || c.Enough == 0 {
		return v, false
	}
	at := slices.IndexFunc(c.Points, func(p Point) bool { return p.References >= c.Enough })
	first, p, last := &c.Points[0], &c.Points[at], &c.Points[len(c.Points)-1]
	head := fmt.Sprintf("%s %s%s, %s, references chosen by %s", c.Metric, c.Aggregator, c.on(several), c.Statistic, c.By)
	shown := []*Point{first, p, last}
	switch {
	case first.ToAllRange != nil && first.ToAllRange.Low > 0:
		v.Outcome, p, shown = report.Worse, first, shown[:1]
		v.Text = fmt.Sprintf("%s: more references do harm; all %d are %s against %d", head, c.Most, change(negative(first.ToAll), mirrored(first.ToAllRange)), first.References)
	case at > 0 && c.Points[at-1].ToAllRange == nil:
		v.Outcome = report.Unclear
		v.Text = fmt.Sprintf("%s: no significant gain beyond %d of %d references; of %d there is no paired interval to tell", head, c.Enough, c.Most, c.Points[at-1].References)
	case c.Enough >= c.Most && at > 0:
		v.Text = fmt.Sprintf("%s: every further reference up to all %d adds", head, c.Most)
		before := &c.Points[at-1]
		off := change(before.ToAll, before.ToAllRange)
		if text := c.uneven(); text == "" {
			v.Text += fmt.Sprintf("; %d are still %s off", before.References, off)
		} else {
			v.Text = fmt.Sprintf("%s: all %d are better than %d, which are %s off; %s", head, c.Most, before.References, off, text)
		}
	case at == 0:
		v.Outcome = report.Unclear
		v.Text = fmt.Sprintf("%s: no significant gain from more than %d; all %d give %s", head, p.References, c.Most, change(negative(first.ToAll), mirrored(first.ToAllRange)))
	default:
		v.Text = fmt.Sprintf("%s: no significant gain beyond %d references; all %d give %s more", head, c.Enough, c.Most, change(negative(p.ToAll), mirrored(p.ToAllRange)))
	}
	if n := c.most90(); n > 0 && n < c.Enough {
		v.Text += fmt.Sprintf("; %d give 90%% of the gain", n)
	}
	v.Value, v.Range = negative(p.ToAll), mirrored(p.ToAllRange)
	for _, q := range shown {
		f := fact(english.Count(q.References, "reference", "references"), six(q.Value))
		if !slices.Contains(v.Numbers, f) {
			v.Numbers = append(v.Numbers, f)
		}
	}
	return v, true
}

// most90 is the smallest number of references from which on all points have 90% of
// the gain of all over the first point; 0 where there is no significant gain.
func (c *CurveResult) most90() int {
	first := &c.Points[0]
	if first.ToAllRange == nil || first.ToAllRange.High >= 0 {
		return 0
	}
	out := 0
	for _, p := range slices.Backward(c.Points) {
		if !(p.ToAll >= first.ToAll/10) {
			break
		}
		out = p.References
	}
	return out
}

// uneven says why not every further reference adds, although all are better than all
// but the last: where the value falls, and from how many on that is not significant.
// It is "" where every one adds.
func (c *CurveResult) uneven() string {
	var out []string
	for i := range c.Points[1:] {
		if p, q := &c.Points[i], &c.Points[i+1]; q.Value <= p.Value {
			out = append(out, fmt.Sprintf("the value falls from %s at %d to %s at %d", fixed(float64(p.Value)), p.References, fixed(float64(q.Value)), q.References))
			break
		}
	}
	for _, p := range c.Points[:len(c.Points)-1] {
		if p.ToAllRange != nil && p.ToAllRange.High >= 0 {
			out = append(out, fmt.Sprintf("%d are not significantly below all: %s", p.References, change(p.ToAll, p.ToAllRange)))
			break
		}
	}
	return strings.Join(out, ", and ")
}
