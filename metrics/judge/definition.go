package judge

import (
	"cmp"
	"io"

	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Definition is a judge as data: what is sent to a model, and how its answer is read. The
// built-in judges and those of users are files of the same form, described in
// docs/reference/judges.md.
//
// All texts marked as templates may hold variables in braces: {src}, {ref} and {out} (the
// source, the reference and the hypothesis), the names of options, and the names set by
// Texts and Choices. {answer} is the previous turn's answer, without surrounding white
// space. "{{" and "}}" are literal braces.
type Definition struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary"` // one line of help
	Source  string `yaml:"source"`  // who published the judge
	// Endpoint is llm.Chat if it is "".
	Endpoint llm.Endpoint `yaml:"endpoint"`
	// Model is a template for the checkpoint that was tuned for this judge; "" means that any
	// model will do. It contains no texts of a segment.
	Model   string   `yaml:"model"`
	Options []option `yaml:"options"`
	// Texts are templates that other templates can name.
	Texts    map[string]string `yaml:"texts"`
	Sampling sampling          `yaml:"sampling"`
	// Turns form one conversation: each follows the answer to the one before, unless it is
	// Fresh. The answer to the last is read. Completions have one turn.
	Turns []turn `yaml:"turns"`
	// Examples precede the first turn, each as a turn.
	Examples []example `yaml:"examples"`
	// Trim removes newlines and spaces at both ends of a filled prompt.
	Trim bool `yaml:"trim"`
	// Structured asks the server to follow the answer's JSON schema in the last turn. The
	// hardened form always does so if there is a schema.
	Structured bool        `yaml:"structured"`
	Answer     answer.Spec `yaml:"answer"`
	// Likelihood replaces Turns and Answer.
	Likelihood *likelihood `yaml:"likelihood"`
	// Direction is "higher" (or "") if higher scores are better, else "lower".
	Direction string `yaml:"direction"`

	yaml string // the file
}

// YAML is the file that the definition was read from.
func (d *Definition) YAML() string { return d.yaml }

// option is a setting of a spec, such as sl in "gemba-da:sl=Chinese". Templates that name
// it get its value as literal text.
type option struct {
	Name     string `yaml:"name"`
	Doc      string `yaml:"doc"`
	Default  string `yaml:"default"`
	Required bool   `yaml:"required"`
	// Choices are the allowed values, and what follows from each; without choices, any text is
	// allowed.
	Choices []choice `yaml:"choices"`
}

// choice is one value of an option and what follows from it.
type choice struct {
	Value string            `yaml:"value"` // anyValue, "*", stands for all values without their own choice
	Set   map[string]string `yaml:"set"`   // templates
	Extra map[string]any    `yaml:"extra"` // more fields of the request
	// Endpoint and Answer, if set, replace the definition's.
	Endpoint llm.Endpoint `yaml:"endpoint"`
	Answer   *answer.Spec `yaml:"answer"`
}

// anyValue is the value of a choice for all values without their own choice.
const anyValue = "*"

// HardenedSuffix ends the name of a hardened judge.
const HardenedSuffix = "-hardened"

// sampling says how a model is to answer.
type sampling struct {
	Temperature float64 `yaml:"temperature"` // 0 is greedy
	// TopP is in (0, 1]; 1 if the file does not set it.
	TopP float64 `yaml:"top_p"`
	// Samples is the number of answers combined into a score, 1 by default; Combine says how,
	// by default as the mean.
	Samples int                  `yaml:"samples" json:"-"`
	Combine analysis.Combination `yaml:"combine" json:"-"`
	// MaxTokens bounds the answer to each turn.
	MaxTokens int      `yaml:"max_tokens"`
	Stop      []string `yaml:"stop"`
	// Extra holds more fields of the request's body.
	Extra map[string]any `yaml:"extra"`
}

// turn is one message to the model. System and Prompt are templates. System is only for
// chat, and only in the first turn of a conversation.
type turn struct {
	System string `yaml:"system"`
	Prompt string `yaml:"prompt"`
	// Fresh begins a new conversation: of the earlier turns, the model sees only what the
	// prompt repeats as {answer}.
	Fresh bool `yaml:"fresh"`
	// Errors says how to read errors from the answer to this turn, which is not the last. They
	// join the report; the score comes from the last turn.
	Errors *answer.Spec `yaml:"errors"`
}

// example is a judgement shown to the model before the question: texts, and the answer it
// should have given.
type example struct {
	Source     string `yaml:"source"`
	Reference  string `yaml:"reference"`
	Hypothesis string `yaml:"hypothesis"`
	Answer     string `yaml:"answer"`
	// Set gives the values of options in this example's prompt.
	Set map[string]string `yaml:"set" json:",omitempty"`
}

// likelihood scores a text by the mean log-probability of the tokens of Continuation, given
// Prompt. Both are templates.
type likelihood struct {
	Prompt       string `yaml:"prompt"`
	Continuation string `yaml:"continuation"`
}

// Fields are the texts that fill a prompt.
type Fields = analysis.Texts

// parseDefinition reads a definition in YAML. It is strict: unknown fields, variables that
// nothing sets, and anything that could not be sent or read later are errors that say the
// file, the line and the field. name is the file's name in errors.
func parseDefinition(name string, r io.Reader) (*Definition, error) {
	f, err := yamlfile.Read(name, r)
	if err != nil {
		return nil, err
	}
	d := &Definition{yaml: f.Text()}
	if err := f.Decode(d, "define a judge"); err != nil {
		return nil, err
	}
	if d.Sampling.TopP == 0 {
		d.Sampling.TopP = 1
	}
	d.Sampling.Samples = cmp.Or(d.Sampling.Samples, 1)
	d.Sampling.Combine = cmp.Or(d.Sampling.Combine, analysis.Mean)
	if err := d.check(); err != nil {
		return nil, f.At(err)
	}
	return d, nil
}
