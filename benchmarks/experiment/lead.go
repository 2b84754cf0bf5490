package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/report"
)

// Lead says in one sentence what a result comes to, "" where it has no numbers:
// where there are tasks which settings lead over them, else the setting to use with
// what it gains, and what harms, by which statistic. It says so where a plan chose
// a subset.
func (r *Result) Lead() string {
	text, _ := r.lead()
	if text == "" || r.Subset() == "" {
		return text
	}
	if strings.HasPrefix(text, "By ") {
		text = "b" + text[1:]
	}
	return "On a subset, " + text
}

// DecidedBy is the label of the statistic that decides the sentence of Lead, the
// first one where nothing does.
func (r *Result) DecidedBy() string {
	_, d := r.lead()
	switch {
	case d != nil:
		return d.Statistic
	case len(r.Statistics) > 0:
		return r.Statistics[0]
	}
	return ""
}

// lead is the sentence, with a difference of the view that decides it; nil for none.
func (r *Result) lead() (string, *Difference) {
	if text := r.standing(); text != "" {
		return text, nil
	}
	all := slices.Concat(r.leading()...)
	if len(all) == 0 {
		return r.highest(), nil
	}
	all = append(all, r.standIns(all)...)
	if r.few(all[0]) {
		return fmt.Sprintf("%s of so few systems tells nothing: three have three pairs; take a statistic of single outputs, such as kendall",
			capital(report.Display(all[0].Statistic))), nil
	}
	head := "By " + report.Display(all[0].measured().statistic) + ", "
	by := views(all)
	if text := r.decided(by); text != "" {
		return head + text + r.beside(by[0]), by[0][0]
	}
	for _, view := range by[1:] {
		if text := r.decided([][]*Difference{view}); text != "" {
			return head + fmt.Sprintf("%s, nothing differs significantly from %s; %s: %s", by[0][0].grouping(), base(all), view[0].grouping(), text), view[0]
		}
	}
	return head + largest(all, by[0]), nil
}

// beside names a metric that is compared with nothing, such as scores of one's own, where
// it has the highest value of a view.
func (r *Result) beside(view []*Difference) string {
	var top *Row
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Statistic != view[0].Statistic || !row.Value.Defined() {
			continue
		}
		if top == nil || row.Missing < top.Missing || row.Missing == top.Missing && row.Value > top.Value {
			top = row
		}
	}
	if top == nil || len(r.Datasets) > 1 || slices.ContainsFunc(view, func(d *Difference) bool { return d.A.Metric == top.Setting.Metric }) {
		return ""
	}
	return fmt.Sprintf("; the highest value is of %s, %s", report.Display(top.Setting.String()), report.TrueMinus(fixed(float64(top.Value))))
}

// largest says of a result in which nothing is significant why that is, and what
// the largest difference of a view is.
func largest(all, view []*Difference) string {
	top := slices.MaxFunc(view, func(a, b *Difference) int { return cmp.Compare(math.Abs(float64(a.Value)), math.Abs(float64(b.Value))) })
	value := fmt.Sprintf("%s for %s", report.TrueMinus(change(top.Value, top.Interval)), named(top, view))
	switch {
	case !slices.ContainsFunc(view, func(d *Difference) bool { return d.Cells == 0 || d.Equal < d.Cells }):
		return fmt.Sprintf("every setting gives the same scores as %s", base(all))
	case slices.ContainsFunc(all, func(d *Difference) bool { return d.Undecided }):
		return fmt.Sprintf("the test has too few resamples to decide; the largest difference from %s is %s", base(all), value)
	case !slices.ContainsFunc(all, func(d *Difference) bool { return d.outcome() != report.Neutral }):
		return fmt.Sprintf("the largest difference from %s is %s, not tested", base(all), value)
	}
	return fmt.Sprintf("nothing differs significantly from %s; the largest difference is %s", base(all), value)
}

// FewSystems is how many systems tell nothing of their order: three have three
// pairs.
const FewSystems = 3

