package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
)

// mostWords is the maximum length of a claim.
const mostWords = 12

// Claim is what a reader should take away from a result, never more than its differences
// show.
type Claim struct {
	Text     string   // at most twelve words, without a full stop
	Evidence []string // two sentences: the effect, and the data
	Cautions []string // sentences on what limits the claim
	Method   string   // how intervals and p-values were computed; "" if there are none
}

// Claim summarises the differences under the first statistic that has any:
//
//   - One setting gains and never loses: use it. If it gains only with some metrics or on
//     some datasets, the text says so.
//   - Several do: use one or the other. One is dropped if another gains wherever it does,
//     and either in more comparisons or with every interval above its own. Intervals that do
//     not overlap differ significantly, however the two are correlated.
//   - Settings gain here and lose there, or by another statistic: none is better for all.
//   - None gains: keep the baseline if something loses; otherwise nothing is shown.
//   - Nothing was tested or compared, or there are too few data or resamples.
//
// A setting that shares another one's row gains what that one does. If settings were ranked
// over tasks, the claim is about the first rank.
func (r *Result) Claim() Claim {
	all := r.leading()
	c := Claim{Method: r.tested()}
	var texts []string
	switch {
	case len(r.Standings) > 0:
		texts = r.standingClaim(&c)
	case len(all) == 0:
		texts = []string{r.uncompared()}
	default:
		texts = r.differenceClaim(all, &c)
	}
	coverage, subset := r.coverage(r.Datasets), ""
	if chosen := r.Chosen(); chosen != "" {
		coverage, subset = coverage+"; "+chosen, ", on a subset"
	}
	fits := func(t string) bool { return len(strings.Fields(t+subset)) <= mostWords }
	c.Text = texts[max(0, slices.IndexFunc(texts, fits))] + subset
	c.Evidence = append(c.Evidence, coverage+".")
	for _, sentences := range [][]string{c.Evidence, c.Cautions} {
		for i := range sentences {
			sentences[i] = report.TrueMinus(sentences[i])
		}
	}
	return c
}

// leading returns the differences under the first statistic that has any.
func (r *Result) leading() []*Difference {
	for _, label := range r.Statistics {
		all := which(pointers(r.Differences), func(d *Difference) bool { return d.Statistic == label && d.Value.Defined() })
		if len(all) == 0 {
			continue
		}
		// Scores made elsewhere have another baseline.
		all = which(all, func(d *Difference) bool { return d.ofFiles() == all[0].ofFiles() })
		if best := which(all, func(d *Difference) bool { return !d.worst }); len(best) > 0 {
			return best
		}
		return all
	}
	return nil
}

// withP are the differences that have a p-value, which are corrected together.
func (r *Result) withP() []*Difference {
	return which(pointers(r.Differences), func(d *Difference) bool { return d.P.Defined() })
}

func which(all []*Difference, is func(*Difference) bool) []*Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d *Difference) bool { return !is(d) })
}

// candidate is a setting over all metrics and datasets.
type candidate struct {
	name          string // such as "max over 11 references"
	all           []*Difference
	better, worse []*Difference
	opposed       []*Difference // significant in the other direction, under another statistic
}

func (r *Result) candidates(all []*Difference) []*candidate {
	own := slices.Clone(all)
	for _, s := range r.Same {
		for _, d := range slices.Clone(all) {
			if d.A == s.As && d.Dataset == s.Dataset {
				same := *d
				same.A, same.AName = s.Setting, s.Name
				all = append(all, &same)
			}
		}
	}
	var out []*candidate
	for _, of := range groupsOf(all, func(d *Difference) ([2]string, bool) {
		if d.ofFiles() {
			return [2]string{d.A.Metric}, true
		}
		return [2]string{d.A.References, d.A.Aggregator}, true
	}) {
		c := &candidate{name: of[0].short(all), all: of}
		for _, d := range of {
			switch {
			case d.Significant && d.Value > 0:
				c.better = append(c.better, d)
			case d.Significant:
				c.worse = append(c.worse, d)
			}
			for i := range r.Differences {
				if o := &r.Differences[i]; d.Significant && o.A == d.A && o.B == d.B && o.Dataset == d.Dataset && o.Significant && (o.Value > 0) != (d.Value > 0) {
					c.opposed = append(c.opposed, o)
				}
			}
		}
		if slices.ContainsFunc(of, func(d *Difference) bool { return slices.Contains(own, d) }) {
			out = append(out, c)
		}
	}
	return out
}

// winners returns the settings that gain and never lose, except those that another one is
// better than.
func winners(settings []*candidate) []*candidate {
	gain := slices.DeleteFunc(slices.Clone(settings), func(c *candidate) bool { return len(c.better) == 0 || len(c.worse)+len(c.opposed) > 0 })
	return slices.DeleteFunc(slices.Clone(gain), func(c *candidate) bool {
		return slices.ContainsFunc(gain, func(o *candidate) bool { return o.beats(c) })
	})
}

