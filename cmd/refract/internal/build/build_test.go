package build

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

func loaded(t testing.TB, name string) *Recipe {
	t.Helper()
	r, err := LoadRecipe(name, "")
	require.NoError(t, err)
	return r
}

// The prompts have the words of the paper's tables, apart from line breaks.
func TestPaperPrompts(t *testing.T) {
	r := loaded(t, "instructscore")
	major, minor := analysis.Major, analysis.Minor
	for _, test := range []struct {
		step, task  string
		source, raw string
		errors      []analysis.Error
		words       string
	}{
		{
			"errors", "mt_zh-en", "", "The art of writing.",
			[]analysis.Error{
				{Aspect: "Translation includes information not present in the correct translation", Severity: major},
				{Aspect: "Problems with grammar, other than orthography", Severity: major},
			},
			`You are evaluating a model output based on a reference, which describes semantics about text. The correct translation is, "The art of writing.". Your translation needs to contain two non-overlapping errors non-overlapping errors based on the given error types. Please give 0 minor errors and 2 major errors. Major errors can significantly alter the meaning of the sentences, while minor errors will not change the meaning. For each error, give me an error type, a major/minor label, an error location, and an explanation. The format is Paraphrase correct translation: Incorrect Translation: Error type 1: Translation includes information not present in the correct translation Major/minor: Major Error location 1: Explanation for error 1: Error type 2: Problems with grammar, other than orthography Major/minor: Major Error location 2: Explanation for error 2:`,
		},
		{
			"errors", "d2t", "'A | author | B'", "B wrote A.",
			[]analysis.Error{{Dimension: "Data Coverage", Aspect: "The text only partially describes a predicate present in the data", Severity: minor}},
			`You are evaluating a model output based on a structured data input and a reference. The input is 'A | author | B'. The correct generation is, "B wrote A.". Your generation needs to contain one non-overlapping error based on the given error types. Please give 1 minor error and 0 major error. Major errors can confuse or mislead the reader due to significant change in meaning, while minor errors don't lead to loss of meaning but errors are still noticeable. For each error, give me an error type, a major/minor label, an error location and an explanation. If some error types with major/minor labels do not exist at incorrect generation, put N/A at error location and explanation. The format is: Paraphrased correct generation: Incorrect Generation: Error dimension 1: Data Coverage Error type 1: The text only partially describes a predicate present in the data Major/minor: Minor Error location 1: Explanation for error 1:`,
		},
		{
			"errors", "mt_en-de", "", "Die Anzahl hat einen neuen Höchststand erreicht.",
			[]analysis.Error{
				{Aspect: "Terminology is non-standard or does not fit context. Terminology is used inconsistently", Severity: major},
				{Aspect: "Incorrect translation has stylistic problems", Severity: minor},
			},
			`You are translating from English-to-German. The correct translation is, "Die Anzahl hat einen neuen Höchststand erreicht.". First, paraphrase the correct translation. Then, generate a translation that contains two non-overlapping errors based on the given error types. Please give 1 minor error and 1 major error. Major errors can confuse or mislead the reader due to significant change in meaning, while minor errors don't lead to loss of meaning but will be noticed. For each error, give me an error type, a major/minor label, an error location and an explanation. If some error types with major/minor labels do not exist at incorrect translation, put N/A at error location and explanation. The format is: Paraphrased correct translation: Incorrect Translation: Error type 1: Terminology is non-standard or does not fit context. Terminology is used inconsistently Major/minor: Major Error location 1: Explanation for error 1: Error type 2: Incorrect translation has stylistic problems Major/minor: Minor Error location 2: Explanation for error 2:`,
		},
	} {
		task, err := r.Task(test.task)
		require.NoError(t, err)
		got, err := r.Prompt(test.step, task, designation(task, test.source, test.raw, test.errors))
		require.NoError(t, err)
		assert.Empty(t, cmp.Diff(test.words, strings.Join(strings.Fields(got), " ")), test.task)
	}
}

// All tasks resolve, and have a prompt for their errors.
func TestRecipes(t *testing.T) {
	for _, name := range []string{InstructScore, MetricInstruct, Refine} {
		r := loaded(t, name)
		for _, task := range r.Tasks {
			_, err := r.resolve(task.Options)
			if r.Analysis != "" {
				err = (&Set{Recipe: r}).Resolve(&MixRow{Task: task.Name})
			}
			assert.NoError(t, err, "%s, %s", name, task.Name)
		}
	}
	_, err := LoadRecipe("instructscore", t.TempDir())
	assert.ErrorContains(t, err, "recipe.yaml")
}

