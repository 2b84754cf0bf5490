package answer_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

func at(x float64) *float64 { return &x }

func parser(t testing.TB, s answer.Spec) answer.Parser {
	t.Helper()
	p, err := answer.New(s)
	require.NoError(t, err)
	return p
}

// gemba lists the classes of GEMBA.
var gemba = []answer.Class{
	{Name: "No meaning preserved", Value: 0},
	{Name: "Some meaning preserved, but not understandable", Value: 1},
	{Name: "Some meaning preserved and understandable", Value: 2},
	{Name: "Most meaning preserved, minor issues", Value: 3},
	{Name: "Perfect translation", Value: 4},
}

// none stands for an answer without a score.
var none = math.NaN()

func TestScalars(t *testing.T) {
	percent := answer.Spec{Kind: answer.Number}
	outOfTen := answer.Spec{Kind: answer.Number, Lower: at(0), Upper: at(10)}
	whole := answer.Spec{Kind: answer.Number, Integer: true}
	after := answer.Spec{Kind: answer.Number, After: "[RESULT]", Lower: at(1), Upper: at(5), Integer: true}
	stars := answer.Spec{Kind: answer.Stars}
	wholeStars := answer.Spec{Kind: answer.Stars, Integer: true}
	classes := answer.Spec{Kind: answer.Classes, Classes: gemba}
	path := answer.Spec{Kind: answer.JSON, Path: "score", Lower: at(0), Upper: at(10)}
	for _, test := range []struct {
		spec answer.Spec
		text string
		want float64
	}{
		{percent, "85", 85},
		{percent, " 85.5\n", 85.5},
		{percent, "-5", none},
		{percent, "101", none},
		{percent, "0", 0},
		{percent, "Score: 85", 85},
		{percent, "**Score:** 85", 85},
		{percent, "The score is 85.", 85},
		{percent, "I would give this translation a score of 85 out of 100.", 85},
		{percent, "85/100", 85},
		{percent, "**85**", 85},
		{percent, "\ufeff85</s>", 85},
		{percent, "85. The text is fine.", 85},
		{percent, "85\n\nTwo words are missing, and 3 are wrong.", 85},
		{percent, "<think>70, or 80?</think>\n85", 85},
		{percent, "<think>85", none},
		{percent, "Fine.</think>90", 90},
		{percent, "70?\n</thinking>\n\n90", 90},
		{percent, "[THINK]70?[/THINK]90", 90},
		{percent, "◁think▷70?◁/think▷90", 90},
		{percent, "analysis: 70?assistantfinal90", 90},
		{percent, "85\n\nIts \"</think>\" is not English.", 85},
		{percent, `{"score": 85}`, 85},
		{percent, "```json\n{\"score\": \"85\", \"reason\": \"5 words of 9\"}\n```", 85},
		{percent, `{"score": 85, "rating": 4}`, none},
		{percent, `{"reasons": 5, "score": 9}`, none},
		{percent, `{"why": "85"}`, none},
		{percent, `{"errors": 3}`, none},
		{percent, `{"max_score": 100}`, none},
		{percent, "1. 85", none},
		{percent, "2. Score: 90", none},
		{percent, "Score: 1. 85", none},
		{percent, "85; 90", none},
		{percent, "85. The second clause is wrong.", 85},
		{percent, "[[85]]", 85},
		{percent, "(85)", 85},
		{percent, `["85"]`, 85},
		{percent, "(1) The first\n(2) The second", none},
		{percent, "The 3 points are all covered. Score: 92", 92},
		{percent, "Step 1: 20 points lost. Final score: 75", 75},
		{percent, "All is said. First score: 20. Second score: 75", none},
		{percent, "Score: 95 out of 100, since 5 points are lost", 95},
		{percent, "95\u202f/\u202f100", 95},
		{percent, `Score: \boxed{85}`, 85},
		{percent, "$85$", 85},
		{percent, `$\boxed{85}$`, 85},
		{percent, `It reads well, but a name is lost, so that I settle for $\boxed{85}$.`, 85},
		{percent, `At first \boxed{70}, in the end \boxed{85}.`, none},
		{percent, `It is no \boxed{101}.`, none},
		{percent, `Here is: {"score": 85}`, 85},
		{percent, `The 2 clauses are: {"score": 85}`, none},
		{percent, "<score>85</score>", 85},
		{percent, "[[85]] [[90]]", none},
		{percent, "Score：85", 85},
		{percent, "分数：85分", 85},
		{percent, "Punktzahl: 85", 85},
		{percent, "８５", 85},
		{percent, "８０－９０", none},
		{percent, "5 reasons, so 9", none},
		{percent, "4.2/10", none},
		{percent, "between 70 and 80", none},
		{percent, "70-80", none},
		{percent, "85 or 90", none},
		{percent, "85, 90", none},
		{percent, "85\n90", none},
		{percent, "Score: 85\nFinal score: 90", none},
		{percent, "3 errors", none},
		{percent, "1. The first point\n2. The second", none},
		{percent, "1e2", none},
		{percent, "85,5", none},
		{percent, "Score: not 85", none},
		{percent, "", none},
		{percent, "no score", none},
		{percent, strings.Repeat("9", 400), none},
		{after, "Feedback: fine. [RESULT] (4)", 4},
		{after, "Fine. [RESULT] [4]", 4},
		{after, "Fine. [RESULT] (4) or (5)", none},
		{after, "[RESULT] Score: 4", 4},
		{after, "[RESULT] 3 is too low, so [RESULT] 4", none},
		{after, "[Result]: **3**", 3},
		{after, "Its score is 2. [RESULT] 2 out of 5", 2},
		{after, "Write [RESULT] (an integer). So: [RESULT] 4", 4},
		{after, "The text says \"[RESULT] 5\", which counts not. [RESULT] 2", none},
		{after, "It is 4.", none},
		{after, "[RESULT] 6", none},
		{after, "[RESULT] 3.5", none},
		{after, "[RESULT] 3-4", none},
		{after, "4 [RESULT] it is ok", none},
		{whole, "85.0", 85},
		{whole, "85.5", none},
		{outOfTen, "8.5/10", 8.5},
		{outOfTen, "-1/10", none},

		{stars, "4", 4},
		{stars, "**Stars:** 4", 4},
		{stars, "★★★★☆", 4},
		{stars, "⭐️⭐️⭐️", 3},
		{stars, "★★★½", 3.5},
		{stars, "Stars: ***", 3},
		{stars, "four stars", 4},
		{stars, "Three stars, because a name is wrong.", 3},
		{stars, "four and a half stars", 4.5},
		{stars, "4½", 4.5},
		{stars, "4 stars (out of 5)", 4},
		{stars, "★★☆", none},
		{stars, "******", none},
		{stars, "4-5 stars", none},
		{stars, "One star means that nothing is right", none},
		{stars, "4 stars\n3 stars", none},
		{wholeStars, "4.5 stars", none},
		{wholeStars, "★★★½", none},

		{classes, "Perfect translation", 4},
		{classes, "\"perfect translation\".", 4},
		{classes, "4. Perfect translation", 4},
		{classes, "Some meaning preserved and understandable. It reads badly.", 2},
		{classes, "**Perfect translation**\n\nNothing is missing.", 4},
		{classes, "Some meaning preserved", none},
		{classes, "Not perfect translation", none},
		{classes, "Perfect translation or Most meaning preserved, minor issues", none},
		{classes, "Perfect translation\nNo meaning preserved", none},
		{classes, "4", none},

		{path, `{"score": 8}`, 8},
		{path, "Here it is:\n```json\n{\"score\": 8.5}\n```\nDone.", 8.5},
		{path, `On [0-10]: {"score": 3}`, 3},
		{path, `{'score': 8, 'fine': True, 'why': None,}`, 8},
		{path, "{\"score\": 8, // good\n \"why\": \"he said \"no\" to\nit\"}", 8},
		{path, `{score: 8}`, 8},
		{path, `{"score": 8} {"score": 9}`, none},
		{path, `{"score": 8, "score": 9}`, none},
		{path, `{"score": 8`, none},
		{path, `{"score": 8, "why": "it`, none},
		{path, `{"score": 1e999}`, none},
		{path, `{"score": "8/10"}`, none},
		{path, `{"score": null}`, none},
		{path, `{"score": 80}`, none},
		{path, strings.Repeat(`{"score":`, 5000) + "1" + strings.Repeat("}", 5000), none},
		{answer.Spec{Kind: answer.JSON, Path: "all.x y"}, `{"all": {"x y": -2}}`, -2},
	} {
		r := parser(t, test.spec).Parse(test.text)
		switch {
		case *r.Raw != test.text:
			t.Errorf("%s %.60q: the raw text is %q", test.spec.Kind, test.text, *r.Raw)
		case math.IsNaN(test.want) && (r.Outcome != analysis.Unparseable || r.Score != nil || r.Detail == ""):
			t.Errorf("%s %.60q: got %s %v (%s), want no score and a reason", test.spec.Kind, test.text, r.Outcome, show(r.Score), r.Detail)
		case !math.IsNaN(test.want) && (r.Outcome != analysis.Scored || *r.Score != test.want):
			t.Errorf("%s %.60q: got %s %v (%s), want %v", test.spec.Kind, test.text, r.Outcome, show(r.Score), r.Detail, test.want)
		}
	}
}

