package conclusions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/page"
	"github.com/refract-eval/refract/internal/english"
)

// verdicts says in plain language what was found, with the numbers behind it.
func (r *Result) verdicts() []Verdict {
	out := []Verdict{}
	several := len(r.Datasets) > 1
	for i := range r.Differences {
		out = append(out, verdict(&r.Differences[i], several))
	}
	r.repeats(func(s *experiment.Same, names string) {
		out = append(out, Verdict{Dataset: s.Dataset, Kind: "difference", Value: experiment.None(),
			Text: fmt.Sprintf("%s and %s are the same for %s%s: equal scores in all %s", names, s.AsName, s.Setting.Metric, onDataset(s.Dataset, several), english.Count(s.Cells, "cell"))})
	})
	// Statistics of a few systems say little about single references; their numbers are in the
	// tables.
	for i := range r.Curves {
		if c := &r.Curves[i]; c.Enough > 0 && len(c.Points) > 1 && slices.Contains(r.CellStatistics, c.Statistic) {
			out = append(out, curveVerdict(c, several))
		}
	}
	for i := range r.Prompts {
		if slices.Contains(r.CellStatistics, r.Prompts[i].Statistic) {
			out = append(out, promptVerdict(&r.Prompts[i], several))
		}
	}
	for i := range r.Datasets {
		name := r.Datasets[i].Name
		out = append(out, Verdict{Dataset: name, Kind: "coverage", Value: experiment.None(), Text: "coverage" + onDataset(name, several) + ": " + r.coverage(r.Datasets[i:i+1])})
	}
	return out
}

// repeats names the settings that another one represents, one of which is s, unless it is so
// because there is only one reference.
func (r *Result) repeats(say func(s *experiment.Same, names string)) {
	type key struct {
		dataset string
		as      experiment.SettingName
	}
	for _, all := range groupsOf(pointers(r.Same), func(s *experiment.Same) (key, bool) {
		return key{s.Dataset, s.As}, !strings.Contains(s.Name, " over 1 reference ")
	}) {
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		say(all[0], strings.Join(names, ", "))
	}
}

// onDataset names the dataset if there are several.
func onDataset(dataset string, several bool) string {
	switch {
	case !several:
		return ""
	case dataset == experiment.Pooled:
		return " over all datasets together"
	}
	return " on " + dataset
}

// change writes a difference with its interval, such as "+0.048 [0.043, 0.053]".
func change(v experiment.Number, iv *experiment.Range) string {
	s := signed(float64(v))
	if iv != nil {
		s += fmt.Sprintf(" [%s, %s]", fixed(float64(iv.Low)), fixed(float64(iv.High)))
	}
	return s
}

// fixed writes three decimals, and more if these would be zeros.
func fixed(v float64) string {
	digits := 3
	for digits < 6 && v != 0 && math.Abs(v) < 0.5*math.Pow10(-digits) {
		digits++
	}
	s := fmt.Sprintf("%.*f", digits, v)
	if strings.Trim(s, "-0.") == "" {
		return "0.000"
	}
	return s
}

func signed(v float64) string {
	s := fixed(v)
	if v > 0 && s != "0.000" {
		return "+" + s
	}
	return s
}

