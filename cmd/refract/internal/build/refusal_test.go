package build

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/metrics/analysis"
)

func TestRefusal(t *testing.T) {
	for _, text := range []string{
		"I'm sorry, but I can't assist with that.", "I’m sorry, but I can’t help with that request.", "**I cannot fulfill this request.**", "Sorry, I can't comply with your request.",
		"As an AI language model, I don't have access to it.", "As a large language model, I cannot judge.", "I am just an AI assistant.", "I apologize, but I am unable to provide that.",
		"Unfortunately, I cannot create such content.", "I'm unable to generate sentences about this.", "I must decline to do this.", "I won't help with that.",
		"I will not write this.", "I'm sorry, but your request goes against my rules.", "I have to decline this.",
		"Es tut mir leid, aber dabei kann ich nicht helfen.", "Als KI-Sprachmodell habe ich keine Meinung.", "Leider kann ich diese Anfrage nicht erfüllen.",
		"Извините, но я не могу помочь с этим.", "Как языковая модель, я не имею мнения.", "Lo siento, pero no puedo ayudar con eso.", "Como modelo de lenguaje, no tengo opiniones.", "抱歉，我无法协助您。", "作为一个AI语言模型，我没有意见。",
	} {
		assert.NotEqual(t, "", refusal(text), "no refusal: %s", text)
	}
	for _, text := range []string{
		"", "The company said it cannot fulfill this request.", "I cannot help thinking about the old town.", "Sorry, we are closed on Mondays.", "I'm sorry that I missed your call.",
		"I can't believe that this is the same bridge.", "Unfortunately, the train was late again.", "As an artist, he has no equal.", "I will not go there again.", "We must do more for the poor.",
		"Leider kann ich morgen nicht kommen.", "Als Kind war ich oft dort.", "К сожалению, я не могу приехать завтра.", "Lo siento mucho por tu perro.", "我不能去。", "No errors. The output is fine.",
		"There is an error: the output says that it cannot help.", "Paraphrase correct translation: I cannot assist with this.",
	} {
		assert.Empty(t, refusal(text), text)
	}
}

// A refusal in any step never becomes an example.
func TestRefusalsAreLeftOut(t *testing.T) {
	const refused = "I'm sorry, but I can't assist with that."
	designed := "Paraphrase correct translation: " + refused + "\nIncorrect Translation: Der Zug kam.\nError type 1: A\nMajor/minor: Major\nError location 1: kam\nExplanation for error 1: It came late."
	for raw, want := range map[string]string{"Der Zug kam spät.": RuleRefusal, "I can't assist with that.": ""} {
		it := &Item{Asked: []analysis.Error{{Aspect: "A", Severity: analysis.Major}}}
		if designatedItem(t, it, raw, designed); it.Rule != want {
			t.Errorf("%s: %q %s", raw, it.Rule, it.Detail)
		}
	}
	for _, test := range []struct {
		reference string
		answers   []string
		rule      string
	}{
		{"The bridge is closed.", []string{refused, `{"errors": {}}`}, RuleRefusal},
		{"The bridge is closed.", []string{"There is no error.", refused}, RuleRefusal},
		{"The bridge is closed.", []string{"There is no error.", `{"errors": {}}`}, ""},
		{"I cannot help you with that.", []string{refused, `{"errors": {}}`}, ""},
	} {
		m := &Set{Recipe: loaded(t, "metricinstruct")}
		row := &MixRow{Dataset: "d", Task: "translation", Options: map[string]string{"sl": "German", "tl": "English"}}
		require.NoError(t, m.Resolve(row))
		it := &Item{Channel: ChannelReal, Source: "Die Brücke ist gesperrt.", Reference: test.reference, Hypothesis: test.reference}
		if m.add(&Dialogue{item: it, Answers: test.answers}, row.judges.lesson()); it.Rule != test.rule {
			t.Errorf("%q: %q %s; want %q", test.answers, it.Rule, it.Detail, test.rule)
		}
	}
}
