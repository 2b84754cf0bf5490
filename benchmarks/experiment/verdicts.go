package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// verdicts says in plain language what was found, and on which numbers it
// rests.
func (r *run) verdicts(res *Result) []Verdict {
	out := []Verdict{}
	several := len(res.Datasets) > 1
	out = append(out, r.differenceVerdicts(res, several)...)
	res.repeats(func(dataset, metric, text string, cells int) {
		on := About{Dataset: dataset}
		out = append(out, Verdict{
			Dataset: dataset, Kind: "difference", Value: report.None(), Numbers: []Fact{fact("cells", fmt.Sprint(cells))},
			Text: fmt.Sprintf("%s for %s%s: equal scores in all %d cells", text, metric, on.on(several), cells),
		})
	})
	// Statistics of a few systems say little of single references; their numbers
	// are in the tables.
	for i := range res.Curves {
		if v, ok := res.Curves[i].Verdict(several); ok && r.ofCells(res.Curves[i].Statistic) {
			out = append(out, v)
		}
	}
	for i := range res.Prompts {
		if r.ofCells(res.Prompts[i].Statistic) {
			out = append(out, res.Prompts[i].verdict(several))
		}
	}
	for i := range res.Worths {
		out = append(out, res.Worths[i].verdict(several))
	}
	out = append(out, strataVerdicts(r.worthwhile(res), several)...)
	for _, d := range res.Datasets {
		out = append(out, coverageVerdicts(res, d, several)...)
	}
	return out
}

// differenceVerdicts says what is significant, one by one, and what is not
// together.
func (r *run) differenceVerdicts(res *Result, several bool) []Verdict {
	type key struct {
		about     About
		metric    string
		b         SettingName
		undecided bool
	}
	var out []Verdict
	unclear := map[key][]*Difference{}
	at := map[key]int{} // of the verdict on them
	for i := range res.Differences {
		d := &res.Differences[i]
		v := d.verdict(several, r.p.Bootstrap.Confidence)
		k := key{d.About, d.A.Metric, d.B, d.Undecided}
		if v.Outcome != report.Unclear || !d.Value.Defined() {
			out = append(out, v)
			continue
		}
		if unclear[k] = append(unclear[k], d); len(unclear[k]) == 1 {
			at[k] = len(out)
			out = append(out, v)
			continue
		}
		out[at[k]] = together(unclear[k], several)
	}
	return out
}

// together is the verdict on several differences that are not significant.
func together(all []*Difference, several bool) Verdict {
	first := all[0]
	v := Verdict{Dataset: first.Dataset, Kind: "difference", Outcome: report.Unclear, Value: report.None()}
	var names []string
	for _, d := range all {
		found := change(d.Value, d.Interval)
		if p := pText(d.Corrected); p != "" {
			found += ", " + p
		}
		v.Numbers = append(v.Numbers, fact(d.AName, found))
		names = append(names, d.AName+" ("+found+")")
	}
	b := first.BName
	if first.A.Metric != first.B.Metric {
		b = first.B.Metric + ", " + b
	}
	what := "no significant difference from"
	if first.Undecided {
		what = tooFew + " to tell from"
	}
	v.Text = fmt.Sprintf("%s %s for %s%s, %s: %s", what, b, first.A.Metric, first.on(several), first.Statistic, firstOf(names))
	return v
}

// tooFew is the verdict of a test that could not find anything.
const tooFew = "undecided: too few resamples"

// firstOf lists the first few names, and says how many more there are.
func firstOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// repeats says of each setting that stands for others which ones these are.
func (r *Result) repeats(say func(dataset, metric, text string, cells int)) {
	type key struct {
		dataset string
		as      SettingName
	}
	for _, all := range groupsOf(pointers(r.Same), func(s *Same) (key, bool) { return key{s.Dataset, s.As}, true }) {
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		s := all[0]
		say(s.Dataset, s.As.Metric, fmt.Sprintf("%s and %s are the same", strings.Join(names, ", "), s.AsName), s.Cells)
	}
}

