package judge

import (
	"cmp"
	"io"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/analysis"
)

// Definition is a judge as data: what is sent to a model, and how its answer
// is read. The built-in judges and those of users are files of the same form,
// which docs/reference/judges.md describes.
//
// All texts marked as templates may hold variables in braces: {src}, {ref}
// and {out} (the source, the reference and the hypothesis), the names of
// options, and those that Texts and Choices set. {answer} is the answer to the
// turn before, without the white space around it. "{{" and "}}" are literal braces.
type Definition struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary"` // one line of help
	Source  string `yaml:"source"`  // who published the judge
	// Endpoint is llm.Chat where it is "".
	Endpoint llm.Endpoint `yaml:"endpoint"`
	// Model is a template for the checkpoint that was tuned for this judge,
	// "" where any model will do. It holds no texts of a segment.
	Model   string   `yaml:"model"`
	Options []option `yaml:"options"`
	// Texts are templates that others name.
	Texts    map[string]string `yaml:"texts"`
	Sampling sampling          `yaml:"sampling"`
	// Turns make one conversation, but for those that are Fresh: a turn follows
	// the answer to the one before. The answer to the last is read. Completions
	// have one turn.
	Turns []turn `yaml:"turns"`
	// Examples stand before the first turn, as turns of their own.
	Examples []example `yaml:"examples"`
	// Trim strips newlines and spaces off both ends of a filled prompt.
	Trim bool `yaml:"trim"`
	// Structured asks the server to keep to the answer's JSON schema in the
	// last turn. The hardened form does so wherever there is a schema.
	Structured bool        `yaml:"structured"`
	Answer     answer.Spec `yaml:"answer"`
	// Likelihood stands in place of Turns and Answer.
	Likelihood *likelihood `yaml:"likelihood"`
	// Direction is "higher" (or "") where higher scores are better, else
	// "lower".
	Direction string `yaml:"direction"`

	yaml string // the file
}

// YAML is the file that the definition was read from.
func (d *Definition) YAML() string { return d.yaml }

// option is what a spec such as "gemba-da:sl=Chinese" may set. Its value is
// literal text wherever a template names it.
type option struct {
	Name     string `yaml:"name"`
	Doc      string `yaml:"doc"`
	Default  string `yaml:"default"`
	Required bool   `yaml:"required"`
	// Choices are all that the option may be, and say what follows from each; any
	// text where there are none.
	Choices []choice `yaml:"choices"`
}

// choice is one value of an Option and what follows from it.
type choice struct {
	Value string            `yaml:"value"` // anyValue, "*": any that has no choice of its own
	Set   map[string]string `yaml:"set"`   // templates
	Extra map[string]any    `yaml:"extra"` // further fields of the request
	// Endpoint and Answer, where they are set, stand in place of the
	// definition's.
	Endpoint llm.Endpoint `yaml:"endpoint"`
	Answer   *answer.Spec `yaml:"answer"`
}

// anyValue is the value of a Choice for all values that have none.
const anyValue = "*"

// HardenedSuffix ends the name of a hardened judge.
const HardenedSuffix = "-hardened"

// sampling says how a model is to answer.
type sampling struct {
	Temperature float64 `yaml:"temperature"` // 0 is greedy
	// TopP is in (0, 1], 1 where the file states none.
	TopP float64 `yaml:"top_p"`
	// Samples is how many answers a score is combined of, 1 where the file states
	// none, and Combine how, the mean where it does not.
	Samples int                  `yaml:"samples" json:"-"`
	Combine analysis.Combination `yaml:"combine" json:"-"`
	// MaxTokens bounds the answer to each turn.
	MaxTokens int      `yaml:"max_tokens"`
	Stop      []string `yaml:"stop"`
	// Extra are further fields of the request's body.
	Extra map[string]any `yaml:"extra"`
}

// turn is what is said to the model at once. System and Prompt are templates;
// System is of chat, and of the first turn of a conversation.
type turn struct {
	System string `yaml:"system"`
	Prompt string `yaml:"prompt"`
	// Fresh begins a new conversation: the model sees of the earlier turns what
	// the prompt repeats as {answer}.
	Fresh bool `yaml:"fresh"`
	// Errors says how the answer to this turn is read, one before the last: its
	// errors are those of the report. It states no score.
	Errors *answer.Spec `yaml:"errors"`
}

// example is one judgement that a model is shown before it is asked: texts
// and the answer that it should have given.
type example struct {
	Source     string `yaml:"source"`
	Reference  string `yaml:"reference"`
	Hypothesis string `yaml:"hypothesis"`
	Answer     string `yaml:"answer"`
	// Set are values that options have in this example's prompt.
	Set map[string]string `yaml:"set" json:",omitempty"`
}

// likelihood scores a text by the mean log-probability of the tokens of
// Continuation after Prompt. Both are templates.
type likelihood struct {
	Prompt       string `yaml:"prompt"`
	Continuation string `yaml:"continuation"`
}

// Fields are the texts that fill a prompt.
type Fields struct{ Source, Reference, Hypothesis string }

// parseDefinition reads a definition in YAML. It is strict: an unknown field,
// a variable that nothing sets, and whatever could not be sent or read later
// are errors, which say the file, the line and the field. name is the file's
// name in errors.
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