// Answers are read as the paper shows them, on one line or several.
func TestReadDesigned(t *testing.T) {
	const captioned = `Paraphrased correct generation: A huge kite rests on the sandy beach.

Incorrect Generation: A huge kite is flying towards the sandy beach. Error type 1: The caption wrongly describes motion or movement in the correct generation Major/minor: Minor Error location 1: "flying towards" Explanation for error 1: It is laying there. Error type 2: The caption wrongly describes object relationships in the correct generation Major/minor: Minor Error location 2: N/A Explanation for error 2: N/A`
	notMade := 0
	asked := []analysis.Error{
		{Aspect: "The caption wrongly describes object relationships in the correct generation", Severity: analysis.Minor},
		{Aspect: "The caption wrongly describes motion or movement in the correct generation", Severity: analysis.Minor},
	}
	read := func(text string) *Item {
		it := &Item{Asked: asked}
		notMade += designatedItem(t, it, "A very large kite is laying on the beach.", text)
		return it
	}
	it := read(captioned)
	if it.Rule != "" || it.Reference != "A huge kite rests on the sandy beach." || it.Hypothesis != "A huge kite is flying towards the sandy beach." {
		t.Errorf("%+v", it)
	}
	if len(it.Errors) != 1 || it.Errors[0].Location != "flying towards" || it.Errors[0].Place != analysis.InHypothesis || notMade != 1 {
		t.Errorf("%+v, %d not made", it.Errors, notMade)
	}
	for rule, text := range map[string]string{
		RuleMalformed:     strings.Replace(captioned, "Incorrect Generation:", "", 1),
		RuleNotDesignated: strings.Replace(captioned, "Minor", "Major", 1),
		RuleUnchanged:     strings.Replace(captioned, "A huge kite is flying towards the sandy beach.", "a huge kite rests on the  sandy beach.", 1),
	} {
		it := read(text)
		assert.True(t, it.Rule == rule && it.Detail != "", "%s: %q %s", rule, it.Rule, it.Detail)
	}
	if it := read(captioned[:strings.LastIndex(captioned, "Error type 2")]); it.Rule != RuleMalformed || it.Detail != "2 errors asked for, 1 listed" {
		t.Errorf("%+v", it)
	}
}

// The metric's parser reads the completions that models are trained to write.
func TestCompletions(t *testing.T) {
	text := rapid.StringMatching(`The( [a-z,.'-]{0,9}[a-z]){0,5} word`)
	parse := func(t *rapid.T, kind, completion string) []analysis.Error {
		p, err := answer.New(answer.Spec{Kind: kind})
		require.NoError(t, err)
		r := p.Parse(completion)
		if !r.Outcome.HasScore() || r.StatedErrors == nil || *r.StatedErrors != len(r.Errors) {
			t.Fatalf("%+v of\n%s", r, completion)
		}
		return r.Errors
	}
	rapid.Check(t, func(t *rapid.T) {
		severity := rapid.SampledFrom([]analysis.Severity{analysis.Major, analysis.Minor})
		errors := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) analysis.Error {
			penalty := rapid.SampledFrom([]float64{0.5, 1, 2.5, 5}).Draw(t, "penalty")
			return analysis.Error{
				Location: text.Draw(t, "location"), Aspect: text.Draw(t, "aspect"), Explanation: text.Draw(t, "explanation"),
				Severity: severity.Draw(t, "severity"), Penalty: &penalty,
			}
		}), 0, 5).Draw(t, "errors")
		same := cmpopts.EquateEmpty()
		require.Empty(t, cmp.Diff(errors, parse(t, answer.TIGERScore, tigerScoreAnswer("", errors)), same))
		task := rapid.SampledFrom([]string{"mt_zh-en", "d2t"}).Draw(t, "task")
		for i := range errors {
			if task == "d2t" {
				errors[i].Dimension = "Data Coverage"
			}
		}
		got := parse(t, answer.InstructScore, instructScoreAnswer(task, errors))
		require.Empty(t, cmp.Diff(errors, got, same, cmpopts.IgnoreFields(analysis.Error{}, "Penalty")))
	})
}

// The drawn errors depend only on the seed and the text; their types differ.
func TestDesignate(t *testing.T) {
	counts, severities := map[int]bool{}, map[analysis.Severity]bool{}
	for _, task := range loaded(t, "instructscore").Tasks {
		for i := range 50 {
			text := strings.Repeat("x", i)
			errors := designate(1, task, text)
			require.Empty(t, cmp.Diff(errors, designate(1, task, text)))
			counts[len(errors)] = true
			types := map[string]bool{}
			for _, e := range errors {
				types[e.Dimension+e.Aspect] = true
				severities[e.Severity] = true
				assert.Equal(t, task.Errors[0].Dimension != "", e.Dimension != "", "%s: dimension %q", task.Name, e.Dimension)
			}
			assert.Len(t, types, len(errors), "%s: a type twice: %+v", task.Name, errors)
		}
	}
	if len(counts) != mostDesignated || counts[0] || len(severities) != 2 {
		t.Errorf("counts %v, severities %v", counts, severities)
	}
}