func (c *candidate) beats(o *candidate) bool {
	above := 0
	for _, d := range o.better {
		at := slices.IndexFunc(c.better, func(e *Difference) bool { return e.A.Metric == d.A.Metric && e.Dataset == d.Dataset })
		if at < 0 {
			return false
		}
		if e := c.better[at]; e.Interval != nil && d.Interval != nil && e.Interval.Low > d.Interval.High {
			above++
		}
	}
	return len(c.better) > len(o.better) || above == len(o.better)
}

// differenceClaim returns wordings of the claim, the most specific first, and fills in its
// basis.
func (r *Result) differenceClaim(all []*Difference, c *Claim) []string {
	settings, base := r.candidates(all), shortBase(all)
	comparisons := len(groupsOf(all, func(d *Difference) ([2]string, bool) { return [2]string{d.A.Metric, d.Dataset}, true }))
	noun := "setting"
	if all[0].ofFiles() {
		noun, comparisons = "metric", len(r.Datasets)
	}
	best := winners(settings)
	var gains, losses, opposed, cited []*Difference
	for _, s := range settings {
		gains, losses, opposed = append(gains, s.better...), append(losses, s.worse...), append(opposed, s.opposed...)
	}
	var texts []string
	clearest := ""
	shown := fmt.Sprintf("No %s is shown to be better", noun)
	switch {
	case len(best) > 0:
		for _, s := range best {
			cited = append(cited, which(s.better, func(d *Difference) bool { return slices.Contains(all, d) })...)
		}
		texts = r.bestTexts(best, settings, all, noun, comparisons)
		if len(best) > 1 {
			c.Cautions = append(c.Cautions, fmt.Sprintf("These %d %ss were compared with %s, not with each other.", len(best), noun, base))
		}
	case len(gains) > 0 && len(opposed) > 0:
		texts, cited = []string{shown + " by every statistic"}, gains
	case len(gains) > 0:
		over := "for every metric"
		if len(r.Datasets) > 1 {
			over = "in every comparison"
		}
		texts, cited = []string{shown + " " + over}, gains
	case len(losses) == len(all):
		texts, cited = []string{fmt.Sprintf("Keep %s: every other %s is worse", base, noun)}, losses
	case len(losses) > 0:
		texts, cited = []string{fmt.Sprintf("Keep %s: no %s is shown to be better", base, noun)}, losses
	case slices.ContainsFunc(all, (*Difference).lacking):
		cited = which(all, (*Difference).lacking)
		texts = []string{fmt.Sprintf("Too few %s to decide between the %ss", cited[0].tooFew(), noun)}
		tests := len(r.withP())
		more := fmt.Sprintf("Take at least %d resamples, or compare fewer settings.", r.test.Enough(1-r.Confidence, tests, cited[0].method, cited[0].units))
		if cited[0].tooFew() != "resamples" {
			more = fmt.Sprintf("With %d differences and so few %s, no corrected p-value can be small enough: compare fewer settings, or score more text.", tests, cited[0].tooFew())
		}
		c.Cautions = append(c.Cautions, more)
	case !slices.ContainsFunc(all, (*Difference).tested):
		texts = []string{r.untested(all, noun, base)}
		cited = all
	default:
		texts = []string{shown + " than " + base}
		cited = []*Difference{slices.MinFunc(all, func(a, b *Difference) int {
			return cmp.Or(cmp.Compare(a.Corrected, b.Corrected), cmp.Compare(math.Abs(float64(b.Value)), math.Abs(float64(a.Value))))
		})}
		if len(all) > 1 {
			clearest = fmt.Sprintf(", the smallest p-value of %d differences", len(all))
			if !cited[0].Corrected.Defined() {
				clearest = fmt.Sprintf(", one of %d differences", len(all))
			}
		}
	}
	c.Evidence = []string{r.effectSentence(cited, all, len(best) != 1) + clearest + "."}
	if rest := which(losses, func(d *Difference) bool { return !slices.Contains(cited, d) }); len(rest) > 0 {
		c.Cautions = append(c.Cautions, fmt.Sprintf("Worse than %s: %s.", base, r.list(rest, all, true)))
	}
	if worst := which(pointers(r.Differences), func(d *Difference) bool { return d.worst }); len(worst) > 0 && !all[0].worst {
		c.Cautions = append(c.Cautions, fmt.Sprintf("Left out here: %s, which takes the worst reference of each output.", worst[0].A))
	}
	for _, by := range groupsOf(opposed, func(d *Difference) (string, bool) { return d.Statistic, true }) {
		c.Cautions = append(c.Cautions, fmt.Sprintf("%s says the opposite: %s.", report.Display(by[0].Statistic), r.list(by, all, true)))
	}
	return texts
}

