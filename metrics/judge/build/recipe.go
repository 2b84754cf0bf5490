package build

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/refract-eval/refract/internal/suggest"
	"github.com/refract-eval/refract/internal/yamlfile"
)

//go:embed recipes
var recipes embed.FS

// recipeFile is the file of a recipe that names the others.
const recipeFile = "recipe.yaml"

// Recipe says how training data is made.
type Recipe struct {
	Name    string `yaml:"name"`
	Summary string `yaml:"summary"`
	Source  string `yaml:"source"` // who published it
	// Metric is the judge that is trained: its prompts are those of the examples.
	Metric string              `yaml:"metric"`
	Steps  map[string]StepPlan `yaml:"steps"`
	Tasks  []*Task             `yaml:"tasks"`
	// Rules are those that leave items out, beside the ones that a step cannot
	// go on without.
	Rules []string `yaml:"rules"`
	// Analysis is the judge whose turns analyse outputs of systems.
	Analysis string `yaml:"analysis"`

	files   map[string][]byte
	prompts map[string]*template.Template
}

// StepPlan is one step of a recipe.
type StepPlan struct {
	Prompt   string `yaml:"prompt"` // file of the template; "" where tasks name theirs
	Sampling `yaml:",inline"`
}

// Task is a task of text generation.
type Task struct {
	Name string `yaml:"name"`
	// Options are those of the metric for the task.
	Options map[string]string `yaml:"options"`
	// Prompts are files of templates, by step.
	Prompts map[string]string `yaml:"prompts"`
	// Words are further words of the templates, such as the languages.
	Words map[string]string `yaml:"words"`
	// Language is the ISO 639-1 code of the texts; "" where they are in any.
	Language string `yaml:"language"`
	// Sample is a sentence in it, with which the texts that a model writes are
	// compared; "" leaves their language unchecked.
	Sample string `yaml:"sample"`
	// NeedsSource says that examples need the input of the systems, so that a
	// dataset must give the texts.
	NeedsSource bool `yaml:"needs_source"`
	// Errors are the kinds of errors.
	Errors []ErrorType `yaml:"errors"`
}

// ErrorType is a kind of error.
type ErrorType struct {
	Dimension  string `yaml:"dimension"` // "" where the task has none
	Type       string `yaml:"type"`
	Definition string `yaml:"definition"`
}

// Recipes lists the built-in recipes.
func Recipes() []string { return []string{"instructscore", "metricinstruct", "feedback"} }

// LoadRecipe reads a built-in recipe. Files of the folder dir, if it is not "",
// stand in place of the built-in ones of the same name.
func LoadRecipe(name, dir string) (*Recipe, error) {
	if !slices.Contains(Recipes(), name) {
		return nil, errors.New(suggest.Unknown("recipe", name, Recipes()))
	}
	r := &Recipe{files: map[string][]byte{}, prompts: map[string]*template.Template{}}
	built, err := fs.ReadDir(recipes, path.Join("recipes", name))
	if err != nil {
		return nil, err
	}
	for _, f := range built {
		if r.files[f.Name()], err = recipes.ReadFile(path.Join("recipes", name, f.Name())); err != nil {
			return nil, err
		}
	}
	if err := r.overlay(dir); err != nil {
		return nil, err
	}
	at := path.Join(cmp.Or(dir, name), recipeFile)
	f, err := yamlfile.Read(at, bytes.NewReader(r.files[recipeFile]))
	if err == nil {
		err = f.Decode(r, "describe a recipe")
	}
	if err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, f.At(err)
	}
	return r, nil
}

