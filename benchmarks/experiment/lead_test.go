package experiment_test

import (
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
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
		"one metric":      {[]experiment.Difference{compared("bleu", "max", flat, 0.048)}, "By Kendall’s τ, use max over 11 references: +0.048 BLEU"},
		"several metrics": {[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, 0.042)}, "By Kendall’s τ, use max over 11 references: +0.048 BLEU, +0.042 chrF"},
		"the best is chosen, and what harms is said": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "mean", flat, 0.021), compared("chrf", "max", flat, 0.042), compared("chrf", "mean", flat, -0.041)},
			"By Kendall’s τ, use max over 11 references: +0.048 BLEU, +0.042 chrF; mean harms chrF by 0.041"},
		"it depends on the grouping": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, 0.011), compared("chrf", "mean", flat, -0.041), compared("chrf", "mean", grouped, 0.024)},
			"By Kendall’s τ, use max over 11 references: +0.042 chrF; by segment mean gains more for chrF (+0.024, max +0.011); flattened, mean harms chrF by 0.041, by segment it helps by 0.024"},
		"the best itself depends on it": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, -0.03)},
			"By Kendall’s τ, whether max over 11 references helps depends on the grouping: chrF +0.042 flattened, −0.030 by segment"},
		"only the first grouping decides": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, 0.003)},
			"By Kendall’s τ, use max over 11 references: +0.042 chrF; by segment no significant difference"},
		"the first grouping decides alone for one metric": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("bleu", "max", grouped, 0.02), compared("chrf", "max", flat, 0.042), compared("chrf", "max", grouped, 0.003)},
			"By Kendall’s τ, use max over 11 references: +0.048 BLEU, +0.042 chrF; by segment no significant difference for chrF"},
		"harm in the first grouping only": {
			[]experiment.Difference{compared("chrf", "mean", flat, -0.042), compared("chrf", "mean", grouped, 0.003)},
			"By Kendall’s τ, keep the single reference: mean harms chrF by 0.042; by segment no significant difference"},
		"only another grouping decides": {
			[]experiment.Difference{compared("chrf", "max", flat, 0.002), compared("chrf", "max", grouped, 0.03)},
			"By Kendall’s τ, flattened, nothing differs significantly from the single reference; by segment: use max over 11 references: +0.030 chrF"},
		"one metric gains, one is not clear": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("ter", "max", flat, 0.003)},
			"By Kendall’s τ, use max over 11 references: +0.048 BLEU; nothing significant for TER"},
		"one metric gains, one loses": {
			[]experiment.Difference{compared("bleu", "max", flat, 0.048), compared("chrf", "max", flat, -0.02)},
			"By Kendall’s τ, use max over 11 references for BLEU (+0.048), not for chrF (−0.020)"},
		"only harms": {[]experiment.Difference{compared("bleu", "mean", flat, -0.048), compared("chrf", "mean", flat, -0.041), compared("bleu", "max", flat, 0.001)},
			"By Kendall’s τ, keep the single reference: mean harms BLEU (−0.048) and chrF (−0.041)"},
		"nothing significant": {[]experiment.Difference{compared("bleu", "mean", flat, -0.004), compared("bleu", "max", flat, 0.002)},
			"By Kendall’s τ, nothing differs significantly from the single reference; the largest difference is −0.004 [−0.014, 0.006] for BLEU, mean over 11 references"},
		"too few resamples": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), func(d *experiment.Difference) { d.Significant, d.Undecided = false, true })},
			"By Kendall’s τ, the test has too few resamples to decide; the largest difference from the single reference is +0.040 [0.030, 0.050] for BLEU, max over 11 references"},
		"not tested": {[]experiment.Difference{change(compared("bleu", "max", flat, 0.04), func(d *experiment.Difference) {
			d.Significant, d.Interval, d.P, d.Corrected = false, nil, report.None(), report.None()
		})}, "By Kendall’s τ, the largest difference from the single reference is +0.040 for BLEU, max over 11 references, not tested"},
		"the same scores": {[]experiment.Difference{change(compared("bleu", "max", flat, 0), func(d *experiment.Difference) { d.Equal = d.Cells })},
			"By Kendall’s τ, every setting gives the same scores as the single reference"},
		"one metric against another": {[]experiment.Difference{change(compared("chrf", "max", flat, 0.03), func(d *experiment.Difference) { d.B.Metric = "bleu" })},
			"By Kendall’s τ, use chrF, max over 11 references: +0.030 over BLEU, the single reference"},
		"a statistic of systems says nothing beside one of outputs": {
			[]experiment.Difference{compared("bleu", "max", "accuracy", 0.3), compared("bleu", "max", flat, 0.001)},
			"By Kendall’s τ, nothing differs significantly from the single reference; the largest difference is +0.001 [−0.009, 0.011] for BLEU, max over 11 references"},
	} {
		res := &experiment.Result{Statistics: []string{flat, "accuracy"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Differences: c.all}
		if got := res.Lead(); got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}

// What is compared with nothing is named where it has the highest value.
func TestLeadBesideOwnScores(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}},
		Differences: []experiment.Difference{compared("chrf", "max", "kendall", 0.1)},
		Rows: []experiment.Row{
			{About: experiment.About{Statistic: "kendall"}, Setting: experiment.SettingName{Metric: "chrf", Aggregator: "max"}, Value: 0.2},
			{About: experiment.About{Statistic: "kendall"}, Setting: experiment.SettingName{Metric: "mine"}, Value: 0.6},
		}}
	if got, want := res.Lead(), "By Kendall’s τ, use max over 11 references: +0.100 chrF; the highest value is of mine, 0.600"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Rows[1].Missing = 3
	if got := res.Lead(); strings.Contains(got, "mine") {
		t.Errorf("%q compares what lacks scores", got)
	}
}

