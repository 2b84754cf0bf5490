package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/redact"
	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/metrics/analysis"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// judgeName matches valid names of metrics: no characters with a meaning in specs,
// signatures or tables.
var judgeName = regexp.MustCompile(`^[a-z][a-z0-9]*([-_.][a-z0-9]+)*$`)

// maxSamples bounds the answers that are combined into a score, and maxAnswer the tokens of one.
const (
	maxSamples = 100
	maxAnswer  = 1 << 20
)

func (d *Definition) check() error {
	switch {
	case !judgeName.MatchString(d.Name):
		return yamlfile.Wrong("name", "%q is not a valid name: want lower-case letters and digits, with \"-\", \"_\" or \".\" between them", d.Name)
	case strings.HasSuffix(d.Name, HardenedSuffix):
		return yamlfile.Wrong("name", "%q ends in %q, which the hardened form of a judge adds", d.Name, HardenedSuffix)
	case strings.ContainsAny(d.Summary, "\r\n"):
		return yamlfile.Wrong("summary", "is longer than a line")
	case d.Direction != "" && d.Direction != "higher" && d.Direction != "lower":
		return yamlfile.Wrong("direction", "%q is neither \"higher\" nor \"lower\"", d.Direction)
	}
	for _, check := range []func() error{d.checkOptions, d.checkNames, d.checkTurns, d.checkSampling, d.checkAnswers, d.checkTemplates} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Definition) checkOptions() error {
	for i, o := range d.Options {
		field, seen := fmt.Sprintf("options[%d]", i), map[string]bool{}
		if isCommonOption(o.Name) {
			return yamlfile.Wrong(field+".name", "every judge already has an option %q", o.Name)
		}
		if o.Doc == "" {
			return yamlfile.Wrong(field+".doc", "is missing: say what option %q does", o.Name)
		}
		for j, c := range o.Choices {
			at := fmt.Sprintf("%s.choices[%d]", field, j)
			if seen[c.Value] {
				return yamlfile.Wrong(at, "the value %q occurs twice", c.Value)
			}
			seen[c.Value] = true
			if err := cmp.Or(checkEndpoint(at+".endpoint", c.Endpoint), checkExtra(at+".extra", c.Extra)); err != nil {
				return err
			}
		}
		switch {
		case o.Required && o.Default != "":
			return yamlfile.Wrong(field+".default", "a required option has no default")
		case len(o.Choices) > 0 && !o.Required && !seen[o.Default] && !seen[anyValue]:
			return yamlfile.Wrong(field+".default", "%q is none of the values", o.Default)
		}
	}
	return nil
}

// checkNames checks that each variable has a valid name, and that no text and option
// have the same one.
func (d *Definition) checkNames() error {
	names := slices.Sorted(maps.Keys(d.Texts))
	for _, o := range d.Options {
		names = append(names, o.Name)
	}
	for i, name := range names {
		if !nameForm.MatchString(name) || isField(name) || slices.Contains(names[:i], name) {
			return yamlfile.Wrong("options", "%q cannot be the name of a text or an option: a lower-case letter, then lower-case letters, digits and \"_\"; none of src, ref, out and answer; and each once", name)
		}
	}
	for i, o := range d.Options {
		for j, c := range o.Choices {
			for name := range c.Set {
				if !nameForm.MatchString(name) || isField(name) || slices.Contains(names, name) {
					return yamlfile.Wrong(fmt.Sprintf("options[%d].choices[%d].set.%s", i, j, name), "%q is not a valid name for a variable, or is set elsewhere too", name)
				}
			}
		}
	}
	return nil
}

func checkEndpoint(field string, e llm.Endpoint) error {
	if e == "" || slices.Contains(llm.Endpoints, e) {
		return nil
	}
	return yamlfile.Wrong(field, "%q is none of %q", e, llm.Endpoints)
}

// checkExtra checks that further fields of a request can be sent as JSON.
func checkExtra(field string, extra map[string]any) error {
	if _, err := json.Marshal(extra); err != nil {
		return yamlfile.Wrong(field, "cannot be sent as JSON: %v", err)
	}
	if err := redact.CheckStored(extra); err != nil {
		return yamlfile.Wrong(field, "%w", err)
	}
	if err := llm.CheckExtra(extra); err != nil {
		return yamlfile.Wrong(field, "%w", err)
	}
	if name := llm.SchemaField(extra); name != "" {
		return yamlfile.Wrong(field, "sets %s; write structured: true instead, which knows the answer's schema", name)
	}
	return nil
}

