package diversify

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// holdLanguage is the placeholder for the name of a language.
const holdLanguage = "{language}"

// FromSource reports whether the prompt makes a reference from the source, without showing the
// model a reference.
func (p Prompt) FromSource() bool {
	return strings.Contains(p.Text, holdSource) && !strings.Contains(p.Text, holdReference)
}

// NeedsLanguage reports whether the prompt is a template with {language}, which
// [Prompt.In] fills in.
func (p Prompt) NeedsLanguage() bool { return p.Template() && strings.Contains(p.Text, holdLanguage) }

// In returns the prompt with {language} replaced by the name of the language with a code
// such as "de".
func (p Prompt) In(code string) (Prompt, error) {
	tag, err := languageOf(code)
	if err != nil {
		return p, fmt.Errorf("prompt %q: %w", p.Name, err)
	}
	p.Text = strings.ReplaceAll(p.Text, holdLanguage, display.English.Tags().Name(tag))
	return p, nil
}

// languageOf parses the code of a language.
func languageOf(code string) (language.Tag, error) {
	tag, err := language.Parse(code)
	if _, sure := tag.Base(); err != nil || sure == language.No {
		return tag, fmt.Errorf("the language %q is not a code such as de or pt-BR", code)
	}
	return tag, nil
}
