package diversify

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
)

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
	read, err := yamlfile.Read(path, f)
	if err != nil {
		return nil, err
	}
	var file struct {
		Language string   `yaml:"language"`
		Prompts  []Prompt `yaml:"prompts"`
	}
	const purpose = "have a list under prompts:, each with a name and a text"
	if err := read.Decode(&file, purpose); err != nil {
		return nil, err
	}
	if len(file.Prompts) == 0 {
		return nil, fmt.Errorf("%s: the file has no prompts; it should %s", path, purpose)
	}
	const known = "en" // a language, instead of none
	if _, err := languageOf(cmp.Or(file.Language, known)); err != nil {
		return nil, read.At(yamlfile.Wrong("language", "%w", err))
	}
	for i := range file.Prompts {
		p := &file.Prompts[i]
		p.Text, p.Language = strings.TrimRight(p.Text, "\r\n"), cmp.Or(p.Language, file.Language)
		field, err := "name", p.checkName()
		if _, wrong := languageOf(cmp.Or(p.Language, known)); err == nil && wrong != nil {
			field, err = "language", wrong
		}
		if err == nil {
			field, err = "text", cmp.Or(p.checkTemplate(), unlike(*p, file.Prompts[:i]))
		}
		if err != nil {
			return nil, read.At(yamlfile.Wrong(fmt.Sprintf("prompts[%d].%s", i, field), "%w", err))
		}
	}
	return file.Prompts, nil
}

// checkName checks that variants of the prompt can be told apart from those of others.
func (p *Prompt) checkName() error {
	switch {
	case p.Name == "":
		return errors.New("the prompt has no name")
	case strings.ContainsFunc(p.Name, notInNames):
		return fmt.Errorf("prompt %q: a name is made of letters, digits, \"-\", \"_\" and \".\"", p.Name)
	case builtIn(p.Name) != nil:
		return fmt.Errorf("prompt %q has the name of a built-in prompt: variants of the two could not be told apart", p.Name)
	}
	return nil
}

// notInNames reports whether a character must not be in a name, because it has a meaning in
// --prompts or would be confusing in a table.
func notInNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.", r)
}

// holds matches what may be a placeholder: a word in braces.
var holds = regexp.MustCompile(`\{[a-zA-Z_]+\}`)

// checkTemplate checks that a template has {reference} or {source} and no misspelt
// placeholder, which would be a single word in braces.
func (p *Prompt) checkTemplate() error {
	if strings.TrimSpace(p.Text) == "" {
		return fmt.Errorf("prompt %q has no text", p.Name)
	}
	known := []string{holdReference, holdSource, holdLanguage}
	for _, hold := range holds.FindAllString(p.Text, -1) {
		if !slices.Contains(known, hold) {
			return fmt.Errorf("prompt %q: %s", p.Name, english.Unknown("placeholder", hold, known))
		}
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
