package conclusions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/english"
)

// Claim is what a reader should take away from a result, never more than its differences
// show.
type Claim struct {
	// Text has a sentence for each of one or two metrics, and for more of them says how many
	// gain. It ends without a full stop.
	Text     string
	Rules    []Rule
	Evidence []string // the effects, and the data
	Cautions []string // sentences on what limits the claim
	Method   string   // how intervals and p-values were computed; "" if there are none
}

// MostSpoken is how many metrics a claim speaks of in sentences; more have a table.
const MostSpoken = 2

// Rule says which setting of a metric to use, or why the data cannot tell.
type Rule struct {
	Metric string // "" for comparisons across metrics, such as of files of scores
	// Use are the settings that beat the baseline and that no other one beats, or only the
	// baseline if something loses to it; empty if the data cannot tell.
	Use     []string
	Base    string // the baseline, such as "one reference"
	Verdict string // such as "use the mean over 5 references"
	Short   string // the same for a table, which names the setting in another column
	// Gain is the smallest gain of Use[0] over the baseline, or if nothing is better than that the
	// clearest difference; nil if nothing was compared.
	Gain *experiment.Difference

	cited   []*experiment.Difference // what the verdict rests on
	matched bool                     // the settings under Use were also compared with each other
}

// Claim says for each metric which of its settings to use.
//
// Differences under the first statistic that has any decide: a setting beats another one if
// it is significantly better on a dataset, and on none worse, nor worse by another statistic.
// If the baseline is beaten, the rule is to use what beats it and is not beaten; if it is not
// and something loses to it, to keep it. A setting that shares another one's row is not
// named. If settings were ranked over tasks, the claim is about the first rank.
func (r *Result) Claim() Claim {
	c := Claim{Method: r.tested()}
	if len(r.Standings) > 0 {
		r.standingClaim(&c)
	} else {
		c.Rules = r.rules()
		r.ruleClaim(&c)
	}
	coverage := r.coverage(r.Datasets)
	if chosen := r.Chosen(); chosen != "" {
		coverage += "; " + chosen
		c.Text += ", on a subset"
	}
	c.Evidence = append(c.Evidence, coverage+".")
	for _, sentences := range [][]string{c.Evidence, c.Cautions} {
		for i := range sentences {
			sentences[i] = report.TrueMinus(sentences[i])
		}
	}
	return c
}

// leading returns the differences under the first statistic that has any, for each metric
// without those of aggregators that take its worst reference, if it has others.
func (r *Result) leading() []*experiment.Difference {
	for _, label := range r.Statistics {
		all := which(pointers(r.Differences), func(d *experiment.Difference) bool { return d.Statistic == label && d.Value.Defined() })
		if len(all) > 0 {
			return which(all, func(d *experiment.Difference) bool {
				return !d.Worst || !slices.ContainsFunc(all, func(o *experiment.Difference) bool { return o.Subject() == d.Subject() && !o.Worst })
			})
		}
	}
	return nil
}

func which(all []*experiment.Difference, is func(*experiment.Difference) bool) []*experiment.Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d *experiment.Difference) bool { return !is(d) })
}

// rules returns the rule of every metric; those that were not compared come last.
func (r *Result) rules() []Rule {
	var out []Rule
	leading := r.leading()
	for _, all := range groupsOf(leading, func(d *experiment.Difference) (string, bool) { return d.Subject(), true }) {
		out = append(out, r.rule(all))
	}
	for _, rows := range groupsOf(r.Rows, func(row experiment.Row) (string, bool) {
		known := func(d *experiment.Difference) bool {
			return d.A.Metric == row.Setting.Metric || d.B.Metric == row.Setting.Metric
		}
		return row.Setting.Metric, !slices.ContainsFunc(leading, known)
	}) {
		metric := rows[0].Setting.Metric
		rule := Rule{Metric: metric, Verdict: "no two settings were compared", Base: "one reference"}
		switch settings := groupsOf(rows, func(row experiment.Row) (experiment.SettingName, bool) { return row.Setting, true }); {
		case slices.ContainsFunc(r.Differences, func(d experiment.Difference) bool { return d.A.Metric == metric }):
			rule.Verdict = "the statistic is undefined: data are too few, or all equal"
		case len(settings) > 1:
		case slices.ContainsFunc(r.Same, func(s experiment.Same) bool { return s.Setting.Metric == metric }):
			rule.Verdict = "all settings give the same scores"
		default:
			rule.Verdict = "only one setting was scored, so nothing is compared"
		}
		rule.Short = rule.Verdict
		out = append(out, rule)
	}
	return out
}

