package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Resolved is a Definition with its options filled in, so that only the texts of a segment
// are open. It is immutable and safe for concurrent use.
type Resolved struct {
	definition *Definition
	options    map[string]string // all options with their values
	endpoint   llm.Endpoint
	model      string
	extra      map[string]any
	answer     answer.Spec
	turns      []resolvedTurn
	likelihood *resolvedLikelihood
	examples   []example
	shown      []resolvedTurn // the prompt of each example
	hardened   bool
}

type resolvedTurn struct {
	System template     `json:"system,omitempty"`
	Prompt template     `json:"prompt"`
	Fresh  bool         `json:"fresh,omitempty"`
	Errors *answer.Spec `json:"errors,omitempty"`
}

type resolvedLikelihood struct {
	Prompt       template `json:"prompt"`
	Continuation template `json:"continuation"`
}

// Resolve fills in the options of a spec. An error names the option and the allowed values.
func (d *Definition) Resolve(options map[string]string) (*Resolved, error) {
	names := make([]string, len(d.Options))
	for i, o := range d.Options {
		names[i] = o.Name
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if !slices.Contains(names, name) {
			return nil, english.Unknown("option", name, names)
		}
	}
	r := &Resolved{
		definition: d, options: map[string]string{}, endpoint: cmp.Or(d.Endpoint, llm.Chat),
		answer: d.Answer, examples: d.Examples, extra: map[string]any{},
	}
	maps.Copy(r.extra, d.Sampling.Extra)
	variables := map[string]variable{}
	for name, text := range d.Texts {
		variables[name] = variable{text: text}
	}
	for _, o := range d.Options {
		value, given := options[o.Name]
		if !given {
			if o.Required {
				return nil, fmt.Errorf("option %q is needed: %s", o.Name, o.wants())
			}
			value = o.Default
		}
		c, err := o.choose(value)
		if err != nil {
			return nil, err
		}
		r.options[o.Name] = value
		variables[o.Name] = variable{text: value, literal: true}
		for name, text := range c.Set {
			variables[name] = variable{text: text}
		}
		maps.Copy(r.extra, c.Extra)
		r.endpoint = cmp.Or(c.Endpoint, r.endpoint)
		if c.Answer != nil {
			r.answer = *c.Answer
		}
	}
	if err := r.compile(variables); err != nil {
		return r, err
	}
	bare := *d
	bare.Examples = nil
	for i, e := range d.Examples {
		set := maps.Clone(r.options)
		maps.Copy(set, e.Set)
		its, err := bare.Resolve(set)
		if err != nil {
			return r, yamlfile.Wrong(fmt.Sprintf("examples[%d].set", i), "%w", err)
		}
		r.shown = append(r.shown, its.turns[0])
	}
	return r, nil
}

// Sample is Resolve with some value for each required option that is not given.
func (d *Definition) Sample(given map[string]string) (*Resolved, error) {
	set := map[string]string{}
	maps.Copy(set, given)
	for _, o := range d.Options {
		if _, ok := set[o.Name]; !ok && o.Required {
			set[o.Name] = append(slices.Clip(o.values()), strings.ToUpper(o.Name))[0]
		}
	}
	return d.Resolve(set)
}

// ResolveReading is Resolve for a judge whose answers are only read: options needed only
// for asking may be left out.
func (d *Definition) ResolveReading(options map[string]string) (*Resolved, error) {
	if d.Likelihood != nil {
		return nil, errors.New("it has no answers to read: its score is the likelihood of a text")
	}
	for _, o := range d.Options {
		_, given := options[o.Name]
		if !given && o.Required && slices.ContainsFunc(o.Choices, func(c choice) bool { return c.Answer != nil }) {
			return nil, fmt.Errorf("option %q says how answers are read: give one of %s", o.Name, strings.Join(o.values(), ", "))
		}
	}
	return d.Sample(options)
}

// wants describes the allowed values of an option.
func (o option) wants() string {
	if len(o.Choices) > 0 {
		return "one of " + strings.Join(o.values(), ", ")
	}
	return o.Doc
}

// values lists the allowed values, in the order of the file, with "*" for any other text;
// nil means any text.
func (o option) values() (values []string) {
	for _, c := range o.Choices {
		values = append(values, c.Value)
	}
	return values
}

// valuesHelp writes the allowed values for people: "yes|no", "chat|TEXT", and "TEXT" for
// any text.
func (o option) valuesHelp() string {
	words := slices.DeleteFunc(o.values(), func(v string) bool { return v == "" })
	if i := slices.Index(words, anyValue); i >= 0 {
		words[i] = "TEXT"
	}
	return cmp.Or(strings.Join(words, "|"), "TEXT")
}

