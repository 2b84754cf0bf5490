package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/answer"
	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/analysis"
)

// judgeName is what a metric may be called: nothing that a spec, a signature
// or a table gives a meaning.
var judgeName = regexp.MustCompile(`^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$`)

func (d *Definition) check() error {
	switch {
	case !judgeName.MatchString(d.Name):
		return yamlfile.Wrong("name", "%q is no name for a metric: lower-case letters, digits, and \"-\", \"_\" or \".\" between them", d.Name)
	case strings.HasSuffix(d.Name, HardenedSuffix):
		return yamlfile.Wrong("name", "%q ends in %q, which the hardened form of a judge adds", d.Name, HardenedSuffix)
	case strings.ContainsAny(d.Summary, "\r\n"):
		return yamlfile.Wrong("summary", "is longer than a line")
	case d.Direction != "" && d.Direction != "higher" && d.Direction != "lower":
		return yamlfile.Wrong("direction", "%q is neither \"higher\" nor \"lower\"", d.Direction)
	}
	for _, check := range []func() error{d.checkOptions, d.checkTurns, d.checkSampling, d.checkAnswer, d.checkTemplates} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// maxSamples bounds the answers that a score is combined of.
const maxSamples = 100

func checkEndpoint(field string, e llm.Endpoint) error {
	switch e {
	case "", llm.Chat, llm.Completions:
		return nil
	}
	return yamlfile.Wrong(field, "%q is neither %q nor %q", e, llm.Chat, llm.Completions)
}

func (d *Definition) checkSampling() error {
	s := d.Sampling
	switch {
	case !(s.Temperature >= 0 && s.Temperature <= math.MaxFloat32):
		return yamlfile.Wrong("sampling.temperature", "%v is not a number of at least 0", s.Temperature)
	case !(s.TopP > 0 && s.TopP <= 1):
		return yamlfile.Wrong("sampling.top_p", "%v is not a number above 0 and up to 1", s.TopP)
	case d.Likelihood == nil && s.MaxTokens < 1:
		return yamlfile.Wrong("sampling.max_tokens", "%d is not at least 1; a server's own limit may be as low as 16 tokens", s.MaxTokens)
	case d.Likelihood != nil && (s.MaxTokens != 0 || s.Temperature != 0 || s.Stop != nil):
		return yamlfile.Wrong("sampling", "a likelihood samples nothing; only extra may be set")
	case s.Samples < 1 || s.Samples > maxSamples || d.Likelihood != nil && s.Samples > 1:
		return yamlfile.Wrong("sampling.samples", "%d is not from 1 to %d, and a likelihood has one", s.Samples, maxSamples)
	case !slices.Contains(analysis.Combinations(), string(s.Combine)):
		return yamlfile.Wrong("sampling.combine", "%s", suggest.Unknown("combination", string(s.Combine), analysis.Combinations()))
	case slices.Contains(s.Stop, ""):
		return yamlfile.Wrong("sampling.stop", "holds an empty text")
	}
	return checkExtra("sampling.extra", s.Extra)
}

// checkExtra checks that further fields of a request can be sent as JSON.
func checkExtra(field string, extra map[string]any) error {
	if _, err := json.Marshal(extra); err != nil {
		return yamlfile.Wrong(field, "cannot be sent as JSON: %v", err)
	}
	if err := llm.CheckExtra(extra); err != nil {
		return yamlfile.Wrong(field, "%w", err)
	}
	if _, ok := extra["response_format"]; ok {
		return yamlfile.Wrong(field, "sets response_format; write structured: true instead, which knows the answer's schema")
	}
	return nil
}

func (d *Definition) checkTurns() error {
	if err := checkEndpoint("endpoint", d.Endpoint); err != nil {
		return err
	}
	switch {
	case d.Likelihood != nil && len(d.Turns) > 0:
		return yamlfile.Wrong("likelihood", "stands beside turns; a judge has one of the two")
	case d.Likelihood == nil && len(d.Turns) == 0:
		return yamlfile.Wrong("turns", "are missing: a judge asks at least once")
	case d.Likelihood != nil && len(d.endpoints()) > 1:
		return yamlfile.Wrong("likelihood", "has one endpoint, completions")
	case d.Likelihood != nil && d.Endpoint != llm.Completions:
		return yamlfile.Wrong("endpoint", "must be completions: only there do servers return the prompt's log-probabilities")
	case d.Likelihood != nil && d.Trim:
		return yamlfile.Wrong("trim", "has no meaning for a likelihood")
	}
	completions := slices.Contains(d.endpoints(), llm.Completions)
	for i, t := range d.Turns {
		switch {
		case t.Prompt == "":
			return yamlfile.Wrong(fmt.Sprintf("turns[%d].prompt", i), "is missing")
		case i > 0 && completions:
			return yamlfile.Wrong(fmt.Sprintf("turns[%d]", i), "is a second turn, which completions do not have")
		case t.System != "" && completions:
			return yamlfile.Wrong(fmt.Sprintf("turns[%d].system", i), "is a message of chat, and the judge may use completions")
		case t.System != "" && i > 0 && !t.Fresh:
			return yamlfile.Wrong(fmt.Sprintf("turns[%d].system", i), "belongs to the first turn of a conversation")
		case t.Fresh && i == 0:
			return yamlfile.Wrong("turns[0].fresh", "the first turn begins a conversation anyway")
		case t.Errors != nil && i == len(d.Turns)-1:
			return yamlfile.Wrong(fmt.Sprintf("turns[%d].errors", i), "is for a turn before the last; answer says how the last answer is read")
		}
	}
	for i, e := range d.Examples {
		if e.Hypothesis == "" || e.Answer == "" {
			return yamlfile.Wrong(fmt.Sprintf("examples[%d]", i), "needs a hypothesis and an answer")
		}
	}
	if takes := d.takesExamples(); takes != "" && (completions || len(d.Turns) == 0 || takes != "examples" && len(d.Turns) > 1) {
		return yamlfile.Wrong(takes, "examples are messages of a chat, and those of a file of one with one turn")
	}
	return nil
}

// takesExamples is the field that lets examples in, "" where there is none.
func (d *Definition) takesExamples() string {
	for i, o := range d.Options {
		if o.Examples {
			return fmt.Sprintf("options[%d].examples", i)
		}
	}
	if len(d.Examples) > 0 {
		return "examples"
	}
	return ""
}

// endpoints are those that the definition and its choices name.
func (d *Definition) endpoints() []llm.Endpoint {
	found := []llm.Endpoint{d.Endpoint}
	if d.Endpoint == "" {
		found[0] = llm.Chat
	}
	for _, o := range d.Options {
		for _, c := range o.Choices {
			if c.Endpoint != "" && !slices.Contains(found, c.Endpoint) {
				found = append(found, c.Endpoint)
			}
		}
	}
	return found
}

func (d *Definition) checkOptions() error {
	for i, o := range d.Options {
		if err := o.check(fmt.Sprintf("options[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (o Option) check(field string) error {
	values := o.AllValues()
	switch {
	case isCommonOption(o.Name):
		return yamlfile.Wrong(field+".name", "every judge has an option %q of its own", o.Name)
	case o.Doc == "":
		return yamlfile.Wrong(field+".doc", "is missing: say what option %q does", o.Name)
	case o.Required && o.Default != "":
		return yamlfile.Wrong(field+".default", "a required option has no default")
	case len(o.Values) > 0 && len(o.Choices) > 0:
		return yamlfile.Wrong(field+".values", "stand beside choices, which name the values")
	case o.Examples && (len(values) > 0 || o.Required):
		return yamlfile.Wrong(field+".examples", "an option for a file of examples is neither required nor has it values")
	}
	seen := map[string]bool{}
	for i, v := range values {
		if seen[v] {
			return yamlfile.Wrong(field, "the value %q is there twice", v)
		}
		seen[v] = true
		if v == anyValue && len(o.Choices) == 0 {
			return yamlfile.Wrong(fmt.Sprintf("%s.values[%d]", field, i), "%q is a value of choices", v)
		}
	}
	if len(values) > 0 && !o.Required && !seen[o.Default] && !seen[anyValue] {
		return yamlfile.Wrong(field+".default", "%q is none of the values", o.Default)
	}
	for i, c := range o.Choices {
		at := fmt.Sprintf("%s.choices[%d]", field, i)
		if err := checkEndpoint(at+".endpoint", c.Endpoint); err != nil {
			return err
		}
		if err := checkExtra(at+".extra", c.Extra); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(o.Choices[0].Set)) {
			if _, ok := c.Set[name]; !ok {
				return yamlfile.Wrong(at, "does not set {%s}, as the first choice does; each choice sets the same names", name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c.Set)) {
			if _, ok := o.Choices[0].Set[name]; !ok {
				return yamlfile.Wrong(at+".set."+name, "the first choice does not set {%s}; each choice sets the same names", name)
			}
		}
	}
	return nil
}

func (d *Definition) checkAnswer() error {
	specs := map[string]answer.Spec{}
	if d.Likelihood == nil {
		specs["answer"] = d.Answer
	} else if !reflect.ValueOf(d.Answer).IsZero() {
		return yamlfile.Wrong("answer", "stands beside likelihood, which reads none")
	}
	for i, t := range d.Turns {
		if t.Errors != nil {
			specs[fmt.Sprintf("turns[%d].errors", i)] = *t.Errors
		}
	}
	for i, o := range d.Options {
		for j, c := range o.Choices {
			if c.Answer == nil {
				continue
			}
			field := fmt.Sprintf("options[%d].choices[%d].answer", i, j)
			if d.Likelihood != nil {
				return yamlfile.Wrong(field, "stands beside likelihood, which reads none")
			}
			specs[field] = *c.Answer
		}
	}
	for _, field := range slices.Sorted(maps.Keys(specs)) {
		spec := specs[field]
		if _, err := answer.New(spec); err != nil {
			return yamlfile.Wrong(field, "%w", err)
		}
		if d.Structured && !strings.HasPrefix(field, "turns") && spec.Schema() == nil {
			return yamlfile.Wrong("structured", "the kind %q has no JSON schema", spec.Kind)
		}
	}
	if d.Structured && d.Likelihood != nil {
		return yamlfile.Wrong("structured", "a likelihood reads no answer")
	}
	return nil
}

// placedTemplate is a template and its field. Where it is the text of a
// variable, setter is what sets that: a field, or an option for all its choices.
type placedTemplate struct{ field, text, variable, setter string }

// templates are all of the definition, in the order of the file.
func (d *Definition) templates() []placedTemplate {
	all := []placedTemplate{{field: "model", text: d.Model}}
	for _, name := range slices.Sorted(maps.Keys(d.Texts)) {
		all = append(all, placedTemplate{"texts." + name, d.Texts[name], name, "texts"})
	}
	for i, o := range d.Options {
		for j, c := range o.Choices {
			for _, name := range slices.Sorted(maps.Keys(c.Set)) {
				all = append(all, placedTemplate{fmt.Sprintf("options[%d].choices[%d].set.%s", i, j, name), c.Set[name], name, o.Name})
			}
		}
	}
	for i, t := range d.Turns {
		all = append(all,
			placedTemplate{field: fmt.Sprintf("turns[%d].system", i), text: t.System},
			placedTemplate{field: fmt.Sprintf("turns[%d].prompt", i), text: t.Prompt})
	}
	if l := d.Likelihood; l != nil {
		all = append(all,
			placedTemplate{field: "likelihood.prompt", text: l.Prompt},
			placedTemplate{field: "likelihood.continuation", text: l.Continuation})
	}
	return all
}

// checkNames checks that each variable that options and templates set has a
// valid name, and is set by one of them.
func (d *Definition) checkNames(templates []placedTemplate) error {
	fields, setters := map[string]string{}, map[string]string{} // where a name is set first, and by what
	set := func(name, field, setter string) error {
		switch {
		case !nameForm.MatchString(name):
			return yamlfile.Wrong(field, "%q is no name: a lower-case letter, then lower-case letters, digits and \"_\"", name)
		case isField(name):
			return yamlfile.Wrong(field, "{%s} is a text of the segment", name)
		case fields[name] == "":
			fields[name], setters[name] = field, setter
		case setters[name] != setter:
			return yamlfile.Wrong(field, "{%s} is set by %s already", name, fields[name])
		}
		return nil
	}
	for _, t := range templates {
		if t.variable != "" {
			if err := set(t.variable, t.field, t.setter); err != nil {
				return err
			}
		}
	}
	for i, o := range d.Options {
		field := fmt.Sprintf("options[%d].name", i)
		if err := set(o.Name, field, field); err != nil {
			return err
		}
	}
	return nil
}

// checkTemplates checks that every choice of an option gives prompts: that all
// variables are known, that none comes back to itself, and that the judge sees
// the hypothesis. It checks each choice, not all combinations of choices.
func (d *Definition) checkTemplates() error {
	templates := d.templates()
	if err := d.checkNames(templates); err != nil {
		return err
	}
	variables := map[string]variable{}
	for _, o := range d.Options {
		variables[o.Name] = variable{literal: true}
	}
	for _, t := range templates {
		if t.variable != "" {
			variables[t.variable] = variable{text: t.text}
		}
	}
	for _, t := range templates {
		if t.variable != "" {
			variables[t.variable] = variable{text: t.text} // this choice of several
		}
		if _, err := compile(t.text, variables); err != nil {
			return yamlfile.Wrong(t.field, "%w", err)
		}
	}
	for _, o := range d.Options {
		for _, value := range o.AllValues() {
			if _, err := d.Sample(map[string]string{o.Name: value}); err != nil {
				return err
			}
		}
	}
	_, err := d.Sample(nil)
	return err
}