// ofCells says whether the statistic of a label is of single cells.
func (r *run) ofCells(label string) bool {
	return slices.ContainsFunc(r.p.Statistics, func(s Statistic) bool { return s.Label() == label && s.ofCells() })
}

// enoughSegments is how many segments a stratum has that a verdict rests on.
const enoughSegments = 30

// worthwhile returns the strata of significant differences, and what tells of
// favour, but for small ones.
func (r *run) worthwhile(res *Result) []Stratum {
	return slices.DeleteFunc(slices.Clone(res.Strata), func(s Stratum) bool {
		return s.Segments < enoughSegments || s.Statistic != favourName && !slices.ContainsFunc(res.Differences, func(d Difference) bool {
			return d.About == s.About && d.A == s.A && d.B == s.B && d.Significant
		})
	})
}

func fact(name, value string) Fact { return Fact{Name: name, Value: value} }

// on names the dataset where there are several.
func (a *About) on(several bool) string {
	if !several {
		return ""
	}
	if a.Dataset == pooledName {
		return " over all datasets together"
	}
	return " on " + a.Dataset
}

// change writes a difference with its interval, such as "+0.048 [0.043, 0.053]".
func change(v Number, iv *report.Range) string {
	s := signed(float64(v))
	if iv != nil {
		s += fmt.Sprintf(" [%s, %s]", fixed(float64(iv.Low)), fixed(float64(iv.High)))
	}
	return s
}