// bestTexts returns wordings for settings that gain and never lose.
func (r *Result) bestTexts(best, settings []*candidate, all []*Difference, noun string, comparisons int) []string {
	base, over := shortBase(all), r.overAll(all)
	partly, beat := "", "beat"
	if len(best) == 1 {
		beat = "beats"
	}
	switch wins := best[0].better; {
	case !slices.ContainsFunc(best, func(c *candidate) bool { return len(c.better) < comparisons }):
	case len(best) > 1:
		partly = " in some comparisons"
	case len(wins) == 1 && len(r.Datasets) == 1:
		partly = " with " + report.Display(wins[0].A.Metric)
	default:
		partly = fmt.Sprintf(" in %d of %d comparisons", len(wins), comparisons)
	}
	counted := fmt.Sprintf("%d of %s %s %s%s", len(best), english.Count(len(settings), noun), beat, base, partly)
	if len(best) > 3 || len(best) > 1 && (partly != "" || over == "" && noun == "setting") {
		return []string{counted}
	}
	var texts []string
	for _, spell := range []func(string) string{spoken, func(s string) string { return s }} {
		var names []string
		for _, c := range best {
			names = append(names, spell(strings.TrimSuffix(c.name, " over "+over)))
		}
		name := english.List(names, "or")
		if over != "" {
			name += " over " + over
		}
		switch {
		case noun == "metric":
			texts = append(texts, english.List(names, "and")+" "+beat+" "+base+partly)
		case strings.HasPrefix(partly, " in "):
			texts = append(texts, strings.ToUpper(name[:1])+name[1:]+" beats "+strings.TrimSuffix(base, " reference")+partly)
		default:
			texts = append(texts, "Use "+name+partly)
		}
	}
	return append(texts, counted)
}

// spoken returns the name of a setting with its aggregator in words.
func spoken(setting string) string {
	aggregator, over, _ := strings.Cut(setting, " over ")
	words := map[string]string{"max": "the maximum", "mean": "the mean", "min": "the minimum", "median": "the median", "native": "the native rule"}
	name := cmp.Or(words[aggregator], aggregator)
	if k, ok := strings.CutPrefix(aggregator, "best:k="); ok {
		name = "the mean of the best " + k
	}
	return strings.TrimSuffix(name+" over "+over, " over ")
}

// shortBase names the baseline in at most three words.
func shortBase(all []*Difference) string {
	if name := base(all); len(strings.Fields(name)) <= 3 {
		return name
	}
	return "the baseline"
}

// untested says why no difference has a verdict.
func (r *Result) untested(all []*Difference, noun, base string) string {
	switch {
	case !slices.ContainsFunc(all, func(d *Difference) bool { return d.Cells == 0 || d.Equal < d.Cells }):
		return fmt.Sprintf("All %ss give the same scores", noun)
	case r.test.Resamples > 0 || r.Confidence > 0 && drawn(r.Datasets) != "":
		return fmt.Sprintf("Too few data to compare the %ss", noun)
	}
	return fmt.Sprintf("No %s is tested against %s", noun, base)
}

// uncompared says why there are no differences.
func (r *Result) uncompared() string {
	settings := groupsOf(r.Rows, func(row Row) (SettingName, bool) { return row.Setting, true })
	switch {
	case len(r.Differences) > 0:
		return "Too few data to compare the settings"
	case len(r.Same) > 0:
		return "All settings give the same scores"
	case len(settings) == 1:
		return "Only one setting was scored, so nothing is compared"
	}
	return "No two settings of a metric were compared"
}

// standingClaim makes the claim about the settings of the first rank over tasks.
func (r *Result) standingClaim(c *Claim) []string {
	sorted := slices.SortedStableFunc(slices.Values(r.Standings), func(a, b Standing) int { return cmp.Compare(b.Average, a.Average) })
	top, tasks := sorted[:1], english.Thousands(len(r.Tasks), "task")
	if sorted[0].Rank > 0 {
		top = slices.DeleteFunc(slices.Clone(sorted), func(s Standing) bool { return s.Rank != 1 })
	}
	name := func(s Standing) string { return report.Display(s.Setting.String()) }
	text := fmt.Sprintf("%d of %d settings share the first place over %s", len(top), len(sorted), tasks)
	switch {
	case sorted[0].Rank == 0:
		text = fmt.Sprintf("%s has the highest average over %s", name(top[0]), tasks)
	case len(top) == 1:
		text = fmt.Sprintf("%s is best over %s", name(top[0]), tasks)
	}
	sentence := fmt.Sprintf("%s averages %s", name(sorted[0]), fixed(float64(sorted[0].Average)))
	if len(sorted) > 1 {
		sentence += fmt.Sprintf(", the next, %s, %s", name(sorted[1]), fixed(float64(sorted[1].Average)))
	}
	c.Evidence = []string{sentence + "."}
	return []string{text}
}