// A setting that another one stands for counts as what it is.
func TestLeadOfSameSettings(t *testing.T) {
	flat, grouped := "kendall", "kendall by segment"
	of := func(metric, aggregator string) experiment.SettingName {
		return experiment.SettingName{Metric: metric, References: "all", Aggregator: aggregator}
	}
	res := &experiment.Result{Statistics: []string{flat}, Datasets: []experiment.DatasetInfo{{Name: "set"}},
		Differences: []experiment.Difference{compared("bleu", "max", flat, 0.155), compared("bleu", "native", flat, 0.229), compared("chrf", "max", flat, 0.154),
			compared("bleu", "native", grouped, 0.1), compared("chrf", "max", grouped, 0.1)},
		Same: []experiment.Same{{Dataset: "set", Setting: of("chrf", "native"), As: of("chrf", "max"), Name: "native over 11 references (all)", AsName: "max over 11 references (all)", Cells: 10}}}
	if got, want := res.Lead(), "By Kendall’s τ, use native over 11 references: +0.229 BLEU, +0.154 chrF (where it is max)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Differences[2] = compared("chrf", "max", flat, -0.154)
	res.Differences = res.Differences[:3]
	if got, want := res.Lead(), "By Kendall’s τ, use native over 11 references for BLEU (+0.229), not for chrF (−0.154, where it is max); max harms chrF by 0.154"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Differences = []experiment.Difference{compared("chrf", "max", flat, 0.154)}
	if got, want := res.Lead(), "By Kendall’s τ, use max over 11 references: +0.154 chrF"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The order of three systems leads nothing.
func TestLeadOfFewSystems(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"accuracy"}, Differences: []experiment.Difference{compared("bleu", "max", "accuracy", 0.333)},
		Datasets: []experiment.DatasetInfo{{Name: "set", Systems: []string{"a", "b", "c"}}}}
	if got := res.Lead(); !strings.HasPrefix(got, "Pairwise accuracy of so few systems tells nothing") {
		t.Errorf("%q", got)
	}
	res.Datasets[0].Systems = append(res.Datasets[0].Systems, "d")
	if got, want := res.Lead(), "By pairwise accuracy, use max over 11 references: +0.333 BLEU"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A move of a system is clear where its interval is off 0.
