package diversify

import (
	"slices"
	"strings"
)

// Prompt is an instruction to rewrite a text, or a template of one.
type Prompt struct {
	Name string // identifies the prompt in variants, such as "order" or "order@de"
	// Text is the instruction, up to and including its colon. If it has the
	// placeholder {reference} it is a template, in which {reference} and {source}
	// stand for the texts of the segment.
	Text     string
	Language string // that Text is written in, such as "de"; "" where nobody says
	Samples  int    // answers per reference; 0 means Config.Samples
}

// The placeholders of a template.
const (
	holdReference = "{reference}"
	holdSource    = "{source}"
)

// fullWidthColon ends an instruction in Chinese and Japanese, where no space
// follows it.
const fullWidthColon = "："

// For returns what is sent to the model for a prompt that needs no source: the
// instruction, one space (none after a full-width colon), and the reference
// untouched.
func (p Prompt) For(reference string) string { return p.Render(reference, "") }

// Render returns what is sent to the model. The placeholders of a template are
// replaced; what is put in their place is not looked at again, whatever it
// holds. The source matters only where NeedsSource.
func (p Prompt) Render(reference, source string) string {
	if !p.template() {
		if strings.HasSuffix(p.Text, fullWidthColon) {
			return p.Text + reference
		}
		return p.Text + " " + reference
	}
	return strings.NewReplacer(holdReference, reference, holdSource, source).Replace(p.Text)
}

func (p Prompt) template() bool { return strings.Contains(p.Text, holdReference) }

// NeedsSource reports whether the prompt is a template with the source in it.
func (p Prompt) NeedsSource() bool { return p.template() && strings.Contains(p.Text, holdSource) }

// tenNames are the names of the ten, in the paper's order.
var tenNames = [10]string{
	"order", "structure", "voice", "tense", "tone", "style", "rephrase", "synonyms", "formal", "informal",
}

const (
	tenName   = "ten" // stands for all of Ten in ParsePrompts
	plainName = "plain"
	english   = "en"
)

// Ten returns the ten diversifying prompts of Div-Ref (section 3.2.2), in the
// paper's order.
func Ten() []Prompt { return TenIn(english) }

// Plain returns the plain paraphrasing prompt, which Div-Ref compares the ten
// with (section 3.2.1).
func Plain() Prompt {
	p, _ := PlainIn(english)
	return p
}

// TenIn returns the ten in a language of [Languages], for references in that
// language: the paper's multilingual setting (section 4.3), whose texts it does
// not give. Their names end in the language, as "order@de" does; those of
// English, the paper's own, do not. It is nil for another language.
func TenIn(language string) []Prompt {
	t, ok := translations[language]
	if !ok {
		return nil
	}
	out := make([]Prompt, len(tenNames))
	for i, name := range tenNames {
		out[i] = Prompt{Name: nameIn(name, language), Text: t.ten[i], Language: language}
	}
	return out
}

// PlainIn returns the plain prompt in a language of [Languages], and whether
// there is one.
func PlainIn(language string) (Prompt, bool) {
	t, ok := translations[language]
	if !ok {
		return Prompt{}, false
	}
	return Prompt{Name: nameIn(plainName, language), Text: t.plain, Language: language}, true
}

func nameIn(name, language string) string {
	if language == english {
		return name
	}
	return name + "@" + language
}

// Prompts returns all built-in prompts: for each of [Languages] the ten and the
// plain one.
func Prompts() []Prompt {
	var out []Prompt
	for _, language := range Languages() {
		plain, _ := PlainIn(language)
		out = append(append(out, TenIn(language)...), plain)
	}
	return out
}

// Languages returns the languages of the built-in prompts as ISO 639-1 codes,
// English first.
func Languages() []string {
	out := []string{english}
	for language := range translations {
		if language != english {
			out = append(out, language)
		}
	}
	slices.Sort(out[1:])
	return out
}
