package experiment_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/experiment"
)

const worthPlan = `
datasets: [{name: d, dataset: "jsonl:none"}]
references: [original]
metrics: [chrf]
aggregators: [max, native]
statistics: [kendall]
bootstrap: {resamples: 40}
significance: {resamples: 0}
analyses: [worth]
`

// TestWorth gives the model texts of known worth: those that people wrote, and copies of
// the first reference.
func TestWorth(t *testing.T) {
	plain := []string{"the boat sank in the lake", "rain fell on the town", "she sold her old car", "the dog slept all day", "he plays the violin well", "prices rose again in May"}
	other := []string{"a vessel went down at sea", "it was wet downtown", "her ancient vehicle found a buyer", "until night the hound dozed", "a fine fiddler", "in spring things cost more"}
	third := []string{"boats go under", "showers hit the city", "the car of hers was sold", "a sleepy dog", "he is good on strings", "May brought inflation"}
	segments := func(variants ...[]string) list {
		var out list
		for i := range plain {
			s := &refract.Segment{ID: fmt.Sprint(i)}
			for _, r := range [][]string{plain, other, third} {
				s.References = append(s.References, refract.NewText(r[i]))
			}
			for v, texts := range variants {
				s.Variants = append(s.Variants, refract.Variant{Prompt: fmt.Sprint(v), Text: refract.NewText(texts[i])})
			}
			// People prefer texts close to one of the other references.
			for k, text := range []string{plain[i][:6] + " and no more", other[i], "of " + third[i], plain[(i+1)%6]} {
				name := string(rune('A' + k))
				s.Hypotheses = append(s.Hypotheses, refract.Hypothesis{System: name, Text: refract.NewText(text)})
				s.Judgements = append(s.Judgements, refract.Judgement{Name: "h", System: name, Score: []float64{2, 5, 4, 1}[k], Valid: true})
			}
			out = append(out, s)
		}
		return out
	}
	of := func(data list) experiment.Worth {
		e := parseText(t, worthPlan)
		r := runner(e)
		r.Open = func(experiment.Dataset) (refract.Dataset, error) { return data, nil }
		res, err := r.Run(t.Context(), e)
		require.NoError(t, err)
		if len(res.Worths) != 1 { // native is chrF's max
			t.Fatalf("%d rows, want 1", len(res.Worths))
		}
		return res.Worths[0]
	}
	same := of(segments(other, third))
	if w := same.Needed; w.Value != 1 || w.Interval.Low != 1 || w.Interval.High != 1 || w.Most != 2 {
		t.Errorf("of people's own texts %s are worth one of theirs", w)
	}
	if w := same.Given; w.Value <= 1 || w.Value > 2 || same.Variants.Value != same.People.Value || same.Person.Value <= 0 {
		t.Errorf("people's own texts: %+v", same)
	}
	copies := of(segments(plain, plain))
	if s := copies.Needed.String(); s != "> 2 [> 2, > 2]" || copies.Variants.Value != 0 || copies.Given.Value != 0 {
		t.Errorf("of copies %s are worth one by a person: %+v", s, copies)
	}
	if one := of(segments(third)); one.Needed.Most != 1 || math.Abs(float64(one.Variant.Value-one.Variants.Value)) > 1e-15 {
		t.Errorf("one variant: %+v", one)
	}

	e := parseText(t, worthPlan)
	r := runner(e)
	r.Open = func(experiment.Dataset) (refract.Dataset, error) { return segments(), nil }
	res, err := r.Run(t.Context(), e)
	if err != nil || len(res.Worths) != 0 || !strings.Contains(strings.Join(res.Notes, "\n"), "worth needs several references by people, and variants") {
		t.Errorf("without variants: %v, %v, %q", err, res.Worths, res.Notes)
	}
}

// TestWorthOfSummEval has figures of docs/explanation/findings.md.
func TestWorthOfSummEval(t *testing.T) {
	if testing.Short() {
		t.Skip("it does sums alone, for seconds")
	}
	data := filepath.Join(realData(t), "summeval")
	e := parseText(t, fmt.Sprintf(`
datasets: [{name: d, dataset: "jsonl:%s/summeval.jsonl", expansions: ["div-ref:%[1]s/summeval.diversified"], human: relevance}]
references: [original]
metrics: [chrf]
aggregators: [mean]
statistics: [{statistic: spearman, group: segment}]
bootstrap: {resamples: 0}
significance: {resamples: 0}
analyses: [worth]
`, data))
	res := run(t, e)
	w := res.Worths[0]
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"first", float64(w.First), 0.263933614},
		{"all by people", float64(w.People.Value), 0.097345592},
		{"one by a person", float64(w.Person.Value), 0.043530672},
		{"all by the model", float64(w.Variants.Value), 0.017186997},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	assert.Equal(t, "0.4", w.Given.String(), "given")
	assert.Equal(t, "> 10", w.Needed.String(), "needed")
}
