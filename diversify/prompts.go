package diversify

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// Prompt is an instruction to rewrite a text, or a template for one.
type Prompt struct {
	Name string `yaml:"name"` // identifies the prompt in variants, such as "order" or "order@de"
	// Text is the instruction, up to and including its colon. If it contains the
	// placeholder {reference} or {source}, it is a template, and the placeholders stand
	// for the texts of the segment. With only {source}, the model makes the reference
	// from the source; see [Prompt.FromSource].
	Text     string `yaml:"text"`
	Language string `yaml:"language"` // in which Text is written, such as "de"; "" if not stated
}

// The placeholders of a template.
const (
	holdReference = "{reference}"
	holdSource    = "{source}"
)

// fullWidthColon ends an instruction in Chinese and Japanese; no space follows it.
const fullWidthColon = "："

// Render returns the text for the model: the instruction, one space (none after a
// full-width colon) and the unchanged reference; or the template with its placeholders
// replaced. Placeholders inside the inserted texts are not replaced. source is used only
// if NeedsSource.
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

// NeedsSource reports whether the prompt is a template with {source}.
func (p Prompt) NeedsSource() bool { return p.Template() && strings.Contains(p.Text, holdSource) }

//go:embed prompts.yaml
var builtinFile []byte

// promptSet is the set of prompts that a word of ParsePrompts stands for.
type promptSet struct {
	Set      string   `yaml:"set"`
	Language string   `yaml:"language"`
	Prompts  []Prompt `yaml:"prompts"`
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
	if err != nil { // cannot happen: the tests read the file
		panic(fmt.Sprintf("diversify: built-in prompts: %v", err))
	}
	for _, s := range file.Sets {
		for i := range s.Prompts {
			s.Prompts[i].Language = s.Language
		}
	}
	return file.Sets
})

// Prompts returns all built-in prompts: for each language the ten and the plain
// paraphrasing prompt, with which Div-Ref compares the ten (section 3.2.1), and then
// those that make a reference from the source.
func Prompts() (out []Prompt) {
	for _, s := range builtins() {
		out = append(out, s.Prompts...)
	}
	return out
}

// Ten returns the ten diversifying prompts of Div-Ref (section 3.2.2), in the paper's
// order. The prompts in other languages correspond to the paper's multilingual setting
// (section 4.3), for which the paper gives no texts.
func Ten() []Prompt { return slices.Clone(builtins()[0].Prompts) }

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
// It returns the prompts in the list's order. An unknown or repeated name, an empty list
// and an unreadable file are errors. PATH cannot contain a comma.
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
		} else if found = builtIn(word); found == nil && strings.ContainsAny(word, "./\\") {
			err = fmt.Errorf("unknown prompt %q; a file of prompts is %s%s", word, filePrefix, word)
		} else if found == nil {
			err = english.Unknown("prompt", word, PromptWords())
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

// builtIn returns the prompts for a name such as "ten", "order" or "order@de".
func builtIn(name string) []Prompt {
	for _, s := range builtins() {
		if s.Set == name {
			return s.Prompts
		}
		for _, p := range s.Prompts {
			if p.Name == name {
				return []Prompt{p}
			}
		}
	}
	return nil
}

// PromptWords returns the words that ParsePrompts knows: the sets, the English prompts,
// and the prefix of a file's name.
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

// SetOf returns the word of ParsePrompts for the set that a built-in prompt belongs to, such
// as "ten@de" for "order@de"; "file" for other prompts.
func SetOf(p Prompt) string {
	for _, s := range builtins() {
		if slices.ContainsFunc(s.Prompts, func(q Prompt) bool { return q.Name == p.Name }) {
			return s.Set
		}
	}
	return "file"
}