// few says that a difference is of the order of too few systems.
func (r *Result) few(d *Difference) bool {
	return strings.Contains(d.Statistic, "accuracy") && !slices.ContainsFunc(r.Datasets, func(i DatasetInfo) bool { return len(i.Systems) > FewSystems })
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// candidate is a setting with its differences for each metric and dataset.
type candidate struct {
	name string
	all  []*Difference
}

// standIns are differences of settings that are no row, as another one with the same
// scores stands for them, beside those of another metric that has such a row.
func (r *Result) standIns(all []*Difference) []*Difference {
	var out []*Difference
	for i := range r.Same {
		s := &r.Same[i]
		if !slices.ContainsFunc(all, func(d *Difference) bool {
			return d.A.Metric == d.B.Metric && d.A.Aggregator == s.Setting.Aggregator && d.A.References == s.Setting.References
		}) {
			continue
		}
		for _, d := range all {
			if d.Dataset == s.Dataset && d.A == s.As && d.A.Metric == d.B.Metric {
				stands := *d
				stands.A, stands.AName = s.Setting, s.Name
				out = append(out, &stands)
			}
		}
	}
	return out
}

// as says which setting stands for that of some differences, such as " (where it is
// max)"; "" where it has a row of its own.
func (r *Result) as(of []*Difference) string {
	for _, d := range of {
		at := slices.IndexFunc(r.Same, func(s Same) bool { return s.Dataset == d.Dataset && s.Setting == d.A })
		if at < 0 {
			continue
		}
		name := r.Same[at].As.Aggregator
		if r.Same[at].As.References != d.A.References {
			name = r.Same[at].AsName
		}
		return " (where it is " + name + ")"
	}
	return ""
}

// settingsOf parts the differences of a view by the setting, whatever its metric.
func settingsOf(view []*Difference) []candidate {
	var out []candidate
	for _, of := range groupsOf(view, func(d *Difference) (SettingName, bool) {
		name := d.A
		if name.Metric == d.B.Metric {
			name.Metric = ""
		}
		return name, true
	}) {
		c := candidate{all: of}
		if c.name = short(c.all[0], view); c.all[0].A.Metric != c.all[0].B.Metric {
			c.name = report.Display(c.all[0].A.Metric) + ", " + c.name
		}
		out = append(out, c)
	}
	return out
}

// named is a setting with its metric.
func named(d *Difference, view []*Difference) string {
	return report.Display(d.A.Metric) + ", " + short(d, view)
}

// of are the differences of a candidate with an outcome.
func (c *candidate) of(o report.Outcome) []*Difference {
	return slices.DeleteFunc(slices.Clone(c.all), func(d *Difference) bool { return d.outcome() != o })
}

// gain is what a candidate gains where that is significant, less what it loses.
func (c *candidate) gain() (sum float64) {
	for _, d := range c.all {
		if d.Significant {
			sum += float64(d.Value)
		}
	}
	return sum
}

// decided is the sentence on what is significant in the first of some views,
// "" for nothing.
func (r *Result) decided(by [][]*Difference) string {
	settings := settingsOf(by[0])
	best := slices.MaxFunc(settings, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(len(a.of(report.Better))-len(a.of(report.Worse)), len(b.of(report.Better))-len(b.of(report.Worse))),
			cmp.Compare(a.gain(), b.gain()))
	})
	better, worse := best.of(report.Better), best.of(report.Worse)
	var parts []string
	turned := r.turned(better, by)
	switch {
	case len(better) == 0:
		harms := harmful(settings, "", by, r)
		if len(harms) == 0 {
			return ""
		}
		var all []*Difference
		for i := range settings {
			all = append(all, settings[i].of(report.Worse)...)
		}
		return fmt.Sprintf("keep %s: %s", base(by[0]), strings.Join(append(harms, r.unclear(all, by)...), "; "))
	case len(turned) > 0:
		parts = append(parts, fmt.Sprintf("whether %s helps depends on the grouping: %s", best.name, strings.Join(turned, "; ")))
	case len(worse) > 0:
		parts = append(parts, fmt.Sprintf("use %s for %s, not for %s", best.name, r.effects(better), r.effects(worse)))
	default:
		parts = append(parts, fmt.Sprintf("use %s: %s", best.name, r.gains(better)))
	}
	if len(turned) == 0 {
		parts = append(parts, r.unclear(slices.Concat(better, worse), by)...)
		parts = append(parts, r.surpassed(better, by)...)
	}
	if names := silent(settings, best); len(names) > 0 {
		parts = append(parts, "nothing significant for "+and(names))
	}
	return strings.Join(append(parts, harmful(settings, best.name, by, r)...), "; ")
}

// silent names the metrics of which nothing is significant, neither of the best
// setting nor of one that harms.
func silent(settings []candidate, best candidate) []string {
	var all, said []string
	for _, c := range settings {
		for _, d := range c.all {
			name := report.Display(d.A.Metric)
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
			if o := d.outcome(); o == report.Worse || o == report.Better && c.name == best.name {
				said = append(said, name)
			}
		}
	}
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(said, name) })
}

// gains writes the effects of one setting, such as "+0.048 BLEU, +0.042 chrF".
func (r *Result) gains(all []*Difference) string {
	var out []string
	for _, of := range byMetric(all) {
		out = append(out, span(of)+" "+r.what(of[0])+r.as(of)+r.share(of, " "))
	}
	return strings.Join(out, ", ")
}

// effects names the metrics of some differences, with the values in brackets.
func (r *Result) effects(all []*Difference) string {
	var out []string
	for _, of := range byMetric(all) {
		where := strings.Trim(r.as(of), " ()")
		if where != "" {
			where = ", " + where
		}
		out = append(out, fmt.Sprintf("%s (%s%s%s)", r.what(of[0]), span(of), where, r.share(of, ", ")))
	}
	return and(out)
}

// share says on how many of several test sets something is found.
func (r *Result) share(of []*Difference, sep string) string {
	if len(r.Datasets) < 2 {
		return ""
	}
	return fmt.Sprintf("%son %d of %d test sets", sep, len(of), len(r.Datasets))
}

