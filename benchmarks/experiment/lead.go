package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

// Lead is the claim of a result in one sentence, "" where nothing was compared:
//
//  1. Where settings were ranked over tasks: the one with the highest average.
//  2. Where settings were compared, under the first statistic that has a
//     difference: the setting with the most significant gains (less losses), what
//     it gains, and what other settings lose. Where another statistic is
//     significant the other way, that is said too.
func (r *Result) Lead() string {
	text := ""
	if all := r.leading(); len(r.Standings) > 0 {
		top := slices.MaxFunc(r.Standings, func(a, b Standing) int { return cmp.Compare(a.Average, b.Average) })
		text = fmt.Sprintf("%s has the highest average over %s, %s", report.Display(top.Setting.String()), english.Thousands(len(r.Tasks), "task"), fixed(float64(top.Average)))
	} else if len(all) > 0 {
		text = "By " + report.Display(all[0].Statistic) + ", " + r.claim(all)
	}
	if text != "" && r.Chosen() != "" {
		text = "On a subset: " + text
	}
	return text
}

// leading are the differences under the first statistic that has any.
func (r *Result) leading() []*Difference {
	for _, label := range r.Statistics {
		all := slices.DeleteFunc(pointers(r.Differences), func(d *Difference) bool { return d.Statistic != label || !d.Value.Defined() })
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// claim says what the differences under one statistic come to.
func (r *Result) claim(all []*Difference) string {
	// A setting that is in another one's row gains what that one does.
	for _, s := range r.Same {
		for _, d := range slices.Clone(all) {
			if d.A == s.As && d.Dataset == s.Dataset {
				same := *d
				same.A, same.AName = s.Setting, s.Name
				all = append(all, &same)
			}
		}
	}
	settings := groupsOf(all, func(d *Difference) ([2]string, bool) {
		if d.ofFiles() {
			return [2]string{d.A.Metric}, true
		}
		return [2]string{d.A.References, d.A.Aggregator}, true
	})
	better := func(d *Difference) bool { return d.Significant && d.Value > 0 }
	worse := func(d *Difference) bool { return d.Significant && d.Value < 0 }
	best := slices.MaxFunc(settings, func(a, b []*Difference) int {
		won := func(all []*Difference) int { return len(which(all, better)) - len(which(all, worse)) }
		return cmp.Or(cmp.Compare(won(a), won(b)), cmp.Compare(gained(a), gained(b)))
	})
	var parts []string
	named := which(best, better)
	if len(named) > 0 {
		parts = append(parts, "use "+named[0].short(all)+": "+r.effects(named))
	}
	for _, setting := range settings {
		if lost := which(setting, worse); len(lost) > 0 {
			named = append(named, lost...)
			parts = append(parts, lost[0].short(all)+" harms "+r.effects(lost))
		}
	}
	switch {
	case len(named) == 0 && slices.ContainsFunc(all, func(d *Difference) bool { return d.Undecided }):
		return "the test has too few resamples to decide"
	case len(named) == 0 && !slices.ContainsFunc(all, func(d *Difference) bool { return d.tested() }):
		return "the differences from " + base(all) + " are not tested"
	case len(named) == 0:
		return "nothing differs significantly from " + base(all)
	case !slices.ContainsFunc(named, better):
		parts = slices.Insert(parts, 0, "keep "+base(all))
	}
	for _, d := range named {
		for i := range r.Differences {
			if o := &r.Differences[i]; o.A == d.A && o.B == d.B && o.Dataset == d.Dataset && o.Significant && (o.Value > 0) != (d.Value > 0) {
				parts = append(parts, fmt.Sprintf("by %s it is %s for %s", report.Display(o.Statistic), signed(float64(o.Value)), report.Display(o.A.Metric+" "+o.A.Aggregator)))
			}
		}
	}
	return report.TrueMinus(strings.Join(parts, "; "))
}

func which(all []*Difference, is func(*Difference) bool) []*Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d *Difference) bool { return !is(d) })
}

// gained is what a setting gains where that is significant, less what it loses.
func gained(all []*Difference) (sum float64) {
	for _, d := range all {
		if d.Significant {
			sum += float64(d.Value)
		}
	}
	return sum
}

// effects writes differences by metric, such as "+0.048 BLEU, +0.042 chrF", over
// several datasets from the least to the largest.
func (r *Result) effects(all []*Difference) string {
	var out []string
	for _, of := range groupsOf(all, func(d *Difference) (string, bool) { return d.A.Metric, true }) {
		compare := func(a, b *Difference) int { return cmp.Compare(a.Value, b.Value) }
		text := signed(float64(slices.MinFunc(of, compare).Value))
		if len(of) > 1 {
			text += " to " + signed(float64(slices.MaxFunc(of, compare).Value))
		}
		text += " " + report.Display(of[0].A.Metric)
		if len(r.Datasets) > 1 {
			text += fmt.Sprintf(" on %d of %d datasets", len(of), len(r.Datasets))
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// Basis says in one line what the claim rests on.
func (r *Result) Basis() string {
	cells, segments := 0, 0
	var systems, humans []string
	for i := range r.Datasets {
		d := &r.Datasets[i]
		cells, segments, systems = cells+d.Cells, segments+d.Segments, append(systems, d.Systems...)
		if d.Human != "" && !slices.Contains(humans, d.Human) {
			humans = append(humans, d.Human)
		}
	}
	systems = slices.Compact(slices.Sorted(slices.Values(systems)))
	parts := []string{fmt.Sprintf("%s of %s by %s, judged by %s", english.Thousands(cells, "output"), english.Thousands(segments, "segment"),
		english.Thousands(len(systems), "system"), strings.Join(humans, ", "))}
	if n := len(r.Datasets); n > 1 {
		parts[0] += fmt.Sprintf(", in %d datasets", n)
	} else if documents := r.Datasets[0].Groups(correlate.DocumentLevel); documents > 0 {
		parts[0] += ", in " + english.Thousands(documents, "document")
	}
	if text := r.Chosen(); text != "" {
		parts = append(parts, text)
	}
	if over := drawn(r.Datasets); over != "" {
		parts = append(parts, fmt.Sprintf("%g%% bootstrap intervals over %s", 100*r.Confidence, over))
	}
	tested := which(pointers(r.Differences), func(d *Difference) bool { return d.P.Defined() })
	if len(tested) > 0 {
		parts = append(parts, fmt.Sprintf("p-values by %s, corrected by Holm over %s", tested[0].Test, english.Count(len(tested), "difference")))
	}
	return strings.Join(parts, " · ")
}

// Chosen says what a plan leaves out of the datasets; "" where it takes all.
func (r *Result) Chosen() string {
	var out []string
	for i := range r.Datasets {
		if text := r.Datasets[i].Chosen(); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}
