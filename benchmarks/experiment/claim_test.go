package experiment_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/report"
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
		Value: report.Number(value), AValue: 0.2, BValue: report.Number(0.2 - value), Cells: 10, N: 10, P: 0.001, Corrected: 0.01, Test: "perm-both", Resamples: 1000,
		Interval: &report.Range{Low: report.Number(value - 0.01), High: report.Number(value + 0.01)}, Significant: value > 0.01 || value < -0.01,
	}
}

// Every case of a claim; its text never says more than its differences show.
func TestClaim(t *testing.T) {
	flat, grouped := "kendall", "kendall by segment"
	change := func(d experiment.Difference, how func(*experiment.Difference)) experiment.Difference {
		how(&d)
		return d
	}
	untested := func(d *experiment.Difference) {
		d.Significant, d.Interval, d.P, d.Corrected = false, nil, report.None(), report.None()
	}
	onSet := func(name string) func(*experiment.Difference) {
		return func(d *experiment.Difference) { d.Dataset = name }
	}
	over4 := func(d *experiment.Difference) {
		d.A.References, d.AName = "first 4", d.A.Aggregator+" over 4 references (first 4)"
	}
	for name, c := range map[string]struct {
		all      []experiment.Difference
		want     string
		cautions string // joined by |
	}{
		"one winner": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.042)},
			"Use the maximum over 11 references", ""},
		"one winner, and a setting that gains with one metric and loses with another": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "mean", flat, 0.021), compared("chrf", "max", flat, 0.042), compared("chrf", "mean", flat, -0.041)},
			"Use the maximum over 11 references", "Worse than one reference: −0.041 [−0.051, −0.031] for chrF mean (p = 0.010)."},
		"a mean of the best":          {[]experiment.Difference{compared("bleu", "best:k=3", flat, 0.048)}, "Use the mean of the best 3 over 11 references", ""},
		"chosen references are named": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.048), over4)}, "Use the maximum over 4 references (first 4)", ""},
		"two that are not told apart": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "native", flat, 0.043)},
			"Use the maximum or the native rule over 11 references", "These 2 settings were compared with one reference, not with each other."},
		"two that are not told apart, over other references": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), change(compared("bleu", "mean", flat, 0.043), over4)},
			"2 of 2 settings beat one reference", "These 2 settings were compared with one reference, not with each other."},
		"four that are not told apart": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "native", flat, 0.043), compared("bleu", "mean", flat, 0.04),
			compared("bleu", "best:k=3", flat, 0.04), compared("bleu", "min", flat, 0.001)},
			"4 of 5 settings beat one reference", "These 4 settings were compared with one reference, not with each other."},
		"an interval above that of another winner": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "mean", flat, 0.021)},
			"Use the maximum over 11 references", ""},
		"a winner in more comparisons": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "native", flat, 0.043), compared("chrf", "max", flat, 0.042), compared("chrf", "native", flat, 0.004)},
			"Use the maximum over 11 references", ""},
		"a winner with one metric only": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.002)},
			"Use the maximum over 11 references with BLEU", ""},
		"a winner in some comparisons": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.03), compared("ter", "max", flat, 0.001)},
			"The maximum over 11 references beats one in 2 of 3 comparisons", ""},
		"two winners with different metrics": {[]experiment.Difference{
			compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.001), compared("bleu", "mean", flat, 0.001), compared("chrf", "mean", flat, 0.03)},
			"2 of 2 settings beat one reference in some comparisons", "These 2 settings were compared with one reference, not with each other."},
		"no winner, as each gains with one metric and loses with another": {[]experiment.Difference{compared("bleu", "mean", flat, 0.021), compared("chrf", "mean", flat, -0.041)},
			"No setting is shown to be better for every metric", "Worse than one reference: −0.041 [−0.051, −0.031] for chrF mean (p = 0.010)."},
		"another statistic says the opposite": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, -0.024)},
			"No setting is shown to be better by every statistic", "Kendall’s τ by segment says the opposite: −0.024 [−0.034, −0.014] for chrF max (p = 0.010)."},
		"another statistic says the opposite of what loses": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, 0.011), compared("chrf", "mean", flat, -0.041), compared("chrf", "mean", grouped, 0.024)},
			"Use the maximum over 11 references", "Worse than one reference: −0.041 [−0.051, −0.031] for chrF mean (p = 0.010).|" +
				"Kendall’s τ by segment says the opposite: +0.024 [0.014, 0.034] for chrF mean (p = 0.010)."},
		"the baseline is best": {[]experiment.Difference{compared("bleu", "mean", flat, -0.048), compared("bleu", "max", flat, -0.03)},
			"Keep one reference: every other setting is worse", ""},
		"some are worse than the baseline": {[]experiment.Difference{compared("bleu", "mean", flat, -0.048), compared("bleu", "max", flat, 0.001)},
			"Keep one reference: no setting is shown to be better", ""},
		"nothing significant": {[]experiment.Difference{compared("bleu", "mean", flat, -0.004), compared("bleu", "max", flat, 0.002)},
			"No setting is shown to be better than one reference", ""},
		"too few resamples": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), func(d *experiment.Difference) { d.Significant, d.Undecided = false, true })},
			"Too few resamples to decide between the settings", "Take at least 20 resamples, or compare fewer settings."},
		"not tested": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), untested)}, "No setting is tested against one reference", ""},
		"undefined, as there are too few data": {[]experiment.Difference{change(compared("bleu", "max", flat, 0), func(d *experiment.Difference) { d.Value = report.None() })},
			"Too few data to compare the settings", ""},
		"equal scores": {[]experiment.Difference{change(compared("bleu", "max", flat, 0), func(d *experiment.Difference) { d.Equal, d.Significant = d.Cells, false })},
			"All settings give the same scores", ""},
		"nothing compared": {nil, "No two settings of a metric were compared", ""},
		"a statistic of systems says nothing next to one of outputs": {
			[]experiment.Difference{compared("bleu", "max", "accuracy", 0.3), compared("bleu", "max", flat, 0.001)},
			"No setting is shown to be better than one reference", ""},
		"on two of three datasets": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), change(compared("bleu", "max", flat, 0.03), onSet("other")), change(compared("bleu", "max", flat, 0.001), onSet("third"))},
			"The maximum over 11 references beats one in 2 of 3 comparisons", ""},
	} {
		res := &experiment.Result{Confidence: 0.95, Statistics: []string{flat, "accuracy"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Differences: c.all}
		got := res.Claim()
		if got.Text != c.want || strings.Join(got.Cautions, "|") != c.cautions {
			t.Errorf("%s: %q, %q\nwant %q, %q", name, got.Text, got.Cautions, c.want, c.cautions)
		}
		if n := len(strings.Fields(got.Text)); n > 12 {
			t.Errorf("%s: %d words", name, n)
		}
	}
}

