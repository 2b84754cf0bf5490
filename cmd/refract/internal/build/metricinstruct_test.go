package build

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/metrics/analysis"
)

func TestThirds(t *testing.T) {
	var outputs []Output
	for i := range 30 {
		outputs = append(outputs, Output{Segment: &refract.Segment{ID: strconv.Itoa(i)}, System: "s", Score: float64(i)})
	}
	count := func(of []Output) (n [thirds]int) {
		for _, o := range of {
			n[o.Third]++
			assert.Equal(t, o.Third, int(29-o.Score)/10, "the score %v is in third", o.Score)
		}
		return n
	}
	for _, test := range []struct {
		row  MixRow
		want [thirds]int
	}{
		{MixRow{Real: 9}, [thirds]int{3, 3, 3}},
		{MixRow{Real: 10}, [thirds]int{3, 4, 3}},
		{MixRow{Real: 12, Shares: []float64{1, 1, 2}}, [thirds]int{3, 3, 6}},
		{MixRow{Real: 8, Shares: []float64{0, 0, 1}}, [thirds]int{0, 0, 8}},
		{MixRow{Real: 60, Shares: []float64{1, 1, 1}}, [thirds]int{10, 10, 10}},
	} {
		assert.Equal(t, test.want, count(Thirds(1, &test.row, outputs)), "%+v", test.row)
	}
	rapid.Check(t, func(rt *rapid.T) {
		row := &MixRow{Real: rapid.IntRange(1, 25).Draw(rt, "real"), Shares: rapid.SliceOfN(rapid.Float64Range(0.1, 1), 3, 3).Draw(rt, "shares")}
		require.LessOrEqual(rt, len(Thirds(2, row, outputs)), row.Real)
	})
}

// Each rule of section 3.3 finds its own cases and no others.
func TestFilters(t *testing.T) {
	recipe := loaded(t, "metricinstruct")
	penalty := func(p float64) *float64 { return &p }
	item := func(change func(*Item)) *Item {
		it := &Item{
			Channel: ChannelReal, Source: "Die Brücke ist gesperrt.", Reference: "The bridge is closed.", Hypothesis: "The old bridge is open.",
			Errors: []analysis.Error{{Location: "is open", Aspect: "Accuracy", Severity: analysis.Major, Penalty: penalty(4), Explanation: "It is closed."}},
		}
		change(it)
		r := &analysis.Report{Outcome: analysis.Scored, Errors: it.Errors}
		r.Locate(analysis.Texts{Hypothesis: it.Hypothesis, Source: it.Source})
		return it
	}
	for _, test := range []struct {
		name   string
		change func(*Item)
		rule   string
	}{
		{"nothing", func(*Item) {}, ""},
		{"a minor error of 2.5", func(it *Item) { it.Errors[0].Severity, it.Errors[0].Penalty = analysis.Minor, penalty(2.5) }, ""},
		{"a minor error above", func(it *Item) { it.Errors[0].Severity, it.Errors[0].Penalty = analysis.Minor, penalty(3) }, RulePenalty},
		{"out of range", func(it *Item) { it.Errors[0].Penalty = penalty(6) }, RulePenalty},
		{"the reference", func(it *Item) { it.Errors[0].Explanation = "The reference says that it is closed." }, RuleReference},
		{"references in general", func(it *Item) { it.Errors[0].Explanation = "It refers to another bridge." }, ""},
		{"the output has the word", func(it *Item) {
			it.Hypothesis += " See the reference."
			it.Errors[0].Explanation = `"reference" is not in the source.`
		}, ""},
		{"words of the source", func(it *Item) { it.Errors[0].Location = "Die Brücke" }, ""},
		{"half of the words", func(it *Item) { it.Errors[0].Location = "bridge was" }, ""},
		{"most of the words", func(it *Item) { it.Errors[0].Location = "some other bridge" }, RuleLocation},
		{"another aspect", func(it *Item) {
			it.Channel, it.Asked = ChannelSynthetic, []analysis.Error{{Aspect: "Fluency"}}
		}, RuleNotDesignated},
		{"the reference itself", func(it *Item) {
			it.Channel, it.Asked, it.Hypothesis = ChannelSynthetic, []analysis.Error{{Aspect: "Accuracy"}}, it.Reference
		}, RuleUnchanged},
	} {
		it := item(test.change)
		original := ""
		if it.Channel == ChannelSynthetic {
			original = it.Reference
		}
		if (&Set{Recipe: recipe}).filter(it, original); it.Rule != test.rule || (it.Detail != "") != (test.rule != "") {
			t.Errorf("%s: %q %s, want %q", test.name, it.Rule, it.Detail, test.rule)
		}
	}
	b := &Set{Recipe: recipe}
	for _, rule := range []string{"", RuleRepeat} {
		it := item(func(*Item) {})
		if b.filter(it, ""); it.Rule != rule {
			t.Errorf("%q, want %q", it.Rule, rule)
		}
	}
}

func TestReadPlan(t *testing.T) {
	m, err := ReadPlan("m.yaml", strings.NewReader("recipe: metricinstruct\nmix:\n  - {dataset: \"jsonl:d.jsonl\", task: translation, options: {sl: Chinese}, metric: bleu, real: 3, shares: [1, 1, 2], synthetic: 2}\n"))
	require.NoError(t, err)
	want := &MixRow{Dataset: "jsonl:d.jsonl", Task: "translation", Options: map[string]string{"sl": "Chinese"}, Metric: "bleu", Real: 3, Shares: []float64{1, 1, 2}, Synthetic: 2}
	assert.Equal(t, []*MixRow{want}, m.Mix)
	for text, want := range map[string]string{
		"mix: []\n":                         "there is no row",
		"mix:\n  - {task: a}\n":             "m.yaml:3: mix[0]: dataset and task are needed",
		"mix:\n  - {dataset: a, task: b}\n": "one of them must be above 0",
		"mix:\n  - {dataset: a, task: b, metric: c, real: 1, shares: [1, 2]}\n":    "want three numbers",
		"mix:\n  - {dataset: a, task: b, metric: c, real: 1, shares: [0, 0, 0]}\n": "want three numbers",
		"mix:\n  - {dataset: a, task: b, metric: c, real: 1, amount: 2}\n":         "amount",
		"mix:\n  - {dataset: a, task: b, synthetic: 1}\nother: 1\n":                "other",
	} {
		_, err := ReadPlan("m.yaml", strings.NewReader("recipe: metricinstruct\n"+text))
		assert.ErrorContains(t, err, want, "%q", text)
	}
}
