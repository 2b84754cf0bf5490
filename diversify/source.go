package diversify

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/refract-eval/refract/internal/yamlfile"
)

// holdLanguage is the placeholder of a template for the name of a language.
const holdLanguage = "{language}"

//go:embed source.yaml
var sourceFile []byte

// sourcePrompts reads the built-in prompts of all tasks once.
var sourcePrompts = sync.OnceValue(func() map[string][]Prompt {
	f, err := yamlfile.Read("source.yaml", bytes.NewReader(sourceFile))
	var tasks map[string][]promptEntry
	if err == nil {
		err = f.Decode(&tasks, "list prompts by task")
	}
	if err != nil { // the tests read it
		panic(fmt.Sprintf("diversify: prompts of tasks: %v", err))
	}
	out := map[string][]Prompt{}
	for task, entries := range tasks {
		for _, e := range entries {
			out[task] = append(out[task], Prompt{Name: e.Name.value, Text: e.Text.value})
		}
	}
	return out
})

// Tasks returns the tasks of the built-in prompts that make a reference of the
// source.
func Tasks() []string { return []string{"translation", "summary", "caption", "data"} }

// FromSource reports whether the prompt makes a reference of the source, and
// does not show the model one.
func (p Prompt) FromSource() bool {
	return strings.Contains(p.Text, holdSource) && !strings.Contains(p.Text, holdReference)
}

// NeedsLanguage reports whether the prompt is a template with the name of a
// language in it, which [Prompt.In] fills in.
func (p Prompt) NeedsLanguage() bool { return p.Template() && strings.Contains(p.Text, holdLanguage) }

// In fills in the name of a language, given by its code, such as "de".
func (p Prompt) In(code string) (Prompt, error) {
	tag, err := language.Parse(code)
	if err != nil {
		return p, fmt.Errorf("prompt %q: the language %q is no code such as de or pt-BR", p.Name, code)
	}
	p.Text = strings.ReplaceAll(p.Text, holdLanguage, display.English.Tags().Name(tag))
	return p, nil
}