// A single setting, or settings that all share the row of one reference, leave nothing to
// compare.
func TestClaimWithoutDifferences(t *testing.T) {
	row := experiment.Row{Setting: experiment.SettingName{Metric: "chrf", Aggregator: "single"}}
	res := &experiment.Result{Datasets: []experiment.DatasetInfo{{Name: "set"}}, Rows: []experiment.Row{row, row}}
	if got, want := res.Claim().Text, "Only one setting was scored, so nothing is compared"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Same = []experiment.Same{{}}
	if got, want := res.Claim().Text, "All settings give the same scores"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// If native shares the row of max with one metric, it gains what max does; if it does so
// with every metric, it is not listed separately.
func TestClaimOfSharedRows(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Differences: []experiment.Difference{
		compared("bleu", "max", "kendall", 0.020), compared("bleu", "native", "kendall", 0.048), compared("chrf", "max", "kendall", 0.042)}}
	native := res.Differences[1].A
	native.Metric = "chrf"
	res.Same = []experiment.Same{{Dataset: "set", Setting: native, As: res.Differences[2].A, Name: res.Differences[1].AName, AsName: res.Differences[2].AName}}
	if got, want := res.Claim().Text, "Use the maximum or the native rule over 11 references"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Differences = res.Differences[2:]
	if got, want := res.Claim().Text, "Use the maximum over 11 references"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The evidence is two sentences: the effect, and the data.
func TestEvidence(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Confidence: 0.95,
		Datasets:    []experiment.DatasetInfo{{Name: "set", Human: "mqm", Cells: 18, Segments: 10, Systems: []string{"a", "b"}, ResampledBy: "segment"}},
		Differences: []experiment.Difference{compared("bleu", "max", "kendall", 0.048), compared("chrf", "max", "kendall", 0.042)},
		Rows:        []experiment.Row{{About: experiment.About{Dataset: "set"}, Unscored: 1}}}
	got := res.Claim()
	want := []string{"Against one reference, Kendall’s τ with mqm changes by +0.048 [0.038, 0.058] for BLEU (p = 0.010) and +0.042 [0.032, 0.052] for chrF (p = 0.010).",
		"18 of 20 outputs of 10 segments by 2 systems have mqm scores, and every setting scores at least 17 of them."}
	if !slices.Equal(got.Evidence, want) {
		t.Errorf("%q\nwant %q", got.Evidence, want)
	}
	if want := "Intervals: 95% bootstrap over segments. p-values: perm-both, corrected by Holm over 2 differences."; got.Method != want {
		t.Errorf("%q, want %q", got.Method, want)
	}
	res.Differences = []experiment.Difference{compared("bleu", "mean", "kendall", -0.004), compared("bleu", "max", "kendall", 0.002)}
	if got, want := res.Claim().Evidence[0], "Against one reference, Kendall’s τ with mqm changes by −0.004 [−0.014, 0.006] for BLEU mean (p = 0.010), the smallest p-value of 2 differences."; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	res.Differences = nil
	for k := range 5 {
		res.Differences = append(res.Differences, compared("m"+strconv.Itoa(k), "max", "kendall", 0.02+0.01*float64(k)))
	}
	if got, want := res.Claim().Evidence[0], "Against one reference, Kendall’s τ with mqm changes by +0.020 [0.010, 0.030] for m0 (p = 0.010) to +0.060 [0.050, 0.070] for m4 (p = 0.010), in 5 comparisons."; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Over tasks, the claim is about the first rank, and a subset is named.
func TestClaimOverTasks(t *testing.T) {
	res := &experiment.Result{Datasets: []experiment.DatasetInfo{{Human: "mqm", Cells: 20, Segments: 10, Systems: []string{"a", "b"}, Domains: []string{"news"}}}, Tasks: make([]experiment.TaskResult, 3)}
	standing := func(metric string, average float64, rank int) experiment.Standing {
		return experiment.Standing{Setting: experiment.SettingName{Metric: metric, Aggregator: "max"}, Average: report.Number(average), Rank: rank}
	}
	for want, standings := range map[string][]experiment.Standing{
		"chrF max has the highest average over 3 tasks, on a subset":      {standing("ter", 0.68, 0), standing("chrf", 0.69, 0)},
		"chrF max is best over 3 tasks, on a subset":                      {standing("ter", 0.68, 2), standing("chrf", 0.69, 1)},
		"2 of 3 settings share the first place over 3 tasks, on a subset": {standing("ter", 0.68, 1), standing("chrf", 0.69, 1), standing("bleu", 0.6, 2)},
	} {
		res.Standings = standings
		got := res.Claim()
		if got.Text != want || got.Evidence[0] != "chrF max averages 0.690, the next, TER max, 0.680." {
			t.Errorf("%q, %q\nwant %q", got.Text, got.Evidence, want)
		}
		if want := "20 outputs of 10 segments by 2 systems have mqm scores, and every setting scores all of them; 10 of 0 segments, by domain: news."; got.Evidence[1] != want {
			t.Errorf("%q, want %q", got.Evidence[1], want)
		}
	}
	res.Standings, res.Statistics, res.Differences = nil, []string{"kendall"}, []experiment.Difference{compared("bleu", "max", "kendall", 0.048)}
	if got, want := res.Claim().Text, "Use the maximum over 11 references, on a subset"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// There is a forest for each dataset.
func TestForestOfEachDataset(t *testing.T) {
	first, second, third := compared("bleu", "max", "kendall", 0.048), compared("bleu", "max", "kendall", 0.03), compared("bleu", "max", "kendall", 0.001)
	second.Dataset, third.Dataset = "other", "third"
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}, {Name: "other"}, {Name: "third"}},
		Differences: []experiment.Difference{first, second, third}}
	if f := res.Forests(); len(f) != 3 || !strings.HasSuffix(f[1].Title, " on other") || f[1].Rows[0].Outcome != report.Better {
		t.Errorf("forests %+v", f)
	}
}