// beats reports whether setting x beats y by some differences, and in how many of their
// comparisons it is significantly better.
func (r *Result) beats(all []*experiment.Difference, x, y experiment.SettingName) (beats bool, better, of int) {
	for _, d := range all {
		value := d.Value
		switch {
		case d.A == y && d.B == x:
			value = -value
		case d.A != x || d.B != y:
			continue
		}
		of++
		switch {
		case !d.Significant:
		case value < 0 || len(r.opposing(d)) > 0:
			return false, 0, 0
		default:
			better++
		}
	}
	return better > 0, better, of
}

// opposing returns the differences of the same settings that are significant in the other
// direction under another statistic.
func (r *Result) opposing(d *experiment.Difference) []*experiment.Difference {
	return which(pointers(r.Differences), func(o *experiment.Difference) bool {
		return d.Significant && o.Significant && o.A == d.A && o.B == d.B && o.Dataset == d.Dataset && (o.Value > 0) != (d.Value > 0)
	})
}

// rule makes the rule of a metric from its differences, of which the first is against the
// baseline.
func (r *Result) rule(all []*experiment.Difference) Rule {
	against := r.againstBase(all)
	first, noun := cmp.Or(append(against, all...)...), "setting"
	out := Rule{Metric: first.Subject(), Base: shortBase([]*experiment.Difference{first})}
	if first.AcrossMetrics() && first.A.Aggregator+first.B.Aggregator == "" {
		noun = "metric"
	}
	settings, names := settingsOf(first, all)
	base, use := first.B, []experiment.SettingName(nil)
	unbeaten := slices.DeleteFunc(slices.Clone(settings), func(x experiment.SettingName) bool {
		return slices.ContainsFunc(settings, func(y experiment.SettingName) bool { won, _, _ := r.beats(all, y, x); return won })
	})
	gains := which(against, func(d *experiment.Difference) bool { return d.Significant && d.Value > 0 })
	losses := which(against, func(d *experiment.Difference) bool { return d.Significant && d.Value < 0 })
	undecided := which(all, lacks)
	switch {
	case !slices.Contains(unbeaten, base):
		use = unbeaten
		if better := slices.DeleteFunc(slices.Clone(unbeaten), func(x experiment.SettingName) bool { won, _, _ := r.beats(all, x, base); return !won }); len(better) > 0 {
			use = better
		}
		out.cited = which(all, func(d *experiment.Difference) bool {
			return d.Significant && (slices.Contains(use, d.A) || slices.Contains(use, d.B))
		})
		out.matched = slices.ContainsFunc(all, func(d *experiment.Difference) bool { return slices.Contains(use, d.A) && slices.Contains(use, d.B) })
		out.Verdict, out.Short = r.useText(against, use, names, &out)
	case len(gains) > 0 && slices.ContainsFunc(gains, func(d *experiment.Difference) bool { return len(r.opposing(d)) > 0 }):
		out.Verdict, out.cited = "no "+noun+" is better by every statistic", gains
	case len(gains) > 0:
		out.Verdict, out.cited = "which "+noun+" is better depends on the dataset", append(gains, losses...)
	case len(losses) > 0:
		use, out.cited = []experiment.SettingName{base}, losses
		if out.Short = "no other is shown to be better"; len(losses) == len(against) {
			out.Short = "every other is worse"
		}
		out.Verdict = "keep " + out.Base + ": " + strings.Replace(out.Short, "other", "other "+noun, 1)
	case len(undecided) > 0:
		out.Verdict, out.cited = fmt.Sprintf("there are too few %s to tell the %ss apart", tooFew(undecided[0]), noun), undecided
	case !slices.ContainsFunc(all, tested):
		out.Verdict, out.cited = r.untested(all, noun, out.Base), against
	default:
		out.Verdict = "the data cannot tell whether " + english.List(r.spokenNames(settings[1:], names), "or") + " beats " + out.Base
		out.Short = "the data cannot tell"
		out.cited = which(all, func(d *experiment.Difference) bool { return d.Significant })
	}
	for _, s := range use {
		out.Use = append(out.Use, names[s])
	}
	out.Short = cmp.Or(out.Short, out.Verdict)
	out.Gain = gainOf(use, against)
	if len(out.cited) == 0 && out.Gain != nil {
		out.cited = []*experiment.Difference{out.Gain}
	}
	return out
}

