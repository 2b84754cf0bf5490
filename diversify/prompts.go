package diversify

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Prompt is an instruction to rewrite a text, or a template of one.
type Prompt struct {
	Name string // identifies the prompt in variants, such as "order" or "order@de"
	// Text is the instruction, up to and including its colon. If it has the
	// placeholder {reference} or {source} it is a template, in which these stand
	// for the texts of the segment. With {source} alone, the reference is made
	// of the source; see [Prompt.FromSource].
	Text     string
	Language string // that Text is written in, such as "de"; "" where it is not stated
}

// The placeholders of a template.
const (
	holdReference = "{reference}"
	holdSource    = "{source}"
)

// fullWidthColon ends an instruction in Chinese and Japanese, where no space
// follows it.
const fullWidthColon = "："

// Render returns what is sent to the model: the instruction, one space (none
// after a full-width colon) and the reference untouched, or a template with its
// placeholders replaced. What is put in their place is not looked at again,
// whatever it holds. The source matters only where NeedsSource.
func (p Prompt) Render(reference, source string) string {
	if !p.Template() {
		if strings.HasSuffix(p.Text, fullWidthColon) {
			return p.Text + reference
		}
		return p.Text + " " + reference
	}
	return strings.NewReplacer(holdReference, reference, holdSource, source).Replace(p.Text)
}

// Template reports whether the text has a placeholder for a text of the segment.
func (p Prompt) Template() bool {
	return strings.Contains(p.Text, holdReference) || strings.Contains(p.Text, holdSource)
}

// NeedsSource reports whether the prompt is a template with the source in it.
func (p Prompt) NeedsSource() bool { return p.Template() && strings.Contains(p.Text, holdSource) }

//go:embed prompts.yaml
var builtinFile []byte

// promptSet is what a word of ParsePrompts stands for.
type promptSet struct {
	Set      string        `yaml:"set"`
	Language string        `yaml:"language"`
	Prompts  []promptEntry `yaml:"prompts"`
}

func (s promptSet) prompts() (out []Prompt) {
	for _, e := range s.Prompts {
		out = append(out, Prompt{Name: e.Name.value, Text: e.Text.value, Language: s.Language})
	}
	return out
}

// builtins reads the built-in prompts once.
var builtins = sync.OnceValue(func() []promptSet {
	var file struct {
		Sets []promptSet `yaml:"sets"`
	}
	f, err := yamlfile.Read("prompts.yaml", bytes.NewReader(builtinFile))
	if err == nil {
		err = f.Decode(&file, "list prompts")
	}
	if err != nil { // the tests read it
		panic(fmt.Sprintf("diversify: built-in prompts: %v", err))
	}
	return file.Sets
})

// Prompts returns all built-in prompts: for each language the ten and the plain
// paraphrasing prompt, which Div-Ref compares the ten with (section 3.2.1), and
// behind them those that make a reference of the source.
func Prompts() (out []Prompt) {
	for _, s := range builtins() {
		out = append(out, s.prompts()...)
	}
	return out
}

// Ten returns the ten diversifying prompts of Div-Ref (section 3.2.2), in the
// paper's order. Their like in other languages, for references in these, are
// the paper's multilingual setting (section 4.3), whose texts it does not give.
func Ten() []Prompt { return builtins()[0].prompts() }

// filePrefix begins a word of ParsePrompts that names a file of templates.
const filePrefix = "file:"

// ParsePrompts reads a comma-separated list of
//
//	order, plain, …   one prompt
//	ten               all of [Ten]
//	order@de, ten@zh  the same in another language
//	translation, …    the prompts that make a translation of the source, …
//	translate, …      one of them
//	file:PATH         the templates in a file; see [ReadPrompts]
//
// The prompts are returned in the list's order. An unknown name, one that is given
// twice, an empty list and a file that cannot be read are errors. A PATH cannot
// have a comma in it.
func ParsePrompts(s string) ([]Prompt, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fmt.Errorf("no prompt is named (known: %s)", strings.Join(PromptWords(), ", "))
	}
	var out []Prompt
	for word := range strings.SplitSeq(s, ",") {
		var found []Prompt
		var err error
		word = strings.TrimSuffix(strings.TrimSpace(word), "@en")
		if path, ok := strings.CutPrefix(word, filePrefix); ok {
			found, err = ReadPrompts(path)
		} else if found = builtIn(word); found == nil {
			err = errors.New(english.Unknown("prompt", word, PromptWords()))
		}
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if slices.ContainsFunc(out, func(q Prompt) bool { return q.Name == p.Name }) {
				return nil, fmt.Errorf("prompts %q: %q is named twice", s, p.Name)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// PromptFiles returns the files that the words of [ParsePrompts] name.
func PromptFiles(s string) []string {
	var out []string
	for word := range strings.SplitSeq(s, ",") {
		if path, ok := strings.CutPrefix(strings.TrimSpace(word), filePrefix); ok {
			out = append(out, path)
		}
	}
	return out
}

// builtIn finds the prompts of a name such as "ten", "order" or "order@de".
func builtIn(name string) []Prompt {
	for _, s := range builtins() {
		if s.Set == name {
			return s.prompts()
		}
		for _, p := range s.prompts() {
			if p.Name == name {
				return []Prompt{p}
			}
		}
	}
	return nil
}

// PromptWords returns the words of ParsePrompts: the sets, the prompts in English,
// and what begins the name of a file.
func PromptWords() []string {
	var out []string
	for _, s := range builtins() {
		out = append(out, s.Set)
	}
	for _, p := range Ten() {
		out = append(out, p.Name)
	}
	return append(out, filePrefix)
}

// SetOf returns the word of ParsePrompts that stands for a built-in prompt and
// its like, such as "ten@de" for "order@de", and "file" for another prompt.
func SetOf(p Prompt) string {
	for _, s := range builtins() {
		if slices.ContainsFunc(s.Prompts, func(e promptEntry) bool { return e.Name.value == p.Name }) {
			return s.Set
		}
	}
	return "file"
}
