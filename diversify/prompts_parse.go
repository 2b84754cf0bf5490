package diversify

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/internal/suggest"
)

// filePrefix begins a word of ParsePrompts that names a file of templates.
const filePrefix = "file:"

// maxSamples bounds what a *N may ask for; more is a slip of the hand.
const maxSamples = 10_000

// ParsePrompts reads a comma-separated list of
//
//	order, plain, …   one prompt
//	ten               all of [Ten]
//	order@de, ten@zh  the same in a language of [Languages]
//	file:PATH         the templates in a file; see [ReadPrompts]
//
// each of which may end in *N for N samples of each prompt, in place of those
// that the configuration or the file says. The prompts are returned in the
// list's order. An unknown name, one that is given twice, an empty list and a
// file that cannot be read are errors. A PATH cannot have a comma in it.
func ParsePrompts(s string) ([]Prompt, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fmt.Errorf("no prompt is named (known: %s)", strings.Join(knownNames(english), ", "))
	}
	var out []Prompt
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return nil, fmt.Errorf("prompts %q: a name is empty", s)
		}
		found, err := parseWord(word)
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

func parseWord(word string) ([]Prompt, error) {
	name, times, repeated := cutSamples(word)
	var found []Prompt
	var err error
	if path, ok := strings.CutPrefix(name, filePrefix); ok {
		found, err = ReadPrompts(path)
	} else {
		found, err = builtIn(name)
	}
	if err != nil || !repeated {
		return found, err
	}
	n, err := strconv.Atoi(times)
	if err != nil || n < 1 || n > maxSamples {
		return nil, fmt.Errorf("prompt %q: want a number from 1 to %d after the *", word, maxSamples)
	}
	for i := range found {
		found[i].Samples = n
	}
	return found, nil
}

// cutSamples cuts the *N off a word. A path may have a * before its end, and a
// name may not, so all after the last * must be digits in a path only.
func cutSamples(word string) (name, times string, ok bool) {
	i := strings.LastIndexByte(word, '*')
	if i < 0 || strings.HasPrefix(word, filePrefix) && strings.Trim(word[i+1:], "0123456789") != "" {
		return word, "", false
	}
	return word[:i], word[i+1:], true
}

// builtIn finds the prompts of a name such as "ten", "order" or "order@de".
func builtIn(name string) ([]Prompt, error) {
	base, language, suffixed := strings.Cut(name, "@")
	if !suffixed {
		language = english
	}
	ten := TenIn(language)
	if ten == nil {
		return nil, errors.New(suggest.Unknown("language of prompts", language, Languages()))
	}
	if base == tenName {
		return ten, nil
	}
	plain, _ := PlainIn(language)
	for _, p := range append(ten, plain) {
		if p.Name == nameIn(base, language) {
			return []Prompt{p}, nil
		}
	}
	return nil, errors.New(suggest.Unknown("prompt", name, knownNames(language)))
}

// knownNames are the names of ParsePrompts in one language.
func knownNames(language string) []string {
	out := []string{nameIn(tenName, language)}
	for _, name := range tenNames {
		out = append(out, nameIn(name, language))
	}
	return append(out, nameIn(plainName, language))
}

// PromptWords are the words of ParsePrompts: the sets, the prompts in English,
// and what begins the name of a file.
func PromptWords() []string {
	var out []string
	for _, language := range Languages() {
		out = append(out, nameIn(tenName, language), nameIn(plainName, language))
	}
	return append(append(out, tenNames[:]...), filePrefix)
}

// SetOf returns the word of ParsePrompts that stands for a built-in prompt and
// its like, such as "ten@de" for "order@de", and "file" for another prompt.
func SetOf(p Prompt) string {
	if !slices.ContainsFunc(Prompts(), func(q Prompt) bool { return q.Name == p.Name }) {
		return "file"
	}
	if base, _, _ := strings.Cut(p.Name, "@"); base == plainName {
		return p.Name
	}
	return nameIn(tenName, p.Language)
}
