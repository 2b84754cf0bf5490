package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/report"
)

// Basis says in one line what the sentence of Lead rests on.
func (r *Result) Basis() string {
	var parts []string
	if text := r.Subset(); text != "" {
		parts = append(parts, "the subset: "+text)
	}
	if len(r.Datasets) == 1 {
		d := &r.Datasets[0]
		segments := english.Thousands(d.Segments, "segment")
		if n := d.Groups(correlate.DocumentLevel); n > 0 {
			segments += " in " + english.Thousands(n, "document")
		}
		text := fmt.Sprintf("%s of %s by %s", english.Thousands(d.Cells, "output"), segments, english.Thousands(len(d.Systems), "system"))
		if d.Human != "" {
			text += ", judged by " + d.Human
		}
		parts = append(parts, text)
	} else {
		cells := 0
		for _, d := range r.Datasets {
			cells += d.Cells
		}
		parts = append(parts, fmt.Sprintf("%s of %s", english.Thousands(cells, "judged output"), english.Thousands(len(r.Datasets), "test set")))
	}
	if len(r.Standings) > 0 {
		return strings.Join(append(parts, r.tested()), " · ")
	}
	all := slices.Concat(r.leading()...)
	if len(all) > 0 {
		parts = append(parts, report.Display(all[0].measured().statistic))
	} else if len(r.Statistics) > 0 {
		parts = append(parts, report.Display(r.Statistics[0]))
	}
	if over := drawn(r.Datasets); over != "" {
		parts = append(parts, fmt.Sprintf("%g%% bootstrap intervals over %s", 100*r.Confidence, over))
	}
	tested := 0
	for i := range r.Differences {
		if r.Differences[i].P.Defined() {
			tested++
		}
	}
	switch at := slices.IndexFunc(all, func(d *Difference) bool { return d.P.Defined() }); {
	case at >= 0 && all[at].Resamples > 0:
		parts = append(parts, fmt.Sprintf("%s with %s, p-values corrected by Holm over %s", all[at].Test,
			english.Thousands(all[at].Resamples, "resample"), english.Count(tested, "difference")))
	case at >= 0:
		parts = append(parts, fmt.Sprintf("%s, p-values corrected by Holm over %s", all[at].Test, english.Count(tested, "difference")))
	case len(all) > 0:
		parts = append(parts, "no test")
	}
	return strings.Join(parts, " · ")
}

// Subset says what a plan chose of the datasets; "" where it took all.
func (r *Result) Subset() string {
	var out []string
	for i := range r.Datasets {
		d := &r.Datasets[i]
		var of []string
		if len(d.Domains) > 0 {
			of = append(of, english.Noun(len(d.Domains), "domain")+" "+and(d.Domains))
		}
		if n := len(d.NotChosen); n > 0 {
			of = append(of, "without "+english.Count(n, "system"))
		}
		if len(of) == 0 {
			continue
		}
		text := strings.Join(of, ", ")
		if len(r.Datasets) > 1 {
			text = d.Name + " (" + text + ")"
		}
		out = append(out, text)
	}
	if most := 3; len(out) > most {
		return fmt.Sprintf("%s and %s more", strings.Join(out[:most], ", "), english.Count(len(out)-most, "test set"))
	}
	return and(out)
}

// tested is what tasks are averaged, and how each is tested.
func (r *Result) tested() string {
	var tests []string
	for _, t := range r.Tasks {
		if t.Test != "" && !slices.Contains(tests, t.Test) {
			tests = append(tests, t.Test)
		}
	}
	text := "weighted average over " + english.Thousands(len(r.Tasks), "task")
	if len(tests) == 0 {
		return text + " · no test"
	}
	return text + " · clusters by " + and(tests)
}
