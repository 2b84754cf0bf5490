package experiment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/benchmarks/experiment"
)

const minimal = "datasets:\n  - dataset: jsonl:x.jsonl\n"

func TestParseDefaults(t *testing.T) {
	e, err := experiment.Parse("folder/some.yaml", strings.NewReader(minimal))
	require.NoError(t, err)
	if e.Name != "some" || e.Dir != "folder" || len(e.Sets) != 2 || len(e.Metrics) != 2 || len(e.Aggregators) != 4 || len(e.Statistics) != 2 ||
		e.Bootstrap.Resamples != 1000 || e.Bootstrap.Confidence != 0.95 || e.Test.Resamples != 1000 || !e.Prompts || !e.Ranking {
		t.Errorf("%+v", e)
	}
	for spec, want := range map[string]string{
		"jsonl:x.jsonl": "jsonl:folder/x.jsonl", "jsonl:/x.jsonl": "jsonl:/x.jsonl", "jsonl:-": "jsonl:-", "mtme:../wmt22/zh-en": "mtme:wmt22/zh-en",
	} {
		assert.Equal(t, want, e.Path(spec), "%s is at", spec)
	}
}

// A crossed entry is a task for each combination; together they share its weight.
func TestParseTasks(t *testing.T) {
	const text = `
datasets: [{name: a, dataset: "jsonl:a"}, {name: b, dataset: "jsonl:b"}]
significance: {one_sided: true}
tasks:
  - {dataset: a, domain: [all, news], statistic: [pearson, kendall], level: system, weight: 2}
  - {statistic: [acc23, kendall], group: segment}
  - {dataset: b, statistic: acc23, group: system, test: perm-both, weight: 0.5}
`
	e := parseText(t, text)
	var got []string
	for _, task := range e.Tasks {
		got = append(got, fmt.Sprintf("%s/%s/%s/%v/%g", task.Dataset, task.Domain, task.Label(), task.Method, task.Weight))
	}
	want := []string{
		"a//pearson, system level/perm-both/0.5", "a//kendall, system level/perm-both/0.5",
		"a/news/pearson, system level/perm-both/0.5", "a/news/kendall, system level/perm-both/0.5",
		"a//acc23 by segment/perm-pairs/1", "a//kendall by segment/perm-both/1", "b//acc23 by segment/perm-pairs/1", "b//kendall by segment/perm-both/1",
		"b//acc23 by system/perm-both/0.5",
	}
	assert.True(t, slices.Equal(got, want), "%q", got)
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "some.yaml: the file is empty"},
		{"unknown field", minimal + "metric: [bleu]\n", "some.yaml:3: unknown field"},
		{"unknown field within", "datasets:\n  - dataset: jsonl:x\n    humans: mqm\n", "some.yaml:3: unknown field"},
		{"no dataset", "metrics: [bleu]\n", "datasets: there is none"},
		{"dataset without a spec", "datasets:\n  - name: x\n", "some.yaml:2: datasets[0]: no dataset"},
		{"datasets of one name", minimal + "  - dataset: jsonl:x.jsonl\n", "some.yaml:3: datasets[1].name: two datasets"},
		{"reference of no folder", minimal + "    reference: [refA]\n", "some.yaml:3: datasets[0].reference"},
		{"aggregator", minimal + "aggregators: [max, maxx]\n", `some.yaml:3: aggregators[1]: unknown aggregator "maxx"`},
		{"aggregator twice", minimal + "aggregators: [best, \"best:k=1\"]\n", "aggregators[1]: best:k=1 is given twice"},
		{"set", minimal + "references:\n  - original\n  - everything\n", "some.yaml:5: references[1]: unknown set of references"},
		{"set of two forms", minimal + "references:\n  - {first: 2, prompts: a}\n", "references[0]: a set of references is of one form, and this has 2"},
		{"set with an unknown field", minimal + "references:\n  - {first: 2, n: 2}\n", "some.yaml:4: unknown field"},
		{"first", minimal + "references: [{first: -1}]\n", "references[0].first: -1"},
		{"method", minimal + "curves:\n  - by: chance\n", "some.yaml:4: curves[0].by"},
		{"statistic", minimal + "statistics: [kendal]\n", `some.yaml:3: statistics[0]: unknown statistic`},
		{"statistic twice", minimal + "statistics: [kendall, {statistic: kendall}]\n", "statistics[1]: kendall is given twice"},
		{"group", minimal + "statistics:\n  - {statistic: kendall, group: item}\n", "statistics[0].group"},
		{"level", minimal + "statistics:\n  - {statistic: kendall, level: page}\n", "statistics[0].level"},
		{"group at system level", minimal + "statistics:\n  - {statistic: kendall, level: system, group: segment}\n", "some.yaml:4: statistics[0].group: segment: at system level"},
		{"accuracy by segment", minimal + "statistics:\n  - {statistic: accuracy, group: segment}\n", "compares systems"},
		{"resamples beyond", minimal + "bootstrap: {resamples: 1000000000}\n", "some.yaml:3: bootstrap.resamples: 1000000000: want 0 to 1000000"},
		{"resamples", minimal + "bootstrap: {resamples: -1}\n", "some.yaml:3: bootstrap.resamples"},
		{"confidence", minimal + "bootstrap: {confidence: 95}\n", "bootstrap.confidence"},
		{"test", minimal + "significance: {method: t-test}\n", "significance.method"},
		{"test of what it does not take", minimal + "significance: {method: williams}\n", "statistics[1]"},
		{"test of a task", minimal + "tasks: [{statistic: pearson, test: perm-pairs}]\n", "tasks[0]: perm-pairs does not test"},
		{"comparison", minimal + "comparisons:\n  - {a: {references: al, aggregator: max}, b: {references: original, aggregator: single}}\n", "some.yaml:4: comparisons[0]"},
		{"comparison with itself", minimal + "comparisons:\n  - {a: {references: all, aggregator: max}, b: {references: all, aggregator: max}}\n", "compared with itself"},
		{"seeds", minimal + "curves:\n  - {by: order, seeds: 2}\n", "one order only"},
		{"curve twice", minimal + "curves:\n  - by: order\n  - by: order\n", "some.yaml:5: curves[1].by"},
		{"count", minimal + "curves:\n  - {by: order, counts: [1, -2]}\n", "curves[0].counts[1]"},
		{"task of an unknown dataset", minimal + "tasks: [{dataset: jsonl:y.jsonl, statistic: kendall}]\n", `some.yaml:3: tasks[0].dataset: unknown dataset "jsonl:y.jsonl"; did you mean "jsonl:x.jsonl"?`},
		{"task without a statistic", minimal + "tasks: [{level: system}]\n", "tasks[0]: no statistic"},
		{"task twice", minimal + "tasks:\n  - statistic: kendall\n  - {statistic: [spearman, kendall], domain: all}\n", "tasks[1]: the task jsonl:x.jsonl, kendall is given twice"},
		{"weight", minimal + "tasks: [{statistic: kendall, weight: 0}]\n", "tasks[0].weight: 0: want a positive number"},
		{"analysis", minimal + "analyses: [prompt]\n", "analyses[0]"},
		{"not UTF-8", minimal + "name: \xff\n", "not valid UTF-8"},
		{"too large", strings.Repeat("#", 1<<20+1), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := experiment.Parse("some.yaml", strings.NewReader(tt.text))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// Whatever is parsed can be written with its own names.
func FuzzParse(f *testing.F) {
	f.Add(minimal)
	f.Add(minimal + "references: [original, {first: 3}, {prompts: a}]\ncurves: [{by: random, seeds: 2}]\n")
	f.Add(minimal + "statistics: [{statistic: acc23, group: segment}]\nanalyses: []\n")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := experiment.Parse("f.yaml", strings.NewReader(text))
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), "f.yaml"), "an error without the file: %v", err)
			return
		}
		names := map[string]bool{}
		for _, s := range e.Sets {
			assert.False(t, names[s.Name], "two sets are named %q", s.Name)
			names[s.Name] = true
		}
		if len(e.Datasets) == 0 || len(e.Metrics) == 0 || len(e.Aggregators) == 0 || len(e.Statistics) == 0 || len(e.Sets) == 0 {
			t.Errorf("something is without a default: %+v", e)
		}
	})
}
