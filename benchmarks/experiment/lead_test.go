package experiment_test

import (
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/internal/report"
)

// compared is a difference to the single reference whose interval is 0.01 wide on
// either side; what is off 0 is significant.
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

func TestLead(t *testing.T) {
	flat, grouped := "kendall", "kendall by segment"
	change := func(d experiment.Difference, how func(*experiment.Difference)) experiment.Difference {
		how(&d)
		return d
	}
	for name, c := range map[string]struct {
		all  []experiment.Difference
		want string
	}{
		"several metrics": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.042)}, "By Kendall’s τ, use max over 11 references: +0.048 BLEU, +0.042 chrF"},
		"the best is chosen, and what harms is said": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "mean", flat, 0.021), compared("chrf", "max", flat, 0.042), compared("chrf", "mean", flat, -0.041)},
			"By Kendall’s τ, use max over 11 references: +0.048 BLEU, +0.042 chrF; mean over 11 references harms −0.041 chrF"},
		"another statistic says the opposite": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, 0.011), compared("chrf", "mean", flat, -0.041), compared("chrf", "mean", grouped, 0.024)},
			"By Kendall’s τ, use max over 11 references: +0.042 chrF; mean over 11 references harms −0.041 chrF; by Kendall’s τ by segment it is +0.024 for chrF mean"},
		"only harms": {[]experiment.Difference{compared("bleu", "mean", flat, -0.048), compared("bleu", "max", flat, 0.001)},
			"By Kendall’s τ, keep the single reference; mean over 11 references harms −0.048 BLEU"},
		"references that are not all are named": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.048), func(d *experiment.Difference) {
			d.A.References, d.AName = "first 4", "max over 4 references (first 4)"
		})}, "By Kendall’s τ, use max over 4 references (first 4): +0.048 BLEU"},
		"nothing significant": {[]experiment.Difference{compared("bleu", "mean", flat, -0.004), compared("bleu", "max", flat, 0.002)},
			"By Kendall’s τ, nothing differs significantly from the single reference"},
		"too few resamples": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), func(d *experiment.Difference) { d.Significant, d.Undecided = false, true })},
			"By Kendall’s τ, the test has too few resamples to decide"},
		"not tested": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), func(d *experiment.Difference) {
			d.Significant, d.Interval, d.P, d.Corrected = false, nil, report.None(), report.None()
		})}, "By Kendall’s τ, the differences from the single reference are not tested"},
		"a statistic of systems says nothing next to one of outputs": {
			[]experiment.Difference{compared("bleu", "max", "accuracy", 0.3), compared("bleu", "max", flat, 0.001)},
			"By Kendall’s τ, nothing differs significantly from the single reference"},
	} {
		res := &experiment.Result{Statistics: []string{flat, "accuracy"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Differences: c.all}
		if got := res.Lead(); got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}

// What native gains counts also where its row is that of max, as it is of chrF.
func TestLeadOfMergedRows(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Differences: []experiment.Difference{
		compared("bleu", "max", "kendall", 0.040), compared("bleu", "native", "kendall", 0.048), compared("chrf", "max", "kendall", 0.042)}}
	native := res.Differences[1].A
	native.Metric = "chrf"
	res.Same = []experiment.Same{{Dataset: "set", Setting: native, As: res.Differences[2].A, Name: res.Differences[1].AName, AsName: res.Differences[2].AName}}
	if got, want := res.Lead(), "By Kendall’s τ, use native over 11 references: +0.048 BLEU, +0.042 chrF"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Tasks lead before differences do; subsets are named.
func TestLeadOfTasks(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Human: "mqm", Cells: 20, Segments: 10, Systems: []string{"a", "b"}, Domains: []string{"news"}}},
		Differences: []experiment.Difference{compared("bleu", "max", "kendall", 0.048)}}
	res.Tasks, res.Standings = make([]experiment.TaskResult, 3), []experiment.Standing{
		{Setting: experiment.SettingName{Metric: "ter", Aggregator: "max"}, Average: 0.68}, {Setting: experiment.SettingName{Metric: "chrf", Aggregator: "max"}, Average: 0.69}}
	if got, want := res.Lead(), "On a subset: chrF max has the highest average over 3 tasks, 0.690"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := res.Basis(), "20 outputs of 10 segments by 2 systems, judged by mqm · 10 of 0 segments, by domain: news · p-values by perm-both, corrected by Holm over 1 difference"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A claim over several datasets says on how many it holds, and there is a forest
// for each.
func TestLeadOverDatasets(t *testing.T) {
	first, second, third := compared("bleu", "max", "kendall", 0.048), compared("bleu", "max", "kendall", 0.03), compared("bleu", "max", "kendall", 0.001)
	second.Dataset, third.Dataset = "other", "third"
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}, {Name: "other"}, {Name: "third"}},
		Differences: []experiment.Difference{first, second, third}}
	if got, want := res.Lead(), "By Kendall’s τ, use max over 11 references: +0.030 to +0.048 BLEU on 2 of 3 datasets"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if f := res.Forests(); len(f) != 3 || !strings.HasSuffix(f[1].Title, " on other") || f[1].Groups[0].Rows[0].Effects[0].Outcome != report.Better {
		t.Errorf("forests %+v", f)
	}
}

// A forest has a view per grouping, and a mark for what is the same setting.
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
	if strings.Join(f.Views, ", ") != "flattened, by segment" || f.Unit != "difference in Kendall’s τ with mqm" || f.Title != "Every setting against the single reference" {
		t.Errorf("%q, %q, %q", f.Views, f.Unit, f.Title)
	}
	g := f.Groups[0]
	if len(f.Groups) != 1 || g.Name != "chrF" || g.Against != "the single reference: 0.241 flattened, 0.176 by segment" {
		t.Errorf("%+v", f.Groups)
	}
	if e := g.Rows[0].Effects; g.Rows[0].Name != "mean over 11 references" || e[0].Outcome != report.Worse || e[1].Outcome != report.Better || e[1].P != "0.010" {
		t.Errorf("%+v", g.Rows)
	}
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "chrF: native over 11 references (all) and max over 11 references (all) are the same") {
		t.Errorf("notes %q", f.Notes)
	}
	for i := range res.Differences {
		if leads := res.Leads(&res.Differences[i]); leads != (i < 2) {
			t.Errorf("difference %d leads: %v", i, leads)
		}
	}
}
