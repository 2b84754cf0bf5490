package conclusions_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/cmd/refract/internal/conclusions"
	"github.com/refract-eval/refract/cmd/refract/internal/figure"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/internal/text"
)

// compared is a difference to the single reference with an interval of ±0.01; an interval
// without 0 is significant.
func compared(metric, aggregator, statistic string, value float64) experiment.Difference {
	group := "none"
	if strings.HasSuffix(statistic, " by segment") {
		group = "segment"
	}
	return experiment.Difference{
		About: experiment.About{Dataset: "set", Human: "mqm", Statistic: statistic, Level: "segment", Group: group},
		A:     experiment.SettingName{Metric: metric, References: "all", Aggregator: aggregator}, AName: aggregator + " over 11 references (all)",
		B: experiment.SettingName{Metric: metric, References: "original", Aggregator: "single"}, BName: "single",
		Value: experiment.Number(value), AValue: 0.2, BValue: experiment.Number(0.2 - value), Cells: 10, N: 10, P: 0.001, Corrected: 0.01, Test: "perm-both", Resamples: 1000,
		Interval: &experiment.Range{Low: experiment.Number(value - 0.01), High: experiment.Number(value + 0.01)}, Significant: value > 0.01 || value < -0.01,
	}
}

// between is a difference of two settings of a metric over 11 references.
func between(metric, a, b string, value float64) experiment.Difference {
	d, other := compared(metric, a, "kendall", value), compared(metric, b, "kendall", 0)
	d.B, d.BName = other.A, other.AName
	return d
}

// documented are the claims that docs/how-to/report.md shows.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/how-to/report.md")
	require.NoError(t, err)
	out := map[string]bool{}
	_, table, _ := strings.Cut(string(text), "| what the differences show | claim |\n|---|---|\n")
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) == 4 {
			out[strings.TrimSpace(cells[2])] = true
		} else {
			break
		}
	}
	return out
}

