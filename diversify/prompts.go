package diversify

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/suggest"
)

// Prompt is an instruction to rewrite a text.
type Prompt struct {
	Name string // identifies the prompt in variants, such as "order"
	Text string // the instruction, up to and including its colon
}

// For returns what is sent to the model: the instruction, one space, and the
// reference untouched.
func (p Prompt) For(reference string) string { return p.Text + " " + reference }

// Ten returns the ten diversifying prompts of Div-Ref (section 3.2.2), in the
// paper's order.
func Ten() []Prompt {
	return []Prompt{
		{"order", "Change the order of the sentences:"},
		{"structure", "Change the structure of the sentences:"},
		{"voice", "Change the voice of the sentences:"},
		{"tense", "Change the tense of the sentences:"},
		{"tone", "Alter the tone of the sentences:"},
		{"style", "Alter the style of the sentences:"},
		{"rephrase", "Rephrase the sentences while retaining the original meaning:"},
		{"synonyms", "Use synonyms or related words to express the sentences with the same meaning:"},
		{"formal", "Use more formal language to change the level of formality of the sentences:"},
		{"informal", "Use less formal language to change the level of formality of the sentences:"},
	}
}

// Plain returns the plain paraphrasing prompt, which Div-Ref compares the ten
// with (section 3.2.1).
func Plain() Prompt { return Prompt{"plain", "Paraphrase the sentences:"} }

// tenName stands for all of Ten in ParsePrompts.
const tenName = "ten"

// ParsePrompts reads a comma-separated list of prompt names, in which "ten"
// stands for all of [Ten]. The prompts are returned in the list's order. An
// unknown name, one that is given twice and an empty list are errors.
func ParsePrompts(s string) ([]Prompt, error) {
	ten := Ten()
	known := append(slices.Clone(ten), Plain())
	names := []string{tenName}
	for _, p := range known {
		names = append(names, p.Name)
	}
	if strings.TrimSpace(s) == "" {
		return nil, fmt.Errorf("no prompt is named (known: %s)", strings.Join(names, ", "))
	}
	var out []Prompt
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		var found []Prompt
		switch i := slices.IndexFunc(known, func(p Prompt) bool { return p.Name == word }); {
		case word == "":
			return nil, fmt.Errorf("prompts %q: a name is empty", s)
		case word == tenName:
			found = ten
		case i >= 0:
			found = known[i : i+1]
		default:
			return nil, errors.New(suggest.Unknown("prompt", word, names))
		}
		for _, p := range found {
			if slices.Contains(out, p) {
				return nil, fmt.Errorf("prompts %q: %q is named twice", s, p.Name)
			}
			out = append(out, p)
		}
	}
	return out, nil
}
