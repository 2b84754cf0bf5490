package command

import (
	"maps"
	"sync"

	"github.com/spf13/cobra"

	"github.com/refract-eval/refract/diversify"
	"github.com/refract-eval/refract/llm"
)

// formFlags say how a model is asked to answer.
type formFlags struct {
	form      string
	reasoning string
}

// The words of --reasoning that are no effort.
const (
	reasoningAuto = "auto"
	reasoningOff  = "off"
)

func (a *formFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.form, "form", string(diversify.FormAuto), "how answers are asked for: json, text (the paper's way), or auto, which takes stored ones of both and asks for json where the server gives it")
	oneOf(cmd, "form", string(diversify.FormAuto), string(diversify.FormText), string(diversify.FormJSON))
	f.StringVar(&a.reasoning, "reasoning", reasoningAuto, "auto leaves it to the server, off sends chat_template_kwargs, the others reasoning_effort: none, minimal, low, medium, high")
	oneOf(cmd, "reasoning", reasoningAuto, reasoningOff, "none", "minimal", "low", "medium", "high")
	grouped(cmd, modelFlags)
}

// configureForm completes the Config by what the flags say.
func (x *expander) configureForm(e *env) error {
	x.Form = diversify.Form(x.form)
	var asJSON, asText sync.Once // a judge's model may tell the same again
	x.FormFound = func(why error) {
		if why == nil {
			asJSON.Do(func() { e.note("the server gives JSON, and answers are asked for so; --form text asks for plain text") })
		} else {
			asText.Do(func() { e.note("answers are asked for as plain text, as the server gives no JSON: %v", why) })
		}
	}
	return x.reason()
}

// reason adds the field that --reasoning stands for to every request, the
// judge's too. One that --extra has stays.
func (x *expander) reason() error {
	field, value := "reasoning_effort", any(x.reasoning)
	switch {
	case x.reasoning == reasoningAuto:
		return nil
	case x.Endpoint == llm.Completions:
		return usagef("--reasoning is of --endpoint chat: a completion has no template that could say so")
	case x.reasoning == reasoningOff:
		field, value = "chat_template_kwargs", map[string]any{"enable_thinking": false}
	}
	if x.Equivalence != nil {
		x.Equivalence.Extra = map[string]any{field: value}
	}
	if _, given := x.Extra[field]; !given {
		x.Extra = maps.Clone(x.Extra)
		if x.Extra == nil {
			x.Extra = map[string]any{}
		}
		x.Extra[field] = value
	}
	return nil
}