// Every case of a claim: it never says more than its differences show, the document in Markdown says
// the same, and the documentation shows claims that exist.
func TestClaim(t *testing.T) {
	flat, grouped := "kendall", "kendall by segment"
	change := func(d experiment.Difference, how func(*experiment.Difference)) experiment.Difference {
		how(&d)
		return d
	}
	untested := func(d *experiment.Difference) {
		d.Significant, d.Interval, d.P, d.Corrected = false, nil, experiment.None(), experiment.None()
	}
	onSet := func(name string) func(*experiment.Difference) {
		return func(d *experiment.Difference) { d.Dataset = name }
	}
	over4 := func(d *experiment.Difference) {
		d.A.References, d.AName = "first 4", d.A.Aggregator+" over 4 references (first 4)"
	}
	ofFile := func(d *experiment.Difference) {
		d.A, d.B, d.AName, d.BName = experiment.SettingName{Metric: d.A.Aggregator}, experiment.SettingName{Metric: d.B.Aggregator}, d.A.Aggregator, d.B.Aggregator
	}
	undecided := func(d *experiment.Difference) { d.Significant, d.Undecided = false, true }
	const worseMean = "Worse than one reference: −0.041 [−0.051, −0.031] for chrF mean (p = 0.010)."
	told := documented(t)
	require.GreaterOrEqual(t, len(told), 20)
	for name, c := range map[string]struct {
		all      []experiment.Difference
		want     string
		cautions string // joined by |
	}{
		"one winner with two metrics": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.042)},
			"With BLEU and chrF, use the maximum over 11 references", ""},
		"one winner, and a setting that loses": {[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "mean", flat, -0.041)},
			"With chrF, use the maximum over 11 references", worseMean},
		"a mean of the best":          {[]experiment.Difference{compared("bleu", "best:k=3", flat, 0.048)}, "With BLEU, use the mean of the best 3 over 11 references", ""},
		"chosen references are named": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.048), over4)}, "With BLEU, use the maximum over 4 references (first 4)", ""},
		"two that were not compared": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "native", flat, 0.021)},
			"With BLEU, use the maximum or the native rule over 11 references", "BLEU: these 2 settings were compared with one reference, not with each other."},
		"two that are not told apart": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "mean", flat, 0.043), between("bleu", "mean", "max", -0.005)},
			"With BLEU, use the maximum or the mean over 11 references, which the data cannot tell apart", ""},
		"two over other references": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), change(compared("bleu", "mean", flat, 0.043), over4)},
			"With BLEU, use the maximum over 11 references (all) or the mean over 4 references (first 4)", "BLEU: these 2 settings were compared with one reference, not with each other."},
		"one of two winners beats the other": {[]experiment.Difference{compared("chrf", "max", flat, 0.05), compared("chrf", "mean", flat, 0.109), between("chrf", "mean", "max", 0.059)},
			"With chrF, use the mean over 11 references", ""},
		"one beats the others, and nothing is better than one reference": {[]experiment.Difference{compared("chrf", "max", flat, -0.004), compared("chrf", "mean", flat, 0.006), between("chrf", "mean", "max", 0.02)},
			"With chrF, the data cannot tell whether the maximum or the mean over 11 references beats one reference", ""},
		"the setting that wins does not beat one reference itself": {[]experiment.Difference{compared("chrf", "max", flat, 0.02), compared("chrf", "mean", flat, 0.01), between("chrf", "mean", "max", 0.02)},
			"With chrF, use the mean over 11 references", ""},
		"one of two metrics gains": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.002)},
			"With BLEU, use the maximum over 11 references. With chrF, the data cannot tell whether the maximum over 11 references beats one reference", ""},
		"a setting that gains with one metric and loses with another": {[]experiment.Difference{compared("bleu", "mean", flat, 0.021), compared("chrf", "mean", flat, -0.041)},
			"With BLEU, use the mean over 11 references. With chrF, keep one reference: every other setting is worse", ""},
		"three metrics": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("max", "mean", flat, 0.03), compared("ter", "max", flat, 0.001)},
			"2 of 3 metrics have a setting that beats one reference", ""},
		"three metrics with one rule": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("my=metric", "max", flat, 0.03), compared("ter", "max", flat, 0.02)},
			"With all 3 metrics, use the maximum over 11 references", ""},
		"another statistic says the opposite": {[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, -0.024)},
			"With chrF, no setting is better by every statistic", "Kendall’s τ by segment says the opposite: −0.024 [−0.034, −0.014] for chrF max (p = 0.010)."},
		"another statistic says the opposite of what loses": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, 0.011), compared("chrf", "mean", flat, -0.041), compared("chrf", "mean", grouped, 0.024)},
			"With chrF, use the maximum over 11 references", worseMean + "|Kendall’s τ by segment says the opposite: +0.024 [0.014, 0.034] for chrF mean (p = 0.010)."},
		"the baseline is best": {[]experiment.Difference{compared("bleu", "mean", flat, -0.048), compared("bleu", "max", flat, -0.03)},
			"With BLEU, keep one reference: every other setting is worse", ""},
		"some are worse than the baseline": {[]experiment.Difference{compared("bleu", "mean", flat, -0.048), compared("bleu", "max", flat, 0.001)},
			"With BLEU, keep one reference: no other setting is shown to be better", ""},
		"nothing significant": {[]experiment.Difference{compared("bleu", "mean", flat, -0.004), compared("bleu", "max", flat, 0.002)},
			"With BLEU, the data cannot tell whether the mean or the maximum over 11 references beats one reference", ""},
		"against another setting": {[]experiment.Difference{between("bleu", "mean", "max", 0.05)}, "With BLEU, use the mean over 11 references", ""},
		"too few resamples": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), undecided)},
			"With BLEU, there are too few resamples to tell the settings apart", "Take at least 20 resamples, or compare fewer settings."},
		"not tested": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), untested)}, "With BLEU, no setting is tested against one reference", ""},
		"undefined": {[]experiment.Difference{change(compared("bleu", "max", flat, 0), func(d *experiment.Difference) { d.Value = experiment.None() })},
			"With BLEU, the statistic is undefined: data are too few, or all equal", ""},
		"equal scores": {[]experiment.Difference{change(compared("bleu", "max", flat, 0), func(d *experiment.Difference) { d.Equal, d.Significant = d.Cells, false })},
			"With BLEU, all settings give the same scores", ""},
		"nothing compared": {nil, "No two settings of a metric were compared", ""},
		"a statistic of systems says nothing next to one of outputs": {[]experiment.Difference{compared("bleu", "max", "accuracy", 0.3), compared("bleu", "max", flat, 0.001)},
			"With BLEU, the data cannot tell whether the maximum over 11 references beats one reference", ""},
		"on two of three datasets": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), change(compared("bleu", "max", flat, 0.03), onSet("other")), change(compared("bleu", "max", flat, 0.001), onSet("third"))},
			"With BLEU, use the maximum over 11 references: better than one reference on 2 of 3 datasets", ""},
		"better on one dataset, worse on another": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), change(compared("bleu", "max", flat, -0.03), onSet("other"))},
			"With BLEU, which setting is better depends on the dataset", ""},
		"files of scores": {[]experiment.Difference{change(between("", "comet", "mine", 0.05), ofFile)}, "Use comet", ""},
		"files of scores next to three metrics": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.001), compared("ter", "max", flat, 0.002), change(between("", "comet", "mine", 0.05), ofFile)},
			"1 of 3 metrics has a setting that beats one reference", ""},
		"against a setting of another metric": {[]experiment.Difference{change(between("chrf", "mean", "max", -0.05), func(d *experiment.Difference) {
			d.B.Metric, d.AName, d.BName = "bleu", "chrf "+d.AName, "bleu "+d.BName
		})}, "Keep BLEU max: every other setting is worse", ""},
		"files of scores that are not told apart": {[]experiment.Difference{change(between("", "comet", "mine", 0.005), ofFile)}, "The data cannot tell whether comet beats mine", ""},
	} {
		res := &experiment.Result{Confidence: 0.95, Statistics: []string{flat, "accuracy"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Differences: c.all}
		for _, d := range c.all {
			if !d.Value.Defined() {
				res.Rows = []experiment.Row{{Setting: d.A}, {Setting: d.B}}
			}
			if d.Dataset != "set" {
				res.Datasets = append(res.Datasets, experiment.DatasetInfo{Name: d.Dataset})
			}
		}
		got := conclusions.Of(res).Claim()
		if got.Text != c.want || strings.Join(got.Cautions, "|") != c.cautions {
			t.Errorf("%s: %q, %q\nwant %q, %q", name, got.Text, got.Cautions, c.want, c.cautions)
		}
		delete(told, got.Text)
		var b strings.Builder
		require.NoError(t, conclusions.Of(res).WriteMarkdown(&b))
		for _, rule := range got.Rules {
			if document := b.String(); !strings.Contains(document, text.Markdown(rule.Metric)) && !strings.Contains(document, report.Display(rule.Metric)) {
				t.Errorf("%s: the document does not name %s", name, document)
			}
		}
		if !strings.Contains(b.String(), "**"+text.Markdown(got.Text)+".**") || (len(got.Rules) > 2) != strings.Contains(strings.SplitN(b.String(), "## Verdicts", 2)[0], "| verdict |") {
			t.Errorf("%s: the document says otherwise:\n%s", name, b.String())
		}
	}
	elsewhere := []string{"With BLEU, only one setting was scored, so nothing is compared", "chrF max is best over 3 tasks", "system-b is first under 3 of 4 settings", "With BLEU, there are too few segments to tell the settings apart"}
	for claim := range told {
		assert.Contains(t, elsewhere, claim, "docs/how-to/report.md shows a claim that no case has")
	}
}