func TestMovesOfSystems(t *testing.T) {
	for human, want := range map[string]bool{`"A":5,"B":3`: true, `"A":3,"B":5`: false} {
		p := sixSegments(t, `"a small ferry"`, `"A":"one large boat","B":"a small ferry"`, human, "aggregators: [single]\nanalyses: [ranking]\n")
		p.Bootstrap.Resamples, p.Bootstrap.Confidence = 40, 0.95
		res, _ := run(t, p, t.TempDir())
		k := res.Rankings[0]
		p.Bootstrap.Resamples = 0
		if none, _ := run(t, p, t.TempDir()); none.Rankings[0].Ahead != -1 || none.Rankings[0].Systems[0].Under[0].Clear {
			t.Errorf("%s: without resamples %+v", human, none.Rankings[0])
		}
		if k.Ahead != 1 {
			t.Errorf("%s: the first is ahead of %d", human, k.Ahead)
		}
		for _, s := range k.Systems {
			if s.Under[0].Clear != want {
				t.Errorf("%s: %+v", human, s)
			}
		}
	}
}

// Without differences the lead says the highest value, and without any number
// nothing.
func TestLeadOfRows(t *testing.T) {
	row := func(metric string, value float64) experiment.Row {
		return experiment.Row{About: experiment.About{Statistic: "kendall", Human: "mqm"}, Setting: experiment.SettingName{Metric: metric, Aggregator: "max"}, Value: report.Number(value)}
	}
	lacking := func(r experiment.Row, n int) experiment.Row {
		r.Missing = n
		return r
	}
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{}}}
	for want, rows := range map[string][]experiment.Row{
		"": nil,
		"BLEU max has Kendall’s τ 0.200, with mqm": {row("bleu", 0.2)},
		"chrF max has the highest Kendall’s τ, 0.300, with mqm; next is BLEU max, 0.200; the difference is not tested": {row("bleu", 0.2), row("chrf", 0.3)},
		"BLEU max has Kendall’s τ 0.200, with mqm; chrF max lacks 180 scores and cannot be set beside it":              {row("bleu", 0.2), lacking(row("chrf", 0.3), 180)},
	} {
		if res.Rows = rows; res.Lead() != want {
			t.Errorf("%q, want %q", res.Lead(), want)
		}
	}
}

// With resamples the highest value is set against the next one.
func TestLeadOfRowsSetsAgainstNext(t *testing.T) {
	lead := func(references string) string {
		p := sixSegments(t, references, `"A":"a small ferry","B":"one large boat","C":"a small ferry now"`, `"A":4,"B":5,"C":3`, "references: [original]\naggregators: [single, max]\nanalyses: []\n")
		p.Bootstrap.Resamples, p.Bootstrap.Confidence, p.Pairing = 40, 0.95, experiment.NoPair
		if references == `"a small ferry"` {
			p.Metrics = append(p.Metrics, "bleu")
		}
		res, _ := run(t, p, t.TempDir())
		return res.Lead()
	}
	if got, want := lead(`"a small ferry","one large boat"`), "; ahead of chrF single original, "; !strings.Contains(got, want) {
		t.Errorf("%q, want %q in it", got, want)
	}
	if got, want := lead(`"a small ferry"`), "; not clearly ahead of BLEU single original, "; !strings.Contains(got, want) {
		t.Errorf("%q, want %q in it", got, want)
	}
}

// Tasks lead before differences do: the first cluster by average.
func TestLeadOfTasks(t *testing.T) {
	standing := func(metric string, average, rank float64, cluster int) experiment.Standing {
		return experiment.Standing{Setting: experiment.SettingName{Metric: metric, Aggregator: "max"}, Average: report.Number(average), AverageRank: report.Number(rank), Rank: cluster}
	}
	for name, c := range map[string]struct {
		all  []experiment.Standing
		want string
	}{
		"several are first": {[]experiment.Standing{standing("ter", 0.68, 2, 1), standing("chrf", 0.69, 1.25, 1), standing("bleu", 0.5, 3, 2)},
			"chrF max has the highest average over 3 tasks, 0.690, and average rank 1.25; not significantly behind: TER max (0.680)"},
		"one is first":  {[]experiment.Standing{standing("chrf", 0.69, 1, 1), standing("bleu", 0.5, 3, 2)}, "chrF max has the highest average over 3 tasks, 0.690, and average rank 1.00; significantly ahead of all others, first BLEU max (0.500)"},
		"not tested":    {[]experiment.Standing{standing("chrf", 0.69, 1, 0), standing("bleu", 0.5, 3, 0)}, "chrF max has the highest average over 3 tasks, 0.690, and average rank 1.00; next is BLEU max, 0.500; the difference is not tested"},
		"there is none": {nil, "By Kendall’s τ, use max over 11 references: +0.048 BLEU"},
	} {
		res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}}, Tasks: make([]experiment.TaskResult, 3), Standings: c.all,
			Differences: []experiment.Difference{compared("bleu", "max", "kendall", 0.048)}}
		if got := res.Lead(); got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}