// A forest has a row for each setting and grouping, and notes on baselines and equal scores.
func TestForest(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Confidence: 0.95,
		Differences: []experiment.Difference{compared("chrf", "mean", "kendall", -0.041), compared("chrf", "mean", "kendall by segment", 0.024), compared("chrf", "mean", "accuracy", 0.1)},
		Same: []experiment.Same{{Dataset: "set", Setting: experiment.SettingName{Metric: "chrf", Aggregator: "native"}, As: experiment.SettingName{Metric: "chrf", Aggregator: "max"},
			Name: "native over 11 references (all)", AsName: "max over 11 references (all)", Cells: 26250}}}
	all := res.Forests()
	if len(all) != 1 {
		t.Fatalf("%d forests", len(all))
	}
	f := all[0]
	if f.Unit != "difference in Kendall’s τ with mqm" || f.Title != "Every setting over 11 references, against one reference" {
		t.Errorf("%q, %q", f.Unit, f.Title)
	}
	if len(f.Rows) != 2 {
		t.Fatalf("%+v", f.Rows)
	}
	for i, want := range []report.ForestRow{{Setting: "chrF mean", Grouping: "flattened", Outcome: report.Worse}, {Setting: "chrF mean", Grouping: "by segment", Outcome: report.Better}} {
		if got := f.Rows[i]; got.Setting != want.Setting || got.Grouping != want.Grouping || got.Outcome != want.Outcome || got.P != 0.01 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if len(f.Notes) != 2 || f.Notes[0] != "chrF with one reference: 0.241 flattened, 0.176 by segment" || !strings.Contains(f.Notes[1], "chrF: native over 11 references (all) and max over 11 references (all) have equal scores") {
		t.Errorf("notes %q", f.Notes)
	}
	for i := range res.Differences {
		if leads := res.Leads(&res.Differences[i]); leads != (i < 2) {
			t.Errorf("difference %d leads: %v", i, leads)
		}
	}
}