func (o option) choose(value string) (choice, error) {
	for _, c := range o.Choices {
		if c.Value == value || c.Value == anyValue && !slices.Contains(o.values(), value) {
			return c, nil
		}
	}
	if len(o.Choices) == 0 {
		return choice{}, nil
	}
	return choice{}, english.Unknown("value for "+o.Name, value, o.values())
}

// compile fills the variables into the templates.
func (r *Resolved) compile(variables map[string]variable) error {
	d := r.definition
	var failed error
	fill := func(text, field string, args ...any) template {
		t, err := compile(text, variables)
		if err != nil && failed == nil {
			failed = yamlfile.Wrong(fmt.Sprintf(field, args...), "%w", err)
		}
		return t
	}
	model := fill(d.Model, "model")
	for i, turn := range d.Turns {
		r.turns = append(r.turns, resolvedTurn{
			fill(turn.System, "turns[%d].system", i), fill(turn.Prompt, "turns[%d].prompt", i), turn.Fresh, turn.Errors,
		})
	}
	if l := d.Likelihood; l != nil {
		r.likelihood = &resolvedLikelihood{fill(l.Prompt, "likelihood.prompt"), fill(l.Continuation, "likelihood.continuation")}
	}
	r.model = model.render(Fields{}, "", false)
	for _, p := range model {
		if p.Field != "" && failed == nil {
			failed = yamlfile.Wrong("model", "depends on {%s}; a judge has one model for all segments", p.Field)
		}
	}
	switch {
	case failed != nil:
		return failed
	case len(r.turns) == 0 && r.names(answerVar), len(r.turns) > 0 && (r.turns[0].System.names(answerVar) || r.turns[0].Prompt.names(answerVar)):
		return yamlfile.Wrong("turns[0]", "{answer} is the answer to the turn before, and this is the first")
	case !r.names(outputVar) && r.likelihood != nil:
		return yamlfile.Wrong("likelihood", "has no {out}, so that it would not depend on the hypothesis")
	case !r.names(outputVar):
		return yamlfile.Wrong("turns", "no prompt has {out}, so that the judge would not see the hypothesis")
	}
	return nil
}

// Name returns the definition's name, followed by "-hardened" if it is hardened.
func (r *Resolved) Name() string {
	if r.hardened {
		return r.definition.Name + HardenedSuffix
	}
	return r.definition.Name
}

// Spec returns Name with the options that differ from their defaults, in the order of the
// definition. It is the metric's canonical spec.
func (r *Resolved) Spec() string {
	var pairs []string
	for _, o := range r.definition.Options {
		if v := r.options[o.Name]; v != o.Default || o.Required {
			pairs = append(pairs, o.Name, v)
		}
	}
	return metrics.Canonical(r.Name(), pairs...)
}

// Option returns the value of an option, given or default.
func (r *Resolved) Option(name string) string { return r.options[name] }

// Model returns the checkpoint that was tuned for this judge, "" if any model will do.
func (r *Resolved) Model() string { return r.model }

// Endpoint returns the endpoint of all requests.
func (r *Resolved) Endpoint() llm.Endpoint { return r.endpoint }

// Turns returns the number of requests for a judgement; 0 for a likelihood.
func (r *Resolved) Turns() int { return len(r.turns) }

// IsLikelihood reports whether the judge is a likelihood, for which RenderLikelihood
// replaces Render and Parser.
func (r *Resolved) IsLikelihood() bool { return r.likelihood != nil }

// NeedsSource reports whether a prompt contains the source.
func (r *Resolved) NeedsSource() bool { return r.names(sourceVar) }

// NeedsReference reports whether a prompt contains the reference. Otherwise the judge is
// asked once for each hypothesis.
func (r *Resolved) NeedsReference() bool { return r.names(referenceVar) }

func (r *Resolved) names(field string) bool {
	return r.likelihood != nil && (r.likelihood.Prompt.names(field) || r.likelihood.Continuation.names(field)) ||
		slices.ContainsFunc(r.turns, func(t resolvedTurn) bool { return t.System.names(field) || t.Prompt.names(field) })
}

// Answer says how to read the answer to the last turn.
func (r *Resolved) Answer() answer.Spec { return r.answer }

// Parser returns the parser of answers to the last turn.
func (r *Resolved) Parser() (answer.Parser, error) { return answer.New(r.answer) }

// Hardened returns the hardened form, in which texts are fenced: another metric with its
// own name and Hash. A likelihood has none, because it reads no answer that a text could
// forge.
func (r *Resolved) Hardened() (*Resolved, error) {
	if r.likelihood != nil {
		return nil, fmt.Errorf("%s has no hardened form: it reads no answer", r.Name())
	}
	h := *r
	h.hardened = true
	return &h, nil
}