// overlay reads the files of a folder.
func (r *Recipe) overlay(dir string) error {
	if dir == "" {
		return nil
	}
	own, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, f := range own {
		if ext := filepath.Ext(f.Name()); f.IsDir() || ext != ".yaml" && ext != ".tmpl" {
			continue
		}
		found = true
		if r.files[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s has no file of a recipe (%s, *.tmpl); --write-recipe writes the built-in ones", dir, recipeFile)
	}
	return nil
}

// check parses the prompts that the recipe names.
func (r *Recipe) check() error {
	for _, name := range sortedKeys(r.Steps) {
		s := r.Steps[name]
		field := "steps." + name
		switch {
		case s.MaxTokens < 1:
			return yamlfile.Wrong(field, "max_tokens is %d; it must be at least 1", s.MaxTokens)
		case s.TopP <= 0 || s.TopP > 1:
			return yamlfile.Wrong(field, "top_p is %v; it must be above 0, and at most 1", s.TopP)
		case s.Temperature < 0:
			return yamlfile.Wrong(field, "temperature is %v; it must be at least 0", s.Temperature)
		}
		if err := r.parse(field, s.Prompt); err != nil {
			return err
		}
	}
	for i, t := range r.Tasks {
		field := fmt.Sprintf("tasks[%d]", i)
		if t.Name == "" {
			return yamlfile.Wrong(field, "the task has no name")
		}
		for _, step := range sortedKeys(t.Prompts) {
			if _, known := r.Steps[step]; !known {
				return yamlfile.Wrong(field, "%s is no step; there are: %s", step, strings.Join(sortedKeys(r.Steps), ", "))
			}
			if err := r.parse(field, t.Prompts[step]); err != nil {
				return err
			}
		}
	}
	for i, rule := range r.Rules {
		if !slices.Contains(Rules(), rule) {
			return yamlfile.Wrong(fmt.Sprintf("rules[%d]", i), "%s", suggest.Unknown("rule", rule, Rules()))
		}
	}
	return nil
}

func (r *Recipe) parse(field, file string) error {
	if file == "" || r.prompts[file] != nil {
		return nil
	}
	text, there := r.files[file]
	if !there {
		return yamlfile.Wrong(field, "there is no file %s", file)
	}
	t, err := template.New(file).Option("missingkey=error").Funcs(template.FuncMap{"word": numberWord, "plural": plural}).Parse(string(text))
	if err != nil {
		return yamlfile.Wrong(field, "%w", err)
	}
	r.prompts[file] = t
	return nil
}

// numberWord is a count as InstructScore's prompts write it.
func numberWord(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five"}
	if n < 0 || n >= len(words) {
		return fmt.Sprint(n)
	}
	return words[n]
}

// plural is a noun for a number of things, as the prompts write it: "0 major error".
func plural(n int, noun string) string {
	if n <= 1 {
		return noun
	}
	return noun + "s"
}

// Prompt fills in the prompt of a step, of a task where it has one of its own.
// The data stand in it as they are: nothing in them is expanded. White space at
// both ends of the file is not part of the prompt.
func (r *Recipe) Prompt(step string, t *Task, data any) (string, error) {
	file := r.Steps[step].Prompt
	if t != nil && t.Prompts[step] != "" {
		file = t.Prompts[step]
	}
	prompt := r.prompts[file]
	if prompt == nil {
		return "", fmt.Errorf("the recipe %s has no prompt for the step %s", r.Name, step)
	}
	var b strings.Builder
	err := prompt.Execute(&b, data)
	return b.String(), err
}

// Task returns a task by its name.
func (r *Recipe) Task(name string) (*Task, error) {
	for _, t := range r.Tasks {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, errors.New(suggest.Unknown("task", name, r.TaskNames()))
}

// TaskNames lists the tasks.
func (r *Recipe) TaskNames() []string {
	var names []string
	for _, t := range r.Tasks {
		names = append(names, t.Name)
	}
	return names
}

// Hash is a SHA-256 in hex of all files.
func (r *Recipe) Hash() string {
	h := sha256.New()
	for _, name := range sortedKeys(r.files) {
		fmt.Fprintf(h, "%s %d\n", name, len(r.files[name]))
		h.Write(r.files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the files of the recipe, to be changed and read again.
func (r *Recipe) Write(write func(name string, f func(io.Writer) error) error) error {
	for _, name := range sortedKeys(r.files) {
		if err := write(name, func(w io.Writer) error {
			_, err := w.Write(r.files[name])
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
