package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/llm"
)

// small is a minimal definition, with lines that tests change.
const small = `name: adequacy
summary: adequacy from 1 to 10
options:
  - name: topic
    doc: what the texts are about
    default: news
  - name: tone
    doc: how the judge speaks
    default: plain
    choices:
      - value: plain
        set: {voice: 'Judge {topic}.'}
      - value: "*"
        set: {voice: 'Judge {topic} as {tone}.'}
        extra: {top_k: 1}
sampling: {max_tokens: 8}
turns:
  - system: "{voice}"
    prompt: "{src} => {out}"
answer: {kind: number, lower: 1, upper: 10}
`

func parse(text string) (*Definition, error) {
	return parseDefinition("judge.yaml", strings.NewReader(text))
}

func TestParseDefinition(t *testing.T) {
	d, err := parse(small)
	require.NoError(t, err)
	if d.YAML() != small || d.Sampling.TopP != 1 {
		t.Errorf("YAML %q, top_p %v", d.YAML(), d.Sampling.TopP)
	}
	r, err := d.Resolve(map[string]string{"tone": "{topic} king"})
	require.NoError(t, err)
	assert.Equal(t, "adequacy:tone={topic} king", r.Spec(), "spec")
	want := llm.Request{
		Model:    "m",
		Messages: []llm.Message{{Role: "system", Content: "Judge news as {topic} king."}, {Role: "user", Content: "S => O"}},
		TopP:     1, MaxTokens: 8, Extra: map[string]any{"top_k": uint64(1)},
	}
	if got := r.Request("m", 0, placeholders, nil); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	assert.True(t, r.Model() == "" && !r.NeedsReference() && r.NeedsSource() && r.Endpoint() == llm.Chat, "%+v", r)
}