// A single setting, or settings that all share the row of one reference, leave nothing to
// compare.
func TestClaimWithoutDifferences(t *testing.T) {
	row := experiment.Row{Setting: experiment.SettingName{Metric: "chrf", Aggregator: "single"}}
	res := &experiment.Result{Datasets: []experiment.DatasetInfo{{Name: "set"}}, Rows: []experiment.Row{row, row}}
	assert.Equal(t, "With chrF, only one setting was scored, so nothing is compared", conclusions.Of(res).Claim().Text)
	res.Same = []experiment.Same{{Setting: row.Setting}}
	assert.Equal(t, "With chrF, all settings give the same scores", conclusions.Of(res).Claim().Text)
}

// The evidence is two sentences: the effect, and the data.
func TestEvidence(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Confidence: 0.95,
		Datasets:    []experiment.DatasetInfo{{Name: "set", Human: "mqm", Cells: 18, Segments: 10, Systems: []string{"a", "b"}, ResampledBy: "segment"}},
		Differences: []experiment.Difference{compared("bleu", "max", "kendall", 0.048), compared("chrf", "max", "kendall", 0.042)},
		Rows:        []experiment.Row{{About: experiment.About{Dataset: "set"}, Setting: experiment.SettingName{Metric: "bleu"}, Unscored: 1}}}
	got := conclusions.Of(res).Claim()
	want := []string{"Against one reference, Kendall’s τ with mqm changes by +0.048 [0.038, 0.058] for BLEU max (p = 0.010) and +0.042 [0.032, 0.052] for chrF max (p = 0.010).",
		"18 of 20 outputs of 10 segments by 2 systems have mqm scores, and every setting scores at least 17 of them."}
	assert.True(t, slices.Equal(got.Evidence, want), "%q\nwant %q", got.Evidence, want)
	if want := "Intervals: 95% bootstrap over segments. p-values: perm-both, corrected by Holm over the pairs of settings of each metric."; got.Method != want {
		t.Errorf("%q, want %q", got.Method, want)
	}
	res.Differences = []experiment.Difference{compared("bleu", "mean", "kendall", -0.004), compared("bleu", "max", "kendall", 0.002)}
	if got, want := conclusions.Of(res).Claim().Evidence[0], "Against one reference, Kendall’s τ with mqm changes by −0.004 [−0.014, 0.006] for BLEU mean (p = 0.010)."; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	res.Differences = []experiment.Difference{compared("chrf", "max", "kendall", 0.05), compared("chrf", "mean", "kendall", 0.109), between("chrf", "mean", "max", 0.059)}
	if got, want := conclusions.Of(res).Claim().Evidence[0], "Against one reference, Kendall’s τ with mqm changes by +0.109 [0.099, 0.119] for chrF mean (p = 0.010); against max, it changes by +0.059 [0.049, 0.069] for chrF mean (p = 0.010)."; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Over tasks, the claim is about the first rank, and a subset is named.