// pText writes a p-value, "" for none.
func pText(p experiment.Number) string {
	switch {
	case !p.Defined():
		return ""
	case p < 0.001:
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", float64(p))
}

// verdict says which of two settings is better.
func verdict(d *experiment.Difference, several bool) Verdict {
	v := Verdict{Dataset: d.Dataset, Kind: "difference", Value: d.Value, Range: d.Interval, Outcome: outcome(d)}
	a, b, of := d.AName, d.BName, " for "+d.A.Metric
	if d.AcrossMetrics() {
		of = ""
	}
	of += onDataset(d.Dataset, several) + ", " + d.Statistic
	if !d.Value.Defined() {
		v.Text = fmt.Sprintf("%s and %s cannot be compared%s: the statistic is undefined", a, b, of)
		return v
	}
	found := change(d.Value, d.Interval)
	switch p := pText(d.Corrected); {
	case p != "":
		if found += ", " + p; d.Corrected > d.P {
			found += " (Holm)"
		}
	case d.Interval != nil:
		found += ", by its interval only"
	}
	switch {
	case d.Cells > 0 && d.Equal == d.Cells:
		v.Text = fmt.Sprintf("%s and %s are the same%s: equal scores in all %s", a, b, of, english.Count(d.Cells, "cell"))
	case !tested(d):
		v.Text = fmt.Sprintf("%s against %s%s: %s, without an interval or a test", a, b, of, found)
	case d.Undecided && !lacking(d):
		v.Text = fmt.Sprintf("undecided between %s and %s%s: %s, but the interval includes 0", a, b, of, found)
	case d.Undecided:
		v.Text = fmt.Sprintf("undecided: too few %s to tell %s from %s%s: %s", tooFew(d), a, b, of, found)
	case !d.Significant:
		v.Text = fmt.Sprintf("no significant difference between %s and %s%s: %s", a, b, of, found)
	case d.Value > 0:
		v.Text = fmt.Sprintf("%s beats %s%s: %s", a, b, of, found)
	default:
		v.Text = fmt.Sprintf("%s is worse than %s%s: %s", a, b, of, found)
	}
	if d.Unscored > 0 && d.Cells > 0 {
		v.Text += fmt.Sprintf("; over the %d of %s that both score", d.Cells, english.Count(d.Unscored+d.Cells, "judged cell"))
	}
	return v
}

// lacking reports whether a difference is undecided for too few resamples or units, and not
// because its interval includes 0.
func lacking(d *experiment.Difference) bool {
	return d.Undecided && (d.Interval == nil || !d.Interval.Contains(0))
}

// tooFew names what an undecided difference has too little of.
func tooFew(d *experiment.Difference) string { return cmp.Or(d.Few, "resamples") }

// lacks reports whether there is too little of something for any p-value to be small enough.
func lacks(d *experiment.Difference) bool { return lacking(d) || d.P.Defined() && d.Few != "" }

func percent(v experiment.Number) string { return fmt.Sprintf("%.1f%%", 100*float64(v)) }

func negative(v experiment.Number) experiment.Number {
	if v == 0 {
		return 0
	}
	return -v
}

// mirrored returns the interval of the negated values.
func mirrored(iv *experiment.Range) *experiment.Range {
	if iv == nil {
		return nil
	}
	return &experiment.Range{Low: negative(iv.High), High: negative(iv.Low), Undefined: iv.Undefined}
}

// verdict says how many references are enough.
func curveVerdict(c *experiment.CurveResult, several bool) Verdict {
	v := Verdict{Dataset: c.Dataset, Kind: "curve"}
	at := slices.IndexFunc(c.Points, func(p experiment.Point) bool { return p.References >= c.Enough })
	p := &c.Points[at]
	v.Text = fmt.Sprintf("%s %s%s, %s, references chosen by %s: ", c.Metric, c.Aggregator, onDataset(c.Dataset, several), c.Statistic, c.By)
	switch first := &c.Points[0]; {
	case first.ToAllRange != nil && first.ToAllRange.Low > 0:
		v.Outcome, p = page.Worse, first
		v.Text += "more references lower agreement"
	case c.Enough >= c.Most:
		p = &c.Points[max(at-1, 0)]
		v.Text += "agreement still rises with the last reference"
	case at == 0:
		v.Outcome = page.Unclear
		v.Text += "no clear gain from more references"
	default:
		v.Text += fmt.Sprintf("no clear gain beyond %s", english.Count(c.Enough, "reference"))
	}
	v.Value, v.Range = negative(p.ToAll), mirrored(p.ToAllRange)
	v.Text += fmt.Sprintf(" (%s from %d to %d, by the interval)", change(v.Value, v.Range), p.References, c.Most)
	return v
}

// verdict says which prompts matter.
func promptVerdict(p *experiment.PromptAnalysis, several bool) Verdict {
	v := Verdict{Dataset: p.Dataset, Kind: "prompts", Value: experiment.None()}
	byShare := slices.Clone(p.Prompts)
	slices.SortStableFunc(byShare, func(a, b experiment.PromptEffect) int { return cmp.Compare(b.Decides, a.Decides) })
	var names, needed []string
	for _, e := range byShare[:min(3, len(byShare))] {
		names = append(names, fmt.Sprintf("%s (%s)", e.Prompt, percent(e.Decides)))
	}
	for _, e := range p.Prompts {
		if e.Needed {
			needed = append(needed, fmt.Sprintf("%s (%s)", e.Prompt, change(negative(e.Effect), mirrored(e.EffectInterval))))
		}
	}
	v.Text = fmt.Sprintf("%s %s%s, %s: the deciding reference comes most often from %s", p.Metric, p.Aggregator, onDataset(p.Dataset, several), p.Statistic, strings.Join(names, ", "))
	switch {
	case p.Prompts[0].EffectInterval == nil:
	case len(needed) == 0:
		v.Text += "; none of the prompts is clearly needed"
	default:
		v.Text += "; agreement falls without " + strings.Join(needed, ", ") + " (intervals corrected for the number of prompts)"
	}
	if p.Unscored > 0 {
		v.Text += fmt.Sprintf("; %d of %s have no score", p.Unscored, english.Count(p.Unscored+p.Cells, "judged cell"))
	}
	return v
}
