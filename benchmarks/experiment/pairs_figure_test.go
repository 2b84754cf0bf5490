package experiment_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/refract-eval/refract/benchmarks/experiment"
	"github.com/refract-eval/refract/report"
	"github.com/refract-eval/refract/report/figure"
)

// ranked is a ranking of systems by people and under settings, of each of which
// the sign says whether higher scores are better; nil is a setting without scores.
func ranked(metric string, human []experiment.Number, signs []float64, scores ...[]experiment.Number) experiment.Ranking {
	k := experiment.Ranking{Dataset: "data", Human: "quality"}
	places := func(scores []experiment.Number, sign float64) []report.Place {
		out := make([]report.Place, len(human))
		for i := range out {
			if out[i].Score = report.None(); scores != nil {
				out[i].Score = scores[i]
			}
		}
		report.Ranks(out, sign)
		return out
	}
	for i, p := range places(human, 1) {
		k.Systems = append(k.Systems, report.RankedSystem{Name: string(rune('a' + i)), First: p})
	}
	for n, of := range scores {
		name := experiment.SettingName{Metric: metric, References: "all", Aggregator: []string{"max", "single", "mean"}[n]}
		k.Settings, k.Names = append(k.Settings, name), append(k.Names, metric+", "+name.Aggregator+" over all")
		for i, p := range places(of, signs[n]) {
			k.Systems[i].Under = append(k.Systems[i].Under, p)
		}
	}
	return k
}

func TestPairFigures(t *testing.T) {
	type numbers = []experiment.Number
	human := numbers{3, 2, 2, 1}
	for _, c := range []struct {
		name     string
		ranking  experiment.Ranking
		y        string
		findings []string // "" for no figure
		rows     int
	}{
		// A pair that is tied in both agrees, one that is tied in one does not.
		{"higher is better", ranked("bleu", human, []float64{1, 1, 1}, numbers{4, 3, 2, 1}, numbers{4, 4, 4, 4}, numbers{4, 3, 3, 1}),
			"difference in BLEU (higher is better)",
			[]string{"single over all: 1 of 6 pairs are ordered as by people", "mean over all: 6 of 6 pairs are ordered as by people, most of the 2 other settings"}, 6},
		{"lower is better", ranked("ter", human, []float64{-1, -1}, numbers{1, 3, 3, 4}, numbers{1, 2, 3, 4}),
			"difference in TER (lower is better)",
			[]string{"single over all: 5 of 6 pairs are ordered as by people", "max over all: 6 of 6 pairs are ordered as by people"}, 6},
		{"one setting", ranked("chrf", human, []float64{1}, numbers{1, 2, 3, 4}),
			"difference in chrF (higher is better)", []string{"max over all: 0 of 6 pairs are ordered as by people"}, 6},
		{"a setting without scores", ranked("chrf", human, []float64{1, 1}, nil, numbers{4, 3, 2, 1}),
			"difference in chrF (higher is better)", []string{"single over all: 5 of 6 pairs are ordered as by people"}, 6},
		{"a system without a score", ranked("chrf", numbers{2, 1, report.None()}, []float64{1}, numbers{4, 3, 2}),
			"difference in chrF (higher is better)", []string{"max over all: 1 of 1 pairs are ordered as by people"}, 3},
		{"one system", ranked("chrf", numbers{2}, []float64{1}, numbers{4}), "", nil, 0},
		{"no system", experiment.Ranking{Settings: []experiment.SettingName{{Metric: "chrf"}}, Names: []string{"chrf"}}, "", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := experiment.Result{Datasets: make([]experiment.DatasetInfo, 1), Rankings: []experiment.Ranking{c.ranking}}
			figures := res.Figures()
			if c.findings == nil {
				if len(figures) != 0 {
					t.Fatalf("%d figures of no pair", len(figures))
				}
				return
			}
			if len(figures) != 1 {
				t.Fatalf("%d figures", len(figures))
			}
			f := figures[0]
			if f.Kind != experiment.PairFigure || f.Name != "pairs-1" || f.Data.Name != f.Name || len(f.Data.Rows) != c.rows {
				t.Errorf("figure %s with %d rows", f.Name, len(f.Data.Rows))
			}
			if got := strings.Join(f.Findings, "\n"); got != strings.Join(c.findings, "\n") {
				t.Errorf("findings:\n%s", got)
			}
			metric, _, _ := strings.Cut(strings.TrimPrefix(c.y, "difference in "), " ")
			if want := "Scatter plot of " + metric + ": pairs of systems by metric and by people. A dot is"; !strings.HasPrefix(f.Alt, want) {
				t.Errorf("Alt %q", f.Alt)
			}
			if err := f.Data.Check(); err != nil {
				t.Error(err)
			}
			panel := f.Panels[0].(*figure.Scatter)
			if panel.X != "difference in quality, by people" || panel.Y != c.y || panel.Opposite != strings.Contains(c.y, "lower") || len(panel.Series) != len(c.findings) {
				t.Errorf("panel %+v", panel)
			}
			if panel.Series[0].Muted != (len(c.findings) > 1) {
				t.Error("the baseline is grey beside another setting, and only there")
			}
			if err := figure.Draw(&bytes.Buffer{}, figure.Style{}, f.Panels...); err != nil {
				t.Error(err)
			}
		})
	}
}

// The captions count what pairwise accuracy is of, and numbers of segments have a
// line per setting.
func TestFiguresOfARun(t *testing.T) {
	e := parse(t, sample)
	e.Sizes = experiment.Sizes{Counts: []int{2, 4}, Subsets: 3}
	res, _ := run(t, e, t.TempDir())
	settings := map[string]map[experiment.SettingName]bool{}
	for _, s := range res.Sizes {
		if settings[s.Setting.Metric] == nil {
			settings[s.Setting.Metric] = map[experiment.SettingName]bool{}
		}
		settings[s.Setting.Metric][s.Setting] = true
	}
	pairs, sizes, rows := 0, 0, 0
	for _, f := range res.Figures() {
		switch f.Kind {
		case experiment.PairFigure:
			pairs++
			if len(f.Panels[0].(*figure.Scatter).Series) != 2 {
				t.Errorf("%s: want the single reference and one other", f.Name)
			}
			for _, row := range res.Rows {
				text := fmt.Sprintf("single: %.0f of %d pairs", float64(row.Value)*float64(row.N), row.N)
				if row.Statistic == "accuracy" && row.Setting.Aggregator == "single" && strings.HasPrefix(f.Title, report.Display(row.Setting.Metric)) && !strings.HasPrefix(f.Findings[0], text) {
					t.Errorf("%s: %q, want %q", f.Name, f.Findings[0], text)
				}
			}
		case experiment.SizeFigure:
			sizes++
			rows += len(f.Data.Rows)
			panel := f.Panels[0].(*figure.Lines)
			for metric, of := range settings {
				if strings.HasPrefix(f.Title, report.Display(metric)+":") && len(panel.Series) != len(of) {
					t.Errorf("%s: %d lines of %d settings", f.Title, len(panel.Series), len(of))
				}
			}
			if len(panel.Series[0].Points) != 3 || !strings.Contains(f.Alt, "by the number of segments") {
				t.Errorf("%s: %d points, Alt %q", f.Title, len(panel.Series[0].Points), f.Alt)
			}
		}
	}
	if pairs != len(settings) || sizes != len(settings)*len(res.Statistics) || rows != len(res.Sizes) {
		t.Errorf("%d metrics, %d statistics: %d figures of pairs, %d of segments with %d rows of %d", len(settings), len(res.Statistics), pairs, sizes, rows, len(res.Sizes))
	}
}