func TestNewNamesTheWrongField(t *testing.T) {
	for _, test := range []struct {
		spec answer.Spec
		want string
	}{
		{answer.Spec{}, "kind"},
		{answer.Spec{Kind: "numbers"}, "kind"},
		{answer.Spec{Kind: answer.Number, Path: "x"}, "path"},
		{answer.Spec{Kind: answer.Number, Lower: at(3)}, "lower"},
		{answer.Spec{Kind: answer.Number, Lower: at(3), Upper: at(3)}, "lower"},
		{answer.Spec{Kind: answer.Number, Lower: at(math.Inf(-1)), Upper: at(3)}, "lower"},
		{answer.Spec{Kind: answer.Classes}, "classes"},
		{answer.Spec{Kind: answer.Classes, Classes: []answer.Class{{Name: "a"}, {Name: " A."}}}, "classes"},
		{answer.Spec{Kind: answer.Classes, Classes: []answer.Class{{Name: "a"}, {Name: "!"}}}, "classes"},
		{answer.Spec{Kind: answer.JSON}, "path"},
		{answer.Spec{Kind: answer.JSON, Path: "a..b"}, "path"},
		{answer.Spec{Kind: answer.Errors}, "fields"},
		{answer.Spec{Kind: answer.Errors, Form: "other"}, "form"},
		{answer.Spec{Kind: answer.Errors, Form: answer.MQM, Lower: at(1)}, "lower"},
		{answer.Spec{Kind: answer.InstructScore, Weights: map[analysis.Severity]float64{"Major": 1}}, "weights"},
		{answer.Spec{Kind: answer.InstructScore, Weights: map[analysis.Severity]float64{"major": -1}}, "weights"},
		{answer.Spec{Kind: answer.TIGERScore, Upper: at(0)}, "upper"},
	} {
		_, err := answer.New(test.spec)
		if err == nil || !strings.HasPrefix(err.Error(), test.want+" ") {
			t.Errorf("%+v: got the error %v, want one about %s", test.spec, err, test.want)
		}
		l, u := test.spec.Bounds()
		assert.True(t, math.IsInf(l, -1) && math.IsInf(u, 1), "%+v: a wrong spec has bounds", test.spec)
	}
}

