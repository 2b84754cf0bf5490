package conclusions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/refract-eval/refract/benchmarks/correlate"
	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
)

// mostListed is the maximum number of differences listed in a sentence.
const mostListed = 4

// support adds the evidence for a claim and its cautions, from the differences under the
// leading statistic.
func (r *Result) support(c *Claim, all []*experiment.Difference) {
	var cited []*experiment.Difference
	for _, rule := range c.Rules {
		cited = append(cited, rule.cited...)
	}
	about := report.Display(all[0].Statistic)
	if all[0].Human != "" {
		about += " with " + all[0].Human
	}
	if c.Evidence = []string{r.effectSentence(cited, all, about)}; len(c.Rules) > MostSpoken {
		c.Evidence[0] = "Gains are of " + about + "."
	}
	caution := func(format string, args ...any) { c.Cautions = append(c.Cautions, fmt.Sprintf(format, args...)) }
	for _, rule := range c.Rules {
		if n := len(rule.Use); n > 1 && !rule.matched {
			caution("%s: these %d settings were compared with %s, not with each other.", cmp.Or(report.Display(rule.Metric), "Across metrics"), n, rule.Base)
		}
	}
	against := r.againstBase(all)
	if rest := which(against, func(d *experiment.Difference) bool { return d.Significant && d.Value < 0 && !slices.Contains(cited, d) }); len(rest) > 0 {
		caution("Worse than %s: %s.", shortBase(rest), r.list(rest, all))
	}
	if worst := which(pointers(r.Differences), func(d *experiment.Difference) bool { return d.Worst }); len(worst) > 0 && !slices.Contains(all, worst[0]) {
		caution("Left out here: %s, which takes the worst reference of each output.", worst[0].A)
	}
	var opposed []*experiment.Difference
	for _, d := range against {
		opposed = append(opposed, r.opposing(d)...)
	}
	for _, by := range groupsOf(opposed, func(d *experiment.Difference) (string, bool) { return d.Statistic, true }) {
		caution("%s says the opposite: %s.", report.Display(by[0].Statistic), r.list(by, all))
	}
	for _, of := range groupsOf(all, func(d *experiment.Difference) (string, bool) { return tooFew(d), lacks(d) }) {
		if tests := len(r.Family(of[0])); tooFew(of[0]) == "resamples" {
			caution("Take at least %s, or compare fewer settings.", english.Count(r.Test.Enough(1-r.Confidence, tests, of[0].Method, of[0].Units), "resample"))
		} else {
			caution("With %s and so few %s, no corrected p-value can be small enough: compare fewer settings, or score more text.", english.Count(tests, "difference"), tooFew(of[0]))
		}
	}
}

// effectSentence says by how much the cited differences change the statistic.
func (r *Result) effectSentence(cited, all []*experiment.Difference, about string) string {
	var parts []string
	for _, of := range groupsOf(cited, func(d *experiment.Difference) (string, bool) { return d.BName, true }) {
		against := shortBase(of)
		if of[0].B.Aggregator != "single" {
			against = strings.TrimSuffix(strings.TrimSuffix(report.Display(of[0].BName), " ("+experiment.AllReferences+")"), " over "+r.overAll(all))
		}
		parts = append(parts, fmt.Sprintf("against %s, %s changes by %s", against, about, r.list(of, all)))
		about = "it"
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// list writes differences such as "+0.048 [0.037, 0.059] for BLEU max (p = 0.015)"; of
// many, only the largest and the smallest.
func (r *Result) list(cited, all []*experiment.Difference) string {
	over := r.overAll(all)
	item := func(d *experiment.Difference) string {
		text := change(d.Value, d.Interval) + " for " + named(d, all, over)
		text += onDataset(d.Dataset, len(r.Datasets) > 1)
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

func byValue(a, b *experiment.Difference) int { return cmp.Compare(a.Value, b.Value) }

// overAll names the references of all settings, such as "11 references"; "" if they differ.
func (r *Result) overAll(all []*experiment.Difference) string {
	_, over, _ := strings.Cut(short(all[0], all), " over ")
	for _, d := range all {
		if _, other, _ := strings.Cut(short(d, all), " over "); other != over {
			return ""
		}
	}
	return over
}

// ruleTable has a row for each metric: which setting to use, what it gains over the
// baseline, and what that shows.
func (r *Result) ruleTable() *report.NamedTable {
	t := &report.NamedTable{Title: "Which setting to use", Columns: columns(
		report.Column{Name: "metric"}, report.Column{Name: "use"}, report.Column{Name: "gain", Header: "gain over " + r.baseName(), Kind: report.KindFloat, Digits: 3}, interval("ci"), hidden(value("p_value", 4)), report.Column{Name: "verdict"})}
	for _, rule := range r.rules() {
		gain := &experiment.Difference{Value: experiment.None(), Corrected: experiment.None()}
		if rule.Gain != nil {
			gain = rule.Gain
		}
		t.Add(cmp.Or(rule.Metric, "across metrics"), report.StringOrNull(english.List(rule.Use, "or")), gain.Value, gain.Interval, gain.Corrected, rule.Short)
	}
	t.Note("gain: of the first setting under use over %s, the smallest of several datasets; without one that is better, the clearest difference", r.baseName())
	return t
}

// baseName names the baseline of all metrics.
func (r *Result) baseName() string {
	if all := r.againstBase(r.leading()); len(all) > 0 {
		return base(all)
	}
	return "the baseline"
}

// coverage says how much of some datasets the numbers rest on.
func (r *Result) coverage(datasets []experiment.DatasetInfo) string {
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
	if over := r.Drawn(); over != "" {
		parts = append(parts, fmt.Sprintf("Intervals: %g%% bootstrap over %s.", 100*r.Confidence, over))
	}
	if at := slices.IndexFunc(r.Differences, func(d experiment.Difference) bool { return d.P.Defined() }); at >= 0 {
		parts = append(parts, fmt.Sprintf("p-values: %s, corrected by Holm over the pairs of settings of each metric.", r.Differences[at].Test))
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
