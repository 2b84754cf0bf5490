package diversify

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// builtins reads the built-in prompts once.
var builtins = sync.OnceValue(func() []Prompt {
	f, err := yamlfile.Read("prompts.yaml", bytes.NewReader(builtinFile))
	var file promptFile
	if err == nil {
		err = f.Decode(&file, "list prompts")
	}
	if err != nil { // the tests read it
		panic(fmt.Sprintf("diversify: built-in prompts: %v", err))
	}
	out := make([]Prompt, len(file.Prompts))
	for i, e := range file.Prompts {
		out[i] = Prompt{Name: e.Name.value, Text: e.Text.value, Language: e.Language}
	}
	return out
})

const (
	tenName   = "ten" // stands for all of Ten in ParsePrompts
	plainName = "plain"
	inEnglish = "en"
)

// Prompts returns all built-in prompts: for each of [Languages] the ten and the
// plain paraphrasing prompt, which Div-Ref compares the ten with (section
// 3.2.1), and behind them those of [Tasks].
func Prompts() []Prompt {
	out := slices.Clone(builtins())
	for _, task := range Tasks() {
		out = append(out, sourcePrompts()[task]...)
	}
	return out
}

// Ten returns the ten diversifying prompts of Div-Ref (section 3.2.2), in the
// paper's order. Their like in other languages, for references in these, are
// the paper's multilingual setting (section 4.3), whose texts it does not give.
func Ten() []Prompt { return in(inEnglish)[:10] }

// in returns the ten and the plain one in a language.
func in(language string) []Prompt {
	return slices.DeleteFunc(slices.Clone(builtins()), func(p Prompt) bool { return p.Language != language })
}

// Languages returns the languages of the built-in prompts as ISO 639-1 codes,
// English first.
func Languages() []string {
	var out []string
	for _, p := range builtins() {
		out = append(out, p.Language)
	}
	return slices.Compact(out)
}

// filePrefix begins a word of ParsePrompts that names a file of templates.
const filePrefix = "file:"

// maxSamples bounds what a *N may ask for; more is a slip of the hand.
const maxSamples = 10_000

// ParsePrompts reads a comma-separated list of
//
//	order, plain, …   one prompt
//	ten               all of [Ten]
//	order@de, ten@zh  the same in a language of [Languages]
//	translation, …    the prompts of one of [Tasks]
//	translate, …      one of them
//	file:PATH         the templates in a file; see [ReadPrompts]
//
// each of which may end in *N for N samples of each prompt, in place of those
// that the configuration or the file says. The prompts are returned in the
// list's order. An unknown name, one that is given twice, an empty list and a
// file that cannot be read are errors. A PATH cannot have a comma in it.
func ParsePrompts(s string) ([]Prompt, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fmt.Errorf("no prompt is named (known: %s)", strings.Join(knownNames(inEnglish), ", "))
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

// PromptFiles returns the files that the words of [ParsePrompts] name.
func PromptFiles(s string) []string {
	var out []string
	for word := range strings.SplitSeq(s, ",") {
		if path, ok := strings.CutPrefix(strings.TrimSpace(word), filePrefix); ok {
			if i := strings.LastIndexByte(path, '*'); i >= 0 && strings.Trim(path[i+1:], "0123456789") == "" {
				path = path[:i]
			}
			out = append(out, path)
		}
	}
	return out
}

func parseWord(word string) ([]Prompt, error) {
	// A path may have a * before its end, so that only digits behind it count.
	name, times := word, ""
	i := strings.LastIndexByte(word, '*')
	path, isFile := strings.CutPrefix(word, filePrefix)
	if i >= 0 && (!isFile || strings.Trim(word[i+1:], "0123456789") == "") {
		name, times = word[:i], word[i:]
		path = strings.TrimSuffix(path, times)
	}
	var found []Prompt
	var err error
	if isFile {
		found, err = ReadPrompts(path)
	} else {
		found, err = builtIn(name)
	}
	if err != nil || times == "" {
		return found, err
	}
	n, err := strconv.Atoi(times[1:])
	if err != nil || n < 1 || n > maxSamples {
		return nil, fmt.Errorf("prompt %q: want a number from 1 to %d after the *", word, maxSamples)
	}
	for i := range found {
		found[i].Samples = n
	}
	return found, nil
}

// builtIn finds the prompts of a name such as "ten", "order" or "order@de".
func builtIn(name string) ([]Prompt, error) {
	for task, prompts := range sourcePrompts() {
		if name == task {
			return slices.Clone(prompts), nil
		}
		for _, p := range prompts {
			if p.Name == name {
				return []Prompt{p}, nil
			}
		}
	}
	base, language, suffixed := strings.Cut(name, "@")
	if !suffixed {
		language = inEnglish
	}
	all := in(language)
	if len(all) == 0 {
		return nil, errors.New(english.Unknown("language of prompts", language, Languages()))
	}
	if base == tenName {
		return all[:10], nil
	}
	i := slices.Index(knownNames(language), nameIn(base, language)) - 1
	if i < 0 {
		return nil, errors.New(english.Unknown("prompt", name, knownNames(language)))
	}
	return all[i : i+1], nil
}

func nameIn(name, language string) string {
	if language == inEnglish {
		return name
	}
	return name + "@" + language
}

// knownNames are the names of ParsePrompts in one language.
func knownNames(language string) []string {
	out := []string{nameIn(tenName, language)}
	for _, p := range in(language) {
		out = append(out, p.Name)
	}
	if language == inEnglish {
		out = append(out, Tasks()...)
	}
	return out
}

// PromptWords returns the words of ParsePrompts: the sets, the prompts in English,
// and what begins the name of a file.
func PromptWords() []string {
	var out []string
	for _, language := range Languages() {
		out = append(out, nameIn(tenName, language), nameIn(plainName, language))
	}
	for _, p := range Ten() {
		out = append(out, p.Name)
	}
	return append(append(out, Tasks()...), filePrefix)
}

// SetOf returns the word of ParsePrompts that stands for a built-in prompt and
// its like, such as "ten@de" for "order@de", and "file" for another prompt.
func SetOf(p Prompt) string {
	if !slices.ContainsFunc(Prompts(), func(q Prompt) bool { return q.Name == p.Name }) {
		return "file"
	}
	for task, prompts := range sourcePrompts() {
		if slices.ContainsFunc(prompts, func(q Prompt) bool { return q.Name == p.Name }) {
			return task
		}
	}
	if base, _, _ := strings.Cut(p.Name, "@"); base == plainName {
		return p.Name
	}
	return nameIn(tenName, p.Language)
}