func (d *Definition) checkSampling() error {
	s := d.Sampling
	switch {
	case d.Likelihood != nil && (s.MaxTokens != 0 || s.Temperature != 0 || s.Stop != nil || s.Samples > 1):
		return yamlfile.Wrong("sampling", "a likelihood samples nothing; only extra may be set")
	case !(s.Temperature >= 0 && s.Temperature <= math.MaxFloat32):
		return yamlfile.Wrong("sampling.temperature", "%v is not a number of at least 0", s.Temperature)
	case !(s.TopP > 0 && s.TopP <= 1):
		return yamlfile.Wrong("sampling.top_p", "%v is not a number above 0 and up to 1", s.TopP)
	case d.Likelihood == nil && s.MaxTokens < 1:
		return yamlfile.Wrong("sampling.max_tokens", "%d is not at least 1; a server's own limit may be as low as 16 tokens", s.MaxTokens)
	case s.Samples < 1 || s.Samples > maxSamples:
		return yamlfile.Wrong("sampling.samples", "%d is not from 1 to %d", s.Samples, maxSamples)
	case !slices.Contains(analysis.Combinations(), string(s.Combine)):
		return yamlfile.Wrong("sampling.combine", "%s", english.Unknown("combination", string(s.Combine), analysis.Combinations()))
	case slices.Contains(s.Stop, ""):
		return yamlfile.Wrong("sampling.stop", "holds an empty text")
	}
	return checkExtra("sampling.extra", s.Extra)
}

func (d *Definition) checkTurns() error {
	if err := checkEndpoint("endpoint", d.Endpoint); err != nil {
		return err
	}
	if d.Likelihood != nil {
		return d.checkLikelihood()
	}
	if len(d.Turns) == 0 {
		return yamlfile.Wrong("turns", "are missing: a judge asks at least once")
	}
	if d.mayComplete() && (len(d.Turns) > 1 || d.Turns[0].System != "" || len(d.Examples) > 0) {
		return yamlfile.Wrong("turns", "the judge may use completions, which have one turn, no system message and no examples")
	}
	for i := range d.Turns {
		if err := d.checkTurn(i); err != nil {
			return err
		}
	}
	for i, e := range d.Examples {
		if e.Hypothesis == "" || e.Answer == "" {
			return yamlfile.Wrong(fmt.Sprintf("examples[%d]", i), "needs a hypothesis and an answer")
		}
	}
	return nil
}

// mayComplete reports whether the judge asks for completions, with some options at least.
func (d *Definition) mayComplete() bool {
	return d.Endpoint == llm.Completions || slices.ContainsFunc(d.Options, func(o option) bool {
		return slices.ContainsFunc(o.Choices, func(c choice) bool { return c.Endpoint == llm.Completions })
	})
}

func (d *Definition) checkTurn(i int) error {
	t, field := d.Turns[i], fmt.Sprintf("turns[%d]", i)
	switch {
	case t.Prompt == "":
		return yamlfile.Wrong(field+".prompt", "is missing")
	case t.System != "" && i > 0 && !t.Fresh:
		return yamlfile.Wrong(field+".system", "belongs to the first turn of a conversation")
	case t.Fresh && i == 0:
		return yamlfile.Wrong(field+".fresh", "the first turn begins a conversation anyway")
	case t.Errors != nil && i == len(d.Turns)-1:
		return yamlfile.Wrong(field+".errors", "is for a turn before the last; answer says how the last answer is read")
	}
	return nil
}

func (d *Definition) checkLikelihood() error {
	switch {
	case len(d.Turns) > 0 || len(d.Examples) > 0 || d.Trim || d.Structured || !reflect.ValueOf(d.Answer).IsZero():
		return yamlfile.Wrong("likelihood", "reads no answer: it has no turns, examples, trim, structured or answer")
	case d.Endpoint != llm.Completions:
		return yamlfile.Wrong("endpoint", "must be completions: only there do servers return the prompt's log-probabilities")
	}
	for i, o := range d.Options {
		if slices.ContainsFunc(o.Choices, func(c choice) bool { return c.Answer != nil || c.Endpoint != "" }) {
			return yamlfile.Wrong(fmt.Sprintf("options[%d].choices", i), "a likelihood has one endpoint, and no answer")
		}
	}
	return nil
}

func (d *Definition) checkAnswers() error {
	if d.Likelihood != nil {
		return nil
	}
	specs := map[string]*answer.Spec{"answer": &d.Answer}
	for i, t := range d.Turns {
		specs[fmt.Sprintf("turns[%d].errors", i)] = t.Errors
	}
	for i, o := range d.Options {
		for j, c := range o.Choices {
			specs[fmt.Sprintf("options[%d].choices[%d].answer", i, j)] = c.Answer
		}
	}
	for _, field := range slices.Sorted(maps.Keys(specs)) {
		spec := specs[field]
		if spec == nil {
			continue
		}
		if _, err := answer.New(*spec); err != nil {
			return yamlfile.Wrong(field, "%w", err)
		}
		if d.Structured && !strings.HasPrefix(field, "turns") && spec.Schema() == nil {
			return yamlfile.Wrong("structured", "the kind %q has no JSON schema", spec.Kind)
		}
	}
	return nil
}

// checkTemplates checks that every choice of an option gives prompts: all variables are
// known, none contains itself, and the judge sees the hypothesis. It checks each choice,
// but not all combinations.
func (d *Definition) checkTemplates() error {
	_, err := d.Sample(nil)
	for i, o := range d.Options {
		for j, c := range o.Choices {
			if _, wrong := d.Sample(map[string]string{o.Name: c.Value}); wrong != nil && err == nil {
				err = yamlfile.Wrong(fmt.Sprintf("options[%d].choices[%d]", i, j), "%w", wrong)
			}
		}
	}
	return err
}
