package diversify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/refract-eval/refract/cache"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// Form is how a model is asked to answer.
type Form string

const (
	// FormText sends only the prompt, as the paper does; the answer is the text.
	FormText Form = "text"
	// FormJSON also sends a system prompt and a schema; the answer is a JSON object
	// that contains the text. It cannot be had from llm.Completions.
	FormJSON Form = "json"
	// FormAuto uses stored answers of either form, preferring FormJSON. It asks for
	// other answers as FormJSON, unless a first question shows that the server cannot
	// give JSON: it refuses the question with a schema and answers it without, or twice
	// answers without JSON.
	FormAuto Form = "auto"
)

// answerSchema is the schema of FormJSON. The key of an answer includes its and jsonSystem's hash.
var answerSchema = llm.Schema{
	Name: "answer",
	JSON: `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
}

const (
	// jsonSystem is the system prompt of FormJSON.
	jsonSystem = `Answer with a JSON object that has one field, "text". It holds the text that is asked for, the text only: ` +
		`no introduction, no explanation, no note, no alternatives and no markup.`

	formParam = "form" // key of the stored parameters
	// kindJSON, after the endpoint, separates these answers in the store from those of FormText.
	kindJSON = "-json"
	// formQuestion finds out whether a server gives JSON.
	formQuestion = "Paraphrase the sentences: The river was quiet."
	// wrapping is roughly the number of tokens that the object adds to its text.
	wrapping = 8
)

// form is a Form with what its requests need.
type form struct {
	name   string // for refract.Origin
	kind   string // of endpoint, in the store
	wire   llm.Request
	params []cache.Params // by how often the token limit was enlarged
}

// formsOf returns what a Form asks for, the preferred one first: with a schema, and as text.
func formsOf(f Form, e llm.Endpoint, wire llm.Request, schema llm.Schema) (forms []form) {
	if f != FormText {
		shaped := wire
		shaped.Schema = schema
		forms = append(forms, form{name: string(FormJSON), kind: string(e) + kindJSON, wire: shaped})
	}
	if f != FormJSON {
		forms = append(forms, form{kind: string(e), wire: wire})
	}
	return forms
}

// newForms returns the forms to look up.
func (e *Expander) newForms() (forms []form, err error) {
	wire := llm.Request{Model: e.cfg.Model, Temperature: e.cfg.Temperature, TopP: e.cfg.TopP, Omit: e.cfg.Omit, Extra: e.cfg.Extra}
	forms = formsOf(e.cfg.Form, e.cfg.Endpoint, wire, answerSchema)
	for i := range forms {
		f := &forms[i]
		for room := range e.cfg.Enlarge + 1 {
			p, err := e.sampling(f.name, room)
			if err != nil {
				return nil, err
			}
			f.params = append(f.params, p)
		}
	}
	return forms, nil
}

// sampling returns the parameters of a request for the store.
func (e *Expander) sampling(form string, room int) (cache.Params, error) {
	values := map[string]any{}
	maps.Copy(values, e.cfg.Extra)
	values["temperature"], values["top_p"], values["max_tokens"] = e.cfg.Temperature, e.cfg.TopP, e.room(room)
	for _, name := range e.cfg.Omit {
		delete(values, name)
	}
	if form != "" {
		values[formParam] = fmt.Sprintf("%s:%.4x", form, sha256.Sum256([]byte(jsonSystem+answerSchema.String())))
	}
	return cache.NewParams(values)
}

// question returns the question for a prompt in a form.
func (e *Expander) question(f *form, prompt string, sample, room, expected int) ask.Question {
	request := cache.Request{
		Kind: f.kind, Model: e.cfg.Model, Revision: e.cfg.Revision, Prompt: prompt, Params: f.params[room], Sample: sample,
	}
	wire := f.wire
	wire.MaxTokens = e.room(room)
	if f.name == "" {
		wire.Prompt = prompt
	} else {
		wire.Messages = []llm.Message{{Role: "system", Content: jsonSystem}, {Role: "user", Content: prompt}}
		expected += wrapping
	}
	return ask.Question{Request: request, Key: request.Key(), Wire: wire, Chosen: e.cfg.Chosen, Expected: expected}
}

// checkForm returns an error if the Form cannot be asked for. It changes FormAuto to FormText
// if no other form is possible.
func (c *Config) checkForm() error {
	shaped := llm.SchemaField(c.Extra)
	_, named := c.Extra[formParam]
	plain := c.Endpoint == llm.Completions || shaped != "" || named
	switch {
	case c.Form == FormAuto && plain:
		c.Form = FormText
	case c.Form == FormJSON && c.Endpoint == llm.Completions:
		return fmt.Errorf("the endpoint %q gives no answers as JSON; set the form to %q", c.Endpoint, FormText)
	case c.Form == FormJSON && plain:
		return fmt.Errorf("the extra field %q is reserved for answers as JSON; leave it out, or set the form to %q", cmp.Or(shaped, formParam), FormText)
	case c.Form != FormText && c.Form != FormJSON && c.Form != FormAuto:
		return fmt.Errorf("unknown form %q; known are %q, %q and %q", c.Form, FormAuto, FormText, FormJSON)
	}
	return nil
}

// probe is the [ask.Job] of one question. The questions that find out whether the server gives
// JSON are the same for all datasets and their answers are stored, so only the first run asks
// them and all runs get the same finding.
type probe struct {
	question ask.Question
	result   ask.Result
}

// Next implements ask.Job.
func (p *probe) Next(results []ask.Result) ([]ask.Question, error) {
	if results != nil {
		p.result = results[0]
		return nil, nil
	}
	return []ask.Question{p.question}, nil
}

func (p *probe) Answered(int, ask.Result) {}

func (p *probe) At(_ int, err error) error { return err }

// probe asks a question in a form, and returns why the answer is not JSON; nil if it may be.
func (e *Expander) probe(ctx context.Context, f *form, sample int) (why, err error) {
	p := &probe{question: e.question(f, formQuestion, sample, 0, 0)}
	p.question.Client = e.cfg.Probe
	err = e.asker.Do(ctx, p)
	return noJSON(&p.result.Answer), cmp.Or(err, p.result.Err)
}

// noJSON returns an error if the answer shows that the server ignores the schema. A
// withheld, empty or cut answer shows nothing.
func noJSON(a *cache.Answer) error {
	said := strings.TrimSpace(a.Text)
	if said == "" || a.FinishReason == llm.FinishContentFilter || strings.Contains(said, "{") {
		return nil
	}
	return fmt.Errorf("the server answered %.40q", said)
}

// choose implements Choose of [ask.Config]. Without a client, or if the question failed
// for another reason, it assumes that the server gives JSON; the run then reports what is
// wrong.
func (e *Expander) choose(ctx context.Context) (asText bool, err error) {
	e.choosing.Lock()
	defer e.choosing.Unlock()
	if e.chosen {
		return e.asText, e.choiceErr
	}
	why, err := e.probe(ctx, &e.forms[0], 0)
	if why != nil && err == nil { // which may happen by chance
		why, err = e.probe(ctx, &e.forms[0], 1)
	}
	if ask.Refuses(err) {
		if _, failed := e.probe(llm.Briefly(ctx), &e.forms[1], 0); failed == nil {
			why, err = err, nil
		}
	}
	switch {
	case errors.Is(err, ErrNotStored):
		e.chosen = true
		return false, nil
	case errors.Is(err, llm.ErrInvalidRequest) || errors.Is(err, llm.ErrContextLength):
		why = nil
	case err != nil:
		if e.cfg.Probe != nil { // a call where none was expected
			err = fmt.Errorf("asking whether the server gives JSON: %w", err)
		}
		if ctx.Err() == nil { // the finding holds for all segments
			e.chosen, e.choiceErr = true, err
		}
		return false, err
	}
	e.chosen, e.asText = true, why != nil
	if e.cfg.FormFound != nil {
		e.cfg.FormFound(why)
	}
	return e.asText, nil
}

// unwrap returns an answer with the text taken out of its form. If the answer does not
// have the form, unwrap returns a result that rejects it.
func unwrap(form string, a cache.Answer) (cache.Answer, *check.Result) {
	if form == "" || !a.HasText || a.FinishReason == llm.FinishContentFilter || strings.TrimSpace(a.Text) == "" {
		return a, nil
	}
	said, err := answer.ReadText(a.Text, "text")
	_, _, ended := text.Answer(a.Text)
	switch {
	case err == nil:
		if a.Text = said; a.FinishReason == llm.FinishLength {
			a.FinishReason = "" // the limit was reached after the object
		}
		return a, nil
	case !ended:
		return a, &check.Result{Text: a.Text, HasText: true, Verdict: check.ReasonCut, Detail: "it ends within a thought, before any answer"}
	case a.FinishReason == llm.FinishLength:
		return a, &check.Result{Text: a.Text, HasText: true, Verdict: check.ReasonCut, Detail: "the token limit ended the JSON"}
	}
	return a, &check.Result{Text: a.Text, HasText: true, Verdict: NotJSON, Detail: err.Error()}
}