// what names what a difference is seen in: the metric, or what it beats.
func (r *Result) what(d *Difference) string {
	if d.A.Metric != d.B.Metric {
		return "over " + against(d)
	}
	return report.Display(d.A.Metric)
}

// byMetric parts differences by what they are seen in.
func byMetric(all []*Difference) [][]*Difference {
	return groupsOf(all, func(d *Difference) ([2]string, bool) { return [2]string{d.A.Metric, d.B.Metric}, true })
}

// span is a difference, or the least and the largest of several.
func span(all []*Difference) string {
	compare := func(a, b *Difference) int { return cmp.Compare(a.Value, b.Value) }
	low, high := signed(float64(slices.MinFunc(all, compare).Value)), signed(float64(slices.MaxFunc(all, compare).Value))
	if low != high {
		low += " to " + high
	}
	return report.TrueMinus(low)
}

// turned says of which differences another grouping finds the opposite, and
// what both find.
func (r *Result) turned(all []*Difference, by [][]*Difference) []string {
	var out []string
	for _, d := range all {
		if o := opposite(d, by); o != nil {
			out = append(out, fmt.Sprintf("%s %s %s, %s %s", r.what(d), report.TrueMinus(signed(float64(d.Value))), d.grouping(),
				report.TrueMinus(signed(float64(o.Value))), o.grouping()))
		}
	}
	return out
}

// unclear says which other groupings find nothing significant of some differences,
// or of which metrics.
func (r *Result) unclear(all []*Difference, by [][]*Difference) []string {
	var out []string
	for _, view := range by[1:] {
		var names []string
		metrics := byMetric(all)
		for _, of := range metrics {
			if !slices.ContainsFunc(of, func(d *Difference) bool {
				o := d.in(view)
				return o == nil || o.outcome() != report.Unclear || o.Undecided
			}) {
				names = append(names, r.what(of[0]))
			}
		}
		switch text := view[0].grouping() + " no significant difference"; {
		case len(names) == 0:
		case len(names) == len(metrics):
			out = append(out, text)
		default:
			out = append(out, text+" for "+and(names))
		}
	}
	return out
}

// surpassed says where another setting gains more under another grouping, of one test
// set.
func (r *Result) surpassed(all []*Difference, by [][]*Difference) []string {
	var out []string
	for _, view := range by[1:] {
		var more []string
		for _, d := range all {
			own := d.in(view)
			if own == nil || len(r.Datasets) > 1 {
				continue
			}
			top := own
			for _, o := range view {
				if o.A.Metric == d.A.Metric && o.B == d.B && o.outcome() == report.Better && o.Value > top.Value {
					top = o
				}
			}
			name := top.A.Aggregator
			if name == own.A.Aggregator {
				name = short(top, view)
			}
			if low, high := signed(float64(own.Value)), signed(float64(top.Value)); low != high {
				more = append(more, report.TrueMinus(fmt.Sprintf("%s gains more for %s (%s, %s %s)", name, r.what(d), high, own.A.Aggregator, low)))
			}
		}
		if len(more) > 0 {
			out = append(out, view[0].grouping()+" "+and(more))
		}
	}
	return out
}

// in is the same difference in a view, nil for none.
func (d *Difference) in(view []*Difference) *Difference {
	for _, o := range view {
		if o.A == d.A && o.B == d.B && o.Dataset == d.Dataset {
			return o
		}
	}
	return nil
}

// opposite is the same difference in another grouping where it is significant
// the other way, nil where it is not.
func opposite(d *Difference, by [][]*Difference) *Difference {
	for _, view := range by[1:] {
		if o := d.in(view); o != nil && o.Significant && (o.Value > 0) != (d.Value > 0) {
			return o
		}
	}
	return nil
}

// harmful says what each setting but the named one harms, and where another
// grouping finds that it helps.
func harmful(settings []candidate, but string, by [][]*Difference, r *Result) []string {
	var out []string
	for _, c := range settings {
		// A setting that another one stands for is said of that one.
		worse := slices.DeleteFunc(c.of(report.Worse), func(d *Difference) bool { return r.as([]*Difference{d}) != "" })
		if c.name == but || len(worse) == 0 {
			continue
		}
		name := c.name
		if !slices.ContainsFunc(settings, func(o candidate) bool {
			return o.name != c.name && strings.HasPrefix(o.name, c.all[0].A.Aggregator+" ")
		}) && c.all[0].A.Aggregator != "" {
			name = c.all[0].A.Aggregator
		}
		text := name + " harms " + r.effects(worse)
		if len(worse) == 1 && len(r.Datasets) < 2 {
			text = fmt.Sprintf("%s harms %s by %s", name, r.what(worse[0]), strings.TrimPrefix(span(worse), "−"))
			if o := opposite(worse[0], by); o != nil {
				text = fmt.Sprintf("%s, %s, %s it helps by %s", worse[0].grouping(), text, o.grouping(), strings.TrimPrefix(span([]*Difference{o}), "+"))
			}
		}
		out = append(out, text)
	}
	return out
}

// and joins names as a sentence does.
func and(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