// settingsOf returns the settings that are compared, the baseline first, and what each is
// called.
func settingsOf(first *experiment.Difference, all []*experiment.Difference) ([]experiment.SettingName, map[experiment.SettingName]string) {
	settings, names := []experiment.SettingName{first.B}, map[experiment.SettingName]string{first.B: first.BName}
	add := func(setting experiment.SettingName, name string) {
		if names[setting] == "" {
			names[setting] = name
			settings = append(settings, setting)
		}
	}
	for _, d := range all {
		add(d.B, d.BName)
		add(d.A, short(d, all))
	}
	return settings, names
}

// gainOf returns the difference that shows what to gain by the settings to use, else the most
// certain of all, else nil.
func gainOf(use []experiment.SettingName, against []*experiment.Difference) *experiment.Difference {
	ofUse := which(against, func(d *experiment.Difference) bool { return len(use) > 0 && d.A == use[0] })
	switch {
	case len(ofUse) > 0:
		return slices.MinFunc(ofUse, byValue)
	case len(against) > 0:
		return slices.MinFunc(against, func(a, b *experiment.Difference) int {
			return cmp.Or(cmp.Compare(a.Corrected, b.Corrected), cmp.Compare(math.Abs(float64(b.Value)), math.Abs(float64(a.Value))))
		})
	}
	return nil
}

// againstBase returns the differences to the baseline of their metric, which is the second
// setting of its first difference.
func (r *Result) againstBase(all []*experiment.Difference) []*experiment.Difference {
	return which(all, func(d *experiment.Difference) bool {
		first := slices.IndexFunc(r.Differences, func(o experiment.Difference) bool { return o.Subject() == d.Subject() && o.Dataset == d.Dataset })
		return d.B == r.Differences[first].B
	})
}

// spokenNames are the names of settings in words; what all of them are over is said once.
func (r *Result) spokenNames(settings []experiment.SettingName, names map[experiment.SettingName]string) []string {
	_, over, _ := strings.Cut(names[settings[0]], " over ")
	for _, s := range settings {
		if !strings.HasSuffix(names[s], " over "+over) {
			over = ""
		}
	}
	var out []string
	for _, s := range settings {
		out = append(out, spoken(strings.TrimSuffix(names[s], " over "+over)))
	}
	if over != "" {
		out[len(out)-1] += " over " + over
	}
	return out
}

// useText says which settings to use, and where they are better than the baseline.
func (r *Result) useText(all []*experiment.Difference, use []experiment.SettingName, names map[experiment.SettingName]string, rule *Rule) (verdict, short string) {
	verdict, short = "use "+english.List(r.spokenNames(use, names), "or"), "better than "+rule.Base
	if rule.matched {
		verdict += ", which the data cannot tell apart"
	}
	switch _, better, of := r.beats(all, use[0], all[0].B); {
	case better == 0:
		short = "better than what beats " + rule.Base
	case better < of:
		short += fmt.Sprintf(" on %d of %d datasets", better, of)
		verdict += ": " + short
	}
	return verdict, short
}

// spoken returns the name of a setting with its aggregator in words.
func spoken(setting string) string {
	aggregator, over, _ := strings.Cut(setting, " over ")
	words := map[string]string{"single": "one reference", "max": "the maximum", "mean": "the mean", "min": "the minimum", "median": "the median", "native": "the native rule"}
	name := cmp.Or(words[aggregator], aggregator)
	if k, ok := strings.CutPrefix(aggregator, "best:k="); ok {
		name = "the mean of the best " + k
	}
	return strings.TrimSuffix(name+" over "+over, " over ")
}