// Errors name the line and the field. Features of one endpoint are accepted only for that endpoint.
func TestParseDefinitionErrors(t *testing.T) {
	const likelihood = `name: fluency
endpoint: completions
likelihood: {prompt: "{src}", continuation: " {out}"}
`
	const completions = `name: fluency
endpoint: completions
sampling: {max_tokens: 1}
turns: [{prompt: "{out}"}]
answer: {kind: number}
`
	for text, faults := range map[string][]struct{ old, new, want string }{
		small: {
			{small, "", "judge.yaml: the file is empty"},
			{"name: adequacy", "name: Adequacy", "judge.yaml:1: name: "},
			{"name: adequacy", "name: x-hardened", "judge.yaml:1: name: "},
			{"name: adequacy", "nmae: adequacy", `judge.yaml:1: unknown field "nmae"`},
			{"name: adequacy", "", "judge.yaml: name: "},
			{"doc: what", "doc: ''\n    Doc: what", "judge.yaml:6: unknown field"},
			{"max_tokens: 8", "max_tokens: many", "judge.yaml:16: "},
			{"max_tokens: 8", "temperature: 0", "judge.yaml:16: sampling.max_tokens: 0 is not at least 1"},
			{"max_tokens: 8", "max_tokens: 8, temperature: -1", "judge.yaml:16: sampling.temperature"},
			{"max_tokens: 8", "max_tokens: 8, temperature: .nan", "judge.yaml:16: sampling.temperature"},
			{"max_tokens: 8", "max_tokens: 8, top_p: 2", "judge.yaml:16: sampling.top_p"},
			{"max_tokens: 8", "max_tokens: 8, stop: ['']", "judge.yaml:16: sampling.stop"},
			{"max_tokens: 8", "max_tokens: 8, extra: {x: .inf}", "judge.yaml:16: sampling.extra: cannot be sent as JSON"},
			{"max_tokens: 8", "max_tokens: 8, extra: {echo: 1}", "judge.yaml:16: sampling.extra: the extra field \"echo\""},
			{"{top_k: 1}", "{headers: {Authorization: a}}", `options[1].choices[1].extra: the field "Authorization" holds a secret`},
			{"{top_k: 1}", "{n: 2}", "options[1].choices[1].extra: the extra field \"n\""},
			{"{top_k: 1}", "{response_format: {}}", "options[1].choices[1].extra: sets response_format"},
			{"=> {out}", "=> {uot}", `judge.yaml:19: turns[0].prompt: unknown variable "uot"; did you mean "out"? (known: tone, topic, voice, src, ref, out, answer)`},
			{"=> {out}", "=> {", "judge.yaml:19: turns[0].prompt: a \"{\" that opens no variable"},
			{"=> {out}", "=> {Src}", "turns[0].prompt: a \"{\" that opens no variable"},
			{"=> {out}", "=> {out }", "turns[0].prompt: a \"{\" that opens no variable"},
			{"=> {out}", "=> }", "turns[0].prompt: a \"}\" that closes nothing"},
			{"=> {out}", "=> x", "judge.yaml:18: turns: no prompt has {out}"},
			{"voice: 'Judge {topic}.'", "voice: '{voice}'", "judge.yaml:18: turns[0].system: {voice} contains itself"},
			{"voice: 'Judge {topic}.'", "other: ''", `turns[0].system: unknown variable "voice"`},
			{"turns:", "texts: {src: x}\nturns:", `"src" cannot be the name of a text or an option`},
			{"turns:", "texts: {topic: x}\nturns:", `"topic" cannot be the name of a text or an option`},
			{"name: tone", "name: model", `judge.yaml:7: options[1].name: every judge already has an option "model"`},
			{"name: tone", "name: Tone", `"Tone" cannot be the name of a text or an option`},
			{"default: news", "required: true\n    default: news", "options[0].default: a required option has no default"},
			{"doc: what the texts are about", "doc: ''", "judge.yaml:5: options[0].doc: is missing"},
			{"default: news", "choices: [{value: a}]", "options[0].default: \"\" is none of the values"},
			{"default: news", "default: a\n    choices: [{value: a}, {value: a}]", `options[0].choices[1]: the value "a" occurs twice`},
			{"answer: {kind: number, lower: 1, upper: 10}", "answer: {kind: nmuber}", "judge.yaml:20: answer: kind \"nmuber\""},
			{"answer:", "structured: true\nanswer:", "judge.yaml:20: structured: the kind \"number\" has no JSON schema"},
			{"turns:", "endpoint: completions\nturns:", "turns: the judge may use completions, which have one turn, no system message and no examples"},
			{"turns:", "model: 'm-{out}'\nturns:", "judge.yaml:17: model: depends on {out}"},
			{"turns:", "likelihood: {prompt: '{src}', continuation: '{out}'}\nturns:", "judge.yaml:17: likelihood: reads no answer"},
			{"turns:", "examples: [{hypothesis: x}]\nturns:", "judge.yaml:17: examples[0]: needs a hypothesis and an answer"},
			{"=> {out}", "=> {out}{answer}", "turns[0]: {answer} is the answer to the turn before, and this is the first"},
			{"answer:", "    fresh: true\nanswer:", "turns[0].fresh: the first turn begins a conversation anyway"},
			{"answer:", "    errors: {kind: gemba}\nanswer:", "turns[0].errors: is for a turn before the last"},
			{"answer:", "    errors: {kind: gemba, upper: 1}\n  - prompt: x\nanswer:", "turns[0].errors: upper of kind gemba"},
			{"answer:", "  - {prompt: x, system: y}\nanswer:", "turns[1].system: belongs to the first turn of a conversation"},
			{"summary: adequacy", "summary: |\n  a\n  b\n  ", "judge.yaml:2: summary: is longer than a line"},
			{"answer:", "  - {system: again, prompt: again}\nanswer:", "judge.yaml:20: turns[1].system: belongs to the first turn"},
		},
		likelihood: {
			{"completions", "chat", "judge.yaml:2: endpoint: must be completions"},
			{"{out}", "out", "judge.yaml:3: likelihood: has no {out}"},
			{"name: fluency", "name: fluency\ntrim: true", "likelihood: reads no answer"},
			{"name: fluency", "name: fluency\nstructured: true", "likelihood: reads no answer"},
			{"name: fluency", "name: fluency\nanswer: {kind: number}", "likelihood: reads no answer"},
			{"name: fluency", "name: fluency\nsampling: {max_tokens: 3}", "judge.yaml:2: sampling: a likelihood samples nothing"},
		},
		completions: {
			{"turns: ", "x: ", "judge.yaml:4: unknown field"},
			{`turns: [{prompt: "{out}"}]`, "", "judge.yaml: turns: are missing"},
			{`{prompt: "{out}"}`, `{prompt: "{out}"}, {prompt: "{out}"}`, "judge.yaml:4: turns: the judge may use completions"},
			{`{prompt: "{out}"}`, `{prompt: ""}`, "judge.yaml:4: turns[0].prompt: is missing"},
			{"name: fluency", "name: fluency\nexamples: [{hypothesis: a, answer: b}]", "turns: the judge may use completions"},
		},
	} {
		_, err := parse(text)
		require.NoError(t, err)
		for _, c := range faults {
			changed := strings.Replace(text, c.old, c.new, 1)
			if _, err := parse(changed); changed == text || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q instead of %q:\n got %v\nwant %s", c.new, c.old, err, c.want)
			}
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for _, c := range []struct {
		judge   string
		options map[string]string
		want    string
	}{
		{"instructscore", nil, `option "task" is needed: one of mt_zh-en, `},
		{"instructscore", map[string]string{"task": "mt_zh_en"}, `did you mean "mt_zh-en"?`},
		{"instructscore", map[string]string{"taks": "mt_zh-en"}, `did you mean "task"?`},
		{"gemba-da", map[string]string{"sl": "Chinese"}, `option "tl" is needed: target language`},
		{"gemba-da", map[string]string{"sl": "a", "tl": "b", "reference": "maybe"}, `unknown value for reference "maybe"`},
		{"tigerscore", map[string]string{"task": "translation", "size": "70B"}, `unknown value for size "70B"`},
	} {
		d, err := Find(c.judge)
		require.NoError(t, err)
		_, err = d.Resolve(c.options)
		assert.ErrorContains(t, err, c.want, "%s %v", c.judge, c.options)
	}
}

// The hash changes with everything that changes what is sent or read, and with nothing
// else.
func TestHash(t *testing.T) {
	hash := func(text string, options map[string]string) string {
		t.Helper()
		d, err := parse(text)
		require.NoError(t, err)
		r, err := d.Resolve(options)
		require.NoError(t, err)
		return r.Hash()
	}
	first := hash(small, nil)
	for _, same := range []struct{ old, new string }{
		{"adequacy from 1 to 10", "another summary"},
		{"what the texts are about", "another doc"},
		{"name: adequacy\n", "name: adequacy\nmodel: m\n"},
		{`"{src} => {out}"`, "|-\n      {src} => {out}"},
	} {
		if hash(strings.Replace(small, same.old, same.new, 1), nil) != first {
			t.Errorf("%q instead of %q changes the hash", same.new, same.old)
		}
	}
	seen := map[string]string{first: ""}
	for _, other := range []struct{ old, new string }{
		{"name: adequacy", "name: fluency"},
		{"=>", "->"},
		{"max_tokens: 8", "max_tokens: 9"},
		{"max_tokens: 8", "max_tokens: 8, temperature: 1"},
		{"max_tokens: 8", "max_tokens: 8, stop: [x]"},
		{"max_tokens: 8", "max_tokens: 8, extra: {x: 1}"},
		{"upper: 10", "upper: 11"},
		{"Judge {topic}.", "Judge."},
		{"turns:", "trim: true\nturns:"},
		{"turns:", "direction: lower\nturns:"},
		{"turns:", "examples: [{hypothesis: x, answer: '1'}]\nturns:"},
		{"turns:", "examples: [{hypothesis: x, answer: '1', set: {topic: sport}}]\nturns:"},
		{"answer:", "  - prompt: '{answer}'\nanswer:"},
		{"answer:", "  - {prompt: '{answer}', fresh: true}\nanswer:"},
		{"answer:", "    errors: {kind: gemba}\n  - prompt: '{answer}'\nanswer:"},
	} {
		h := hash(strings.Replace(small, other.old, other.new, 1), nil)
		with, ok := seen[h]
		assert.False(t, ok, "%q and %q give the same hash", other.new, with)
		seen[h] = other.new
	}
	assert.NotEqual(t, first, hash(small, map[string]string{"topic": "sport"}), "an option in the prompt does not change the hash")
}
