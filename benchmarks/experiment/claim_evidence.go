package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

// mostListed is the maximum number of differences listed in a sentence.
const mostListed = 4

// effectSentence says, without a full stop, by how much the cited differences change the
// statistic.
func (r *Result) effectSentence(cited, all []*Difference, named bool) string {
	about := report.Display(all[0].Statistic)
	if all[0].Human != "" {
		about += " with " + all[0].Human
	}
	return fmt.Sprintf("Against %s, %s changes by %s", shortBase(all), about, r.list(cited, all, named))
}

// list writes differences such as "+0.048 [0.037, 0.059] for BLEU max (p = 0.015)"; of
// many, only the largest and the smallest.
func (r *Result) list(cited, all []*Difference, named bool) string {
	item := func(d *Difference) string {
		text := change(d.Value, d.Interval) + " for "
		switch metric := report.Display(d.A.Metric); {
		case d.ofFiles() || !named:
			text += metric
		default:
			text += metric + " " + strings.TrimSuffix(d.short(all), " over "+r.overAll(all))
		}
		text += d.onDataset(len(r.Datasets) > 1)
		if p := pText(d.Corrected); p != "" {
			text += " (" + p + ")"
		}
		return text
	}
	if len(cited) > mostListed {
		smallest, largest := slices.MinFunc(cited, byValue), slices.MaxFunc(cited, byValue)
		return fmt.Sprintf("%s to %s, in %d comparisons", item(smallest), item(largest), len(cited))
	}
	var parts []string
	for _, d := range cited {
		parts = append(parts, item(d))
	}
	return english.List(parts, "and")
}

func byValue(a, b *Difference) int { return cmp.Compare(a.Value, b.Value) }

// overAll names the references of all settings, such as "11 references"; "" if they differ.
func (r *Result) overAll(all []*Difference) string {
	_, over, _ := strings.Cut(all[0].short(all), " over ")
	for _, d := range all {
		if _, other, _ := strings.Cut(d.short(all), " over "); other != over {
			return ""
		}
	}
	return over
}

// coverage says how much of some datasets the numbers rest on.
func (r *Result) coverage(datasets []DatasetInfo) string {
	cells, whole, segments, unscored := 0, 0, 0, 0
	var systems, humans []string
	for i := range datasets {
		d := &datasets[i]
		cells, segments, systems, whole = cells+d.Cells, segments+d.Segments, append(systems, d.Systems...), whole+d.Segments*len(d.Systems)
		unscored += r.mostUnscored(d.Name)
		if d.Human != "" && !slices.Contains(humans, d.Human) {
			humans = append(humans, d.Human)
		}
	}
	systems = slices.Compact(slices.Sorted(slices.Values(systems)))
	text := english.Thousands(whole, "output")
	if cells < whole {
		text = humanize.Comma(int64(cells)) + " of " + text
	}
	text += fmt.Sprintf(" of %s by %s", english.Thousands(segments, "segment"), english.Thousands(len(systems), "system"))
	if n := len(datasets); n > 1 {
		text += fmt.Sprintf(" in %d datasets", n)
	} else if documents := datasets[0].Groups(correlate.DocumentLevel); documents > 0 {
		text += " in " + english.Thousands(documents, "document")
	}
	scored := "all"
	if unscored > 0 {
		scored = "at least " + humanize.Comma(int64(cells-unscored))
	}
	return fmt.Sprintf("%s have %s scores, and every setting scores %s of them", text, strings.Join(humans, ", "), scored)
}

// tested says how intervals and p-values were computed.
func (r *Result) tested() string {
	var parts []string
	if over := drawn(r.Datasets); over != "" {
		parts = append(parts, fmt.Sprintf("Intervals: %g%% bootstrap over %s.", 100*r.Confidence, over))
	}
	if tests := r.withP(); len(tests) > 0 {
		parts = append(parts, fmt.Sprintf("p-values: %s, corrected by Holm over %s.", tests[0].Test, english.Count(len(tests), "difference")))
	}
	return strings.Join(parts, " ")
}

// Chosen says what a plan leaves out of the datasets; "" if nothing.
func (r *Result) Chosen() string {
	var out []string
	for i := range r.Datasets {
		if text := r.Datasets[i].Chosen(); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}