// fixed writes three decimals, and more where these would be zeros.
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
func pText(p Number) string {
	switch {
	case !p.Defined():
		return ""
	case p < 0.001:
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", float64(p))
}

// verdict says which of two settings is better.
func (d *Difference) verdict(several bool, confidence float64) Verdict {
	v := Verdict{Dataset: d.Dataset, Kind: "difference", Value: d.Value, Range: d.Interval}
	a, b := d.AName, d.BName
	of := " for " + d.A.Metric
	if d.A.Metric != d.B.Metric {
		a, b, of = d.A.Metric+", "+a, d.B.Metric+", "+b, ""
	}
	of += d.on(several) + ", " + d.Statistic
	tail := ""
	if p := pText(d.Corrected); p != "" {
		tail = ", " + p
		if d.Corrected > d.P {
			tail += " (Holm)"
		}
		if !d.Significant && float64(d.Corrected) < 1-confidence && d.Interval != nil && d.Interval.Contains(0) {
			tail += ", but the interval includes 0"
		}
	}
	if !d.P.Defined() && d.Interval != nil {
		tail = ", by its interval alone"
	}
	switch {
	case !d.Value.Defined():
		v.Outcome = report.Unclear
		v.Text = fmt.Sprintf("%s and %s cannot be compared%s: the statistic is undefined", a, b, of)
	case d.Cells > 0 && d.Equal == d.Cells:
		v.Text = fmt.Sprintf("%s and %s are the same%s: equal scores in all %d cells", a, b, of, d.Cells)
	case !d.Significant && d.Interval == nil && !d.P.Defined():
		v.Text = fmt.Sprintf("%s against %s%s: %s, without an interval or a test", a, b, of, change(d.Value, nil))
	case d.Undecided:
		v.Outcome = report.Unclear
		v.Text = fmt.Sprintf("%s to tell %s from %s%s: %s%s", tooFew, a, b, of, change(d.Value, d.Interval), tail)
	case !d.Significant:
		v.Outcome = report.Unclear
		v.Text = fmt.Sprintf("no significant difference between %s and %s%s: %s%s", a, b, of, change(d.Value, d.Interval), tail)
	case d.Value > 0:
		v.Outcome = report.Better
		v.Text = fmt.Sprintf("%s beats %s%s: %s%s", a, b, of, change(d.Value, d.Interval), tail)
	default:
		v.Outcome = report.Worse
		v.Text = fmt.Sprintf("%s is worse than %s%s: %s%s", a, b, of, change(d.Value, d.Interval), tail)
	}
	const manyTies = 0.01
	if math.Abs(float64(d.ATies-d.BTies)) > manyTies {
		v.Text += fmt.Sprintf("; ties differ: %s of the pairs of cells have equal scores, against %s", percent(d.ATies), percent(d.BTies))
	}
	if d.Unscored > 0 && d.Cells > 0 {
		v.Text += fmt.Sprintf("; over the %d of %d judged cells that both score", d.Cells, d.Unscored+d.Cells)
	}
	v.Numbers = []Fact{fact(d.Statistic+", "+a, six(d.AValue)), fact(d.Statistic+", "+b, six(d.BValue))}
	if d.Interval != nil {
		v.Numbers = append(v.Numbers, fact(fmt.Sprintf("difference, %g%% interval", 100*confidence), change(d.Value, d.Interval)))
	}
	if d.P.Defined() {
		v.Numbers = append(v.Numbers, fact("p ("+d.Test+")", pText(d.P)), fact("corrected (Holm)", pText(d.Corrected)))
	}
	v.Numbers = append(v.Numbers, fact("n", fmt.Sprint(d.N)))
	return v
}

func six(v Number) string {
	if !v.Defined() {
		return "undefined"
	}
	return fmt.Sprintf("%.6f", float64(v))
}

func percent(v Number) string { return fmt.Sprintf("%.1f%%", 100*float64(v)) }

func negative(v Number) Number {
	if v == 0 {
		return 0
	}
	return -v
}

// mirrored is the interval of the negative values.
func mirrored(iv *report.Range) *report.Range {
	if iv == nil {
		return nil
	}
	return &report.Range{Low: negative(iv.High), High: negative(iv.Low), Undefined: iv.Undefined}
}

// verdict says which prompts matter.
func (p *PromptAnalysis) verdict(several bool) Verdict {
	v := Verdict{Dataset: p.Dataset, Kind: "prompts", Value: report.None()}
	byShare := slices.Clone(p.Prompts)
	slices.SortStableFunc(byShare, func(a, b PromptEffect) int { return cmp.Compare(b.Decides, a.Decides) })
	var names, needed []string
	for _, e := range byShare[:min(3, len(byShare))] {
		names = append(names, fmt.Sprintf("%s (%s)", e.Prompt, percent(e.Decides)))
	}
	byEffect := slices.Clone(p.Prompts)
	slices.SortStableFunc(byEffect, func(a, b PromptEffect) int { return cmp.Compare(b.Effect, a.Effect) })
	spare := 0
	for _, e := range byEffect {
		switch {
		case e.EffectInterval != nil && float64(e.EffectInterval.Low) > 0:
			needed = append(needed, fmt.Sprintf("%s (%s)", e.Prompt, change(negative(e.Effect), mirrored(e.EffectInterval))))
		case e.Prompt != OriginalName:
			spare++
		}
	}
	v.Text = fmt.Sprintf("%s %s%s, %s: the deciding reference comes most often from %s", p.Metric, p.Aggregator, p.on(several), p.Statistic, strings.Join(names, ", "))
	switch {
	case p.Prompts[0].EffectInterval == nil:
	case len(needed) == 0:
		v.Text += "; leaving out any one of them costs nothing significant"
	default:
		v.Text += "; leaving out costs significantly for " + firstOf(needed)
		if spare > 0 {
			v.Text += fmt.Sprintf(", and not for %s", english.Count(spare, "prompt", "prompts"))
		}
		v.Text += "; prompts are not corrected for their number"
	}
	v.Numbers = []Fact{fact("single reference", six(p.Single)), fact("all references", six(p.All))}
	for _, e := range byShare[:min(3, len(byShare))] {
		v.Numbers = append(v.Numbers, fact(e.Prompt+", decides", percent(e.Decides)))
	}
	if p.Unscored > 0 {
		v.Text += fmt.Sprintf("; %d of %d judged cells have no score", p.Unscored, p.Unscored+p.Cells)
	}
	return v
}

// notCorrected is said of what has intervals alone.
const notCorrected = "strata are not corrected for their number"

// strataVerdicts says for each difference and dimension where it is largest.
func strataVerdicts(all []Stratum, several bool) []Verdict {
	var out []Verdict
	type key struct {
		about     About
		a, b      SettingName
		dimension string
	}
	for _, g := range groupsOf(pointers(all), func(s *Stratum) (key, bool) { return key{s.About, s.A, s.B, s.Dimension}, s.Value.Defined() }) {
		if g[0].Statistic == favourName {
			for _, s := range g {
				out = append(out, favourVerdict(s, several))
			}
			continue
		}
		if len(g) < 2 {
			continue
		}
		k := g[0]
		top := slices.MaxFunc(g, func(a, b *Stratum) int { return cmp.Compare(a.Value, b.Value) })
		low := slices.MinFunc(g, func(a, b *Stratum) int { return cmp.Compare(a.Value, b.Value) })
		v := Verdict{Dataset: k.Dataset, Kind: "strata", Value: top.Value - low.Value}
		apart := "their intervals overlap"
		if top.Interval == nil || low.Interval == nil {
			apart = "there are no intervals"
		} else if top.Interval.Low > low.Interval.High {
			apart = "their intervals do not overlap"
		} else {
			v.Outcome = report.Unclear
		}
		v.Text = fmt.Sprintf("%s, %s against %s%s, %s: by %s the difference is largest for %s, %s, and least for %s, %s; %s",
			k.A.Metric, top.AName, top.BName, k.on(several), k.Statistic, k.Dimension,
			top.Name, change(top.Value, top.Interval), low.Name, change(low.Value, low.Interval), apart)
		v.Text += "; " + notCorrected
		for _, s := range g {
			v.Numbers = append(v.Numbers, fact(s.Name+", "+english.Count(s.Segments, "segment", "segments"), change(s.Value, s.Interval)))
		}
		out = append(out, v)
	}
	return out
}

// FindingsOf returns the verdicts of a kind, in the words of a page.
func (r *Result) FindingsOf(kind string) []string {
	var out []string
	for _, v := range r.Verdicts {
		if v.Kind == kind {
			out = append(out, r.displayed(v.Text))
		}
	}
	return out
}

// displayed writes the metric that a verdict begins with, and its statistic, as
// papers print them.
func (r *Result) displayed(text string) string {
	for _, label := range r.Statistics {
		text = strings.Replace(text, ", "+label+":", ", "+report.Display(label)+":", 1)
	}
	return report.Display(text)
}

// StrataFindings says of which parts of the segments the intervals do not
// overlap, and how many breakdowns have none.
func (r *Result) StrataFindings() []string {
	var out []string
	all := 0
	for _, v := range r.Verdicts {
		if v.Kind != "strata" {
			continue
		}
		if all++; v.Outcome != report.Unclear {
			out = append(out, r.displayed(strings.TrimSuffix(v.Text, "; "+notCorrected)))
		}
	}
	if n := all - len(out); n > 0 {
		out = append(out, fmt.Sprintf("In %d of %s the intervals of all parts overlap", n, english.Count(all, "breakdown")))
	}
	return out
}

// coverageVerdicts says what a dataset's numbers leave out.
func coverageVerdicts(res *Result, d DatasetInfo, several bool) []Verdict {
	worst := 0
	var name SettingName
	for i := range res.Rows {
		if r := &res.Rows[i]; r.Dataset == d.Name && r.Unscored > worst {
			worst, name = r.Unscored, r.Setting
		}
	}
	about := About{Dataset: d.Name}
	v := Verdict{Dataset: d.Name, Kind: "coverage", Value: report.None(), Numbers: []Fact{
		fact("segments", fmt.Sprint(d.Segments)), fact("systems", fmt.Sprint(len(d.Systems))), fact("judged cells", fmt.Sprint(d.Cells)),
	}}
	total := d.Segments * len(d.Systems)
	v.Text = fmt.Sprintf("coverage%s: %d of %d cells of %d segments and %d systems have %s scores", about.on(several), d.Cells, total, d.Segments, len(d.Systems), d.Human)
	if worst == 0 {
		v.Text += ", and every setting scores all of them"
	} else {
		v.Text += fmt.Sprintf("; at most %d of them have no score (%s)", worst, name)
	}
	return []Verdict{v}
}