// shortBase names the baseline in at most three words.
func shortBase(all []*experiment.Difference) string {
	if first := all[0]; first.AcrossMetrics() {
		return report.Display(first.B.Across(first.B.Aggregator))
	}
	if name := base(all); len(strings.Fields(name)) <= 3 {
		return name
	}
	return "the baseline"
}

// untested says why no difference has a verdict.
func (r *Result) untested(all []*experiment.Difference, noun, base string) string {
	switch {
	case !slices.ContainsFunc(all, func(d *experiment.Difference) bool { return d.Cells == 0 || d.Equal < d.Cells }):
		return fmt.Sprintf("all %ss give the same scores", noun)
	case r.Test.Resamples > 0 || r.Confidence > 0 && r.Drawn() != "":
		return fmt.Sprintf("there are too few data to compare the %ss", noun)
	}
	return fmt.Sprintf("no %s is tested against %s", noun, base)
}

// ruleClaim fills in a claim from its rules. Of many, it speaks of those that compare
// something, if there are any.
func (r *Result) ruleClaim(c *Claim) {
	told := c.Rules
	if compared := func(rule Rule) bool { return rule.Gain != nil }; len(told) > MostSpoken && slices.ContainsFunc(told, compared) {
		told = slices.DeleteFunc(slices.Clone(told), func(rule Rule) bool { return !compared(rule) })
	}
	var sentences []string
	gaining, within, base := 0, 0, ""
	for _, same := range groupsOf(told, func(rule Rule) (string, bool) { return rule.Verdict, true }) {
		var metrics []string
		for _, rule := range same {
			if rule.Metric == "" {
				continue
			}
			if len(rule.Use) > 0 && rule.Gain != nil && rule.Use[0] != rule.Gain.BName {
				gaining++
			}
			metrics = append(metrics, report.Display(rule.Metric))
			within, base = within+1, rule.Base
		}
		sentence := "With " + english.List(metrics, "and") + ", " + same[0].Verdict
		switch n := len(metrics); {
		case n == 0:
			sentence = strings.ToUpper(same[0].Verdict[:1]) + same[0].Verdict[1:]
		case n > MostSpoken && n == len(c.Rules):
			sentence = fmt.Sprintf("With all %d metrics, %s", n, same[0].Verdict)
		}
		sentences = append(sentences, sentence)
	}
	switch c.Text = strings.Join(sentences, ". "); {
	case len(c.Rules) == 0:
		c.Text = "No two settings of a metric were compared"
	case len(sentences) > 1 && within > MostSpoken:
		have := "have"
		if gaining == 1 {
			have = "has"
		}
		c.Text = fmt.Sprintf("%d of %d metrics %s a setting that beats %s", gaining, within, have, base)
	}
	if all := r.leading(); len(all) > 0 {
		r.support(c, all)
	}
}

// standingClaim makes the claim about the settings of the first rank over tasks.
func (r *Result) standingClaim(c *Claim) {
	sorted := slices.SortedStableFunc(slices.Values(r.Standings), func(a, b experiment.Standing) int { return cmp.Compare(b.Average, a.Average) })
	top, tasks := sorted[:1], english.Thousands(len(r.Tasks), "task")
	if sorted[0].Rank > 0 {
		top = slices.DeleteFunc(slices.Clone(sorted), func(s experiment.Standing) bool { return s.Rank != 1 })
	}
	name := func(s experiment.Standing) string { return report.Display(s.Setting.String()) }
	c.Text = fmt.Sprintf("%d of %d settings share the first place over %s", len(top), len(sorted), tasks)
	switch {
	case sorted[0].Rank == 0:
		c.Text = fmt.Sprintf("%s has the highest average over %s", name(top[0]), tasks)
	case len(top) == 1:
		c.Text = fmt.Sprintf("%s is best over %s", name(top[0]), tasks)
	}
	sentence := fmt.Sprintf("%s averages %s", name(sorted[0]), fixed(float64(sorted[0].Average)))
	if len(sorted) > 1 {
		sentence += fmt.Sprintf(", the next, %s, %s", name(sorted[1]), fixed(float64(sorted[1].Average)))
	}
	c.Evidence = []string{sentence + "."}
}