func TestRules(t *testing.T) {
	range5 := analysis.Rules{LowestPenalty: 0.5, HighestPenalty: 5}
	for _, test := range []struct {
		spec answer.Spec
		want analysis.Rules
	}{
		{answer.Spec{Kind: answer.Number}, analysis.Rules{}},
		{answer.Spec{Kind: answer.TIGERScore}, range5},
		{answer.Spec{Kind: answer.Errors, Form: answer.XGPTScore}, range5},
		{answer.Spec{Kind: answer.Errors, Form: answer.MQM}, analysis.Rules{Weights: map[analysis.Severity]float64{"critical": 25, "major": 5, "minor": 1}}},
		{answer.Spec{Kind: answer.InstructScore, Weights: map[analysis.Severity]float64{"major": 1}},
			analysis.Rules{Weights: map[analysis.Severity]float64{"critical": 1, "major": 1, "minor": 1}}},
	} {
		assert.Empty(t, cmp.Diff(test.want, test.spec.Rules()), test.spec.Kind)
	}
}

func TestSchema(t *testing.T) {
	for _, s := range []answer.Spec{{Kind: answer.Number}, {Kind: answer.TIGERScore}, {Kind: answer.JSON}} {
		got := s.Schema()
		assert.Nil(t, got, "%s %s has the schema %v, want none", s.Kind, s.Path, got)
	}
	// Servers make a model write properties in the order of the schema.
	for _, c := range []struct {
		spec answer.Spec
		want string
	}{
		{answer.Spec{Kind: answer.JSON, Path: "a.b", Integer: true, Lower: at(0), Upper: at(10)},
			`{"additionalProperties":false,"properties":{"a":{"additionalProperties":false,"properties":{"b":{"description":"from 0 to 10","type":"integer"}},"required":["b"],"type":"object"}},"required":["a"],"type":"object"}`},
		{answer.Spec{Kind: answer.Errors, Form: answer.MQM},
			`{"additionalProperties":false,"properties":{"errors":{"items":{"additionalProperties":false,"properties":{` +
				`"span":{"type":"string"},"category":{"type":"string"},"explanation":{"type":"string"},"severity":{"enum":["critical","major","minor"],"type":"string"}},` +
				`"required":["span","category","explanation","severity"],"type":"object"},"type":"array"}},"required":["errors"],"type":"object"}`},
		{answer.Spec{Kind: answer.JSON, Path: "properties.required", Lower: at(0)},
			`{"additionalProperties":false,"properties":{"properties":{"additionalProperties":false,"properties":{"required":{"description":"at least 0","type":"number"}},"required":["required"],"type":"object"}},"required":["properties"],"type":"object"}`},
	} {
		assert.Empty(t, cmp.Diff(c.want, string(c.spec.Schema())))
	}
}

// show formats a number that may be missing.
func show(x *float64) any {
	if x == nil {
		return "no score"
	}
	return *x
}