func TestClaimOverTasks(t *testing.T) {
	res := &experiment.Result{Datasets: []experiment.DatasetInfo{{Human: "mqm", Cells: 20, Segments: 10, Systems: []string{"a", "b"}, Domains: []string{"news"}}}, Tasks: make([]experiment.TaskResult, 3)}
	standing := func(metric string, average float64, rank int) experiment.Standing {
		return experiment.Standing{Setting: experiment.SettingName{Metric: metric, Aggregator: "max"}, Average: experiment.Number(average), Rank: rank}
	}
	for want, standings := range map[string][]experiment.Standing{
		"chrF max has the highest average over 3 tasks, on a subset":      {standing("ter", 0.68, 0), standing("chrf", 0.69, 0)},
		"chrF max is best over 3 tasks, on a subset":                      {standing("ter", 0.68, 2), standing("chrf", 0.69, 1)},
		"2 of 3 settings share the first place over 3 tasks, on a subset": {standing("ter", 0.68, 1), standing("chrf", 0.69, 1), standing("bleu", 0.6, 2)},
	} {
		res.Standings = standings
		got := conclusions.Of(res).Claim()
		if got.Text != want || got.Evidence[0] != "chrF max averages 0.690, the next, TER max, 0.680." {
			t.Errorf("%q, %q\nwant %q", got.Text, got.Evidence, want)
		}
		if want := "20 outputs of 10 segments by 2 systems have mqm scores, and every setting scores all of them; 10 of 0 segments, by domain: news."; got.Evidence[1] != want {
			t.Errorf("%q, want %q", got.Evidence[1], want)
		}
	}
	res.Standings, res.Statistics, res.Differences = nil, []string{"kendall"}, []experiment.Difference{compared("bleu", "max", "kendall", 0.048)}
	assert.Equal(t, "With BLEU, use the maximum over 11 references, on a subset", conclusions.Of(res).Claim().Text)
}

// Each dataset has a forest with a row for each setting and grouping, and notes on baselines and equal scores.
func TestForest(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Confidence: 0.95,
		Differences: []experiment.Difference{compared("chrf", "mean", "kendall", -0.041), compared("chrf", "mean", "kendall by segment", 0.024), compared("chrf", "mean", "accuracy", 0.1)},
		Same: []experiment.Same{{Dataset: "set", Setting: experiment.SettingName{Metric: "chrf", Aggregator: "native"}, As: experiment.SettingName{Metric: "chrf", Aggregator: "max"},
			Name: "native over 11 references (all)", AsName: "max over 11 references (all)", Cells: 26250}}}
	other := compared("bleu", "max", "kendall", 0.03)
	other.Dataset = "other"
	res.Differences, res.Datasets = append(res.Differences, other), append(res.Datasets, experiment.DatasetInfo{Name: "other"})
	all := conclusions.Of(res).Forests()
	require.Len(t, all, 2)
	assert.Equal(t, "Every setting over 11 references, against one reference on other", all[1].Title)
	dots := all[0].Panels[0].(*figure.Bars)
	assert.Equal(t, "difference in Kendall’s τ with mqm", dots.Value)
	require.Len(t, dots.Bars, 2)
	for i, want := range []figure.Bar{{Name: "chrF mean, flattened", Worse: true}, {Name: "by segment"}} {
		got := dots.Bars[i]
		assert.True(t, got.Name == want.Name && got.Worse == want.Worse && !got.Muted, "%+v, want %+v", got, want)
	}
	assert.Equal(t, report.Float(0.01), all[0].Data.Rows[1][5])
	if n := all[0].Data.Notes; len(n) != 2 || n[0] != "chrF with one reference: 0.241 flattened, 0.176 by segment" || !strings.Contains(n[1], "chrF: native over 11 references (all) and max over 11 references (all) have equal scores") {
		t.Errorf("notes %q", n)
	}
	for i := range res.Differences {
		assert.Equal(t, i != 2, conclusions.Of(res).Leads(&res.Differences[i]), "difference %d leads", i)
	}
}