// What a lead rests on names the subsets that the plan chooses.
func TestBasisOfSubsets(t *testing.T) {
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set", Human: "mqm", Cells: 20, Segments: 10, Systems: []string{"a", "b"},
		Domains: []string{"news", "web"}, NotChosen: []string{"c"}}}}
	if got, want := res.Basis(), "the subset: domains news and web, without 1 system · 20 outputs of 10 segments by 2 systems, judged by mqm · Kendall’s τ"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Differences = []experiment.Difference{compared("bleu", "max", "kendall", 0.048)}
	if got, want := res.Lead(), "On a subset, by Kendall’s τ, use max over 11 references: +0.048 BLEU"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Differences = nil
	res.Rows = []experiment.Row{{About: experiment.About{Dataset: "set", Statistic: "kendall"}, Setting: experiment.SettingName{Metric: "bleu"}, Value: 0.2}}
	if got, want := res.Lead(), "On a subset, BLEU has Kendall’s τ 0.200"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, name := range []string{"b", "c", "d", "e"} {
		res.Datasets = append(res.Datasets, experiment.DatasetInfo{Name: name, Domains: []string{"news"}})
	}
	res.Datasets[1].Domains = nil
	if got, want := res.Subset(), "set (domains news and web, without 1 system), c (domain news), d (domain news) and 1 test set more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Datasets = res.Datasets[:1]
	res.Tasks = []experiment.TaskResult{{Test: "perm-both"}, {Test: "perm-pairs"}, {Test: "perm-both"}}
	res.Standings = []experiment.Standing{{Average: 0.5}}
	if got, want := res.Basis(), " · weighted average over 3 tasks · clusters by perm-both and perm-pairs"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want it to end in %q", got, want)
	}
}

// The statistic that decides a lead is the grouping in which something is significant.
func TestDecidedBy(t *testing.T) {
	for want, flat := range map[string]float64{"kendall": 0.03, "kendall by segment": 0.001} {
		res := &experiment.Result{Statistics: []string{"kendall"}, Differences: []experiment.Difference{compared("chrf", "max", "kendall", flat), compared("chrf", "max", "kendall by segment", 0.03)}}
		if got := res.DecidedBy(); got != want {
			t.Errorf("%q decides, want %q", got, want)
		}
	}
}

// A lead over several test sets says on how many it holds.
func TestLeadOverDatasets(t *testing.T) {
	first, second := compared("bleu", "max", "kendall", 0.048), compared("bleu", "max", "kendall", 0.03)
	second.Dataset = "other"
	third := compared("bleu", "max", "kendall", 0.001)
	third.Dataset = "third"
	res := &experiment.Result{Statistics: []string{"kendall"}, Datasets: []experiment.DatasetInfo{{Name: "set"}, {Name: "other"}, {Name: "third"}},
		Differences: []experiment.Difference{first, second, third}}
	if got, want := res.Lead(), "By Kendall’s τ, use max over 11 references: +0.030 to +0.048 BLEU on 2 of 3 test sets"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	third.Value, third.Significant = -0.02, true
	res.Differences[2] = third
	if got, want := res.Lead(), "By Kendall’s τ, use max over 11 references for BLEU (+0.030 to +0.048, on 2 of 3 test sets), not for BLEU (−0.020, on 1 of 3 test sets)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	res.Differences = append(res.Differences, compared("bleu", "mean", "kendall", -0.04))
	if got, want := res.Lead(), "; mean harms BLEU (−0.040, on 1 of 3 test sets)"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want it to end in %q", got, want)
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
