package diversify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

// promptFile is a file of templates.
type promptFile struct {
	Language string        `yaml:"language"`
	Prompts  []promptEntry `yaml:"prompts"`
}

type promptEntry struct {
	Name     placed `yaml:"name"`
	Text     placed `yaml:"text"`
	Language string `yaml:"language"`
}

// placed is a scalar and its line.
type placed struct {
	value string
	line  int
}

// UnmarshalYAML reads a scalar of any kind as its literal text.
func (p *placed) UnmarshalYAML(node ast.Node) error {
	p.line = node.GetToken().Position.Line
	return yaml.NodeToValue(node, &p.value)
}

// ReadPrompts reads a file of templates in YAML:
//
//	language: de            # of the texts; may be left out
//	prompts:
//	  - name: simple        # letters, digits, "-", "_" and "."
//	    text: "Schreibe die Sätze einfacher: {reference}"
//	  - name: faithful
//	    text: |
//	      Original: {source}
//	      Translation: {reference}
//	      Write another translation of the original.
//
// Every text contains {reference} or {source} or both. It may contain {language}, the
// name of the requested language; other braces are ordinary text. Line ends at the end
// of a text are dropped. The name of a built-in prompt, a repeated name or text, an
// unknown key and an unknown placeholder are errors that give the file and the line.
func ReadPrompts(path string) ([]Prompt, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("file of prompts: %w", err)
	}
	defer f.Close()
	return readPromptFile(path, f)
}

func readPromptFile(path string, r io.Reader) ([]Prompt, error) {
	f, err := yamlfile.Read(path, r)
	if err != nil {
		return nil, err
	}
	var file promptFile
	const purpose = "have a list under prompts:, each with a name and a text"
	if err := f.Decode(&file, purpose); err != nil {
		return nil, err
	}
	if len(file.Prompts) == 0 {
		return nil, fmt.Errorf("%s: the file has no prompts; it should %s", path, purpose)
	}
	out := make([]Prompt, len(file.Prompts))
	for i, e := range file.Prompts {
		p, err := e.prompt(file.Language)
		if err == nil {
			err = unlike(p, out[:i])
		}
		if err != nil {
			if line := max(e.Name.line, e.Text.line); line > 0 {
				return nil, fmt.Errorf("%s:%d: %w", path, line, err)
			}
			return nil, fmt.Errorf("%s: prompt %d: %w", path, i+1, err)
		}
		out[i] = p
	}
	return out, nil
}

func (e promptEntry) prompt(language string) (Prompt, error) {
	p := Prompt{Name: e.Name.value, Text: strings.TrimRight(e.Text.value, "\r\n"), Language: language}
	if e.Language != "" {
		p.Language = e.Language
	}
	switch {
	case p.Name == "":
		return p, errors.New("the prompt has no name")
	case strings.ContainsFunc(p.Name, notInNames):
		return p, fmt.Errorf("prompt %q: a name is made of letters, digits, \"-\", \"_\" and \".\"", p.Name)
	case strings.TrimSpace(p.Text) == "":
		return p, fmt.Errorf("prompt %q has no text", p.Name)
	}
	if builtIn(p.Name) != nil {
		return p, fmt.Errorf("prompt %q has the name of a built-in prompt: variants of the two could not be told apart", p.Name)
	}
	return p, p.checkTemplate()
}

// notInNames reports whether a character must not be in a name, because it has a meaning in
// --prompts or would be confusing in a table.
func notInNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.", r)
}

// checkTemplate checks that a template has {reference} or {source} and no misspelt
// placeholder, which would be a single word in braces.
func (p Prompt) checkTemplate() error {
	known := []string{holdReference, holdSource, holdLanguage}
	for rest := p.Text; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		word, _, closed := strings.Cut(after, "}")
		isWord := word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
		if hold := "{" + word + "}"; closed && isWord && !slices.Contains(known, hold) {
			return fmt.Errorf("prompt %q: %s", p.Name, english.Unknown("placeholder", hold, known))
		}
		rest = after
	}
	if !p.Template() {
		return fmt.Errorf("prompt %q: the text has neither %s nor %s, so the model would see no text", p.Name, holdReference, holdSource)
	}
	return nil
}

// unlike checks that no other prompt has the same name or text. Prompts with the same text
// would share their answers.
func unlike(p Prompt, others []Prompt) error {
	for _, q := range others {
		if p.Name == q.Name {
			return fmt.Errorf("two prompts are named %q", p.Name)
		}
		if p.Text == q.Text {
			return fmt.Errorf("prompts %q and %q have the same text", q.Name, p.Name)
		}
	}
	return nil
}
