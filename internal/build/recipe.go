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
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/yamlfile"
	"github.com/refract-eval/refract/metrics/judge"
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
	// Metric is the judge that is trained: the examples have its prompts.
	Metric string              `yaml:"metric"`
	Steps  map[string]StepPlan `yaml:"steps"`
	Tasks  []*Task             `yaml:"tasks"`
	// Rules leave items out, in addition to those without which a step cannot
	// continue.
	Rules []string `yaml:"rules"`
	// Analysis is the judge whose turns analyse outputs of systems.
	Analysis string `yaml:"analysis"`

	files   map[string][]byte
	prompts *template.Template
}

// StepPlan is one step of a recipe.
type StepPlan struct {
	Prompt   string `yaml:"prompt"` // the template's file; "" where tasks name theirs
	Sampling `yaml:",inline"`
}

// Sampling says how a step is answered.
type Sampling struct {
	Temperature float64 `yaml:"temperature"`
	TopP        float64 `yaml:"top_p"`
	MaxTokens   int     `yaml:"max_tokens"`
}

// Task is a task of text generation.
type Task struct {
	Name    string            `yaml:"name"`
	Options map[string]string `yaml:"options"` // of the metric
	Prompts map[string]string `yaml:"prompts"` // files of templates, by step
	Words   map[string]string `yaml:"words"`   // for the templates, such as the languages
	// Language is the ISO 639-1 code of the texts; "" for any.
	Language string `yaml:"language"`
	// Sample is a sentence in it. The texts that a model writes are compared with
	// it; "" leaves their language unchecked.
	Sample string `yaml:"sample"`
	// NeedsSource says that examples need the input of the systems, so that a
	// dataset must give the texts.
	NeedsSource bool        `yaml:"needs_source"`
	Errors      []ErrorType `yaml:"errors"`
}

// ErrorType is a kind of error.
type ErrorType struct {
	Dimension  string `yaml:"dimension"` // "" if the task has none
	Type       string `yaml:"type"`
	Definition string `yaml:"definition"`
}

// The built-in recipes.
const (
	InstructScore  = "instructscore"
	MetricInstruct = "metricinstruct"
	Refine         = "refine"
)

// LoadRecipe reads a built-in recipe. If dir is not "", files in it replace the
// built-in files of the same name.
func LoadRecipe(name, dir string) (*Recipe, error) {
	r := &Recipe{files: map[string][]byte{}}
	builtin, err := fs.Sub(recipes, path.Join("recipes", name))
	if err == nil {
		_, err = r.read(builtin)
	}
	if err == nil && dir != "" {
		found, unread := r.read(os.DirFS(dir))
		switch {
		case unread != nil:
			err = fmt.Errorf("%s: %w", dir, unread)
		case found == 0:
			err = fmt.Errorf("%s has no file of a recipe (%s, *.tmpl); --write-recipe writes the built-in ones", dir, recipeFile)
		}
	}
	if err != nil {
		return nil, err
	}
	f, err := yamlfile.Read(filepath.Join(cmp.Or(dir, name), recipeFile), bytes.NewReader(r.files[recipeFile]))
	if err != nil {
		return nil, err
	}
	if err := f.Decode(r, "describe a recipe"); err != nil {
		return nil, err
	}
	r.prompts = template.New("").Option("missingkey=error").Funcs(template.FuncMap{"word": numberWord, "plural": plural})
	for _, name := range sortedKeys(r.files) {
		if name == recipeFile {
			continue
		}
		if _, err := r.prompts.New(name).Parse(string(r.files[name])); err != nil {
			return nil, fmt.Errorf("%s: %w", cmp.Or(dir, r.Name), err)
		}
	}
	if err := r.check(); err != nil {
		return nil, f.At(err)
	}
	return r, nil
}

// read reads the files of a recipe, and counts them.
func (r *Recipe) read(from fs.FS) (found int, err error) {
	entries, err := fs.ReadDir(from, ".")
	for _, f := range entries {
		if ext := path.Ext(f.Name()); err != nil || f.IsDir() || ext != ".yaml" && ext != ".tmpl" {
			continue
		}
		found++
		r.files[f.Name()], err = fs.ReadFile(from, f.Name())
	}
	return found, err
}

// check checks the steps, and that the prompts that they name are there.
func (r *Recipe) check() error {
	for _, name := range sortedKeys(r.Steps) {
		s, field := r.Steps[name], "steps."+name
		switch {
		case s.MaxTokens < 1 && name != stepSamples:
			return yamlfile.Wrong(field, "max_tokens is %d; it must be at least 1", s.MaxTokens)
		case s.TopP <= 0 || s.TopP > 1:
			return yamlfile.Wrong(field, "top_p is %v; it must be above 0, and at most 1", s.TopP)
		case s.Temperature < 0:
			return yamlfile.Wrong(field, "temperature is %v; it must be at least 0", s.Temperature)
		}
		if err := r.hasPrompt(field, s.Prompt); err != nil {
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
				return yamlfile.Wrong(field, "%s", english.Unknown("step", step, sortedKeys(r.Steps)))
			}
			if err := r.hasPrompt(field, t.Prompts[step]); err != nil {
				return err
			}
		}
	}
	for i, rule := range r.Rules {
		if !slices.Contains(Rules(), rule) {
			return yamlfile.Wrong(fmt.Sprintf("rules[%d]", i), "%s", english.Unknown("rule", rule, Rules()))
		}
	}
	return nil
}

func (r *Recipe) hasPrompt(field, file string) error {
	if file == "" || r.prompts.Lookup(file) != nil {
		return nil
	}
	return yamlfile.Wrong(field, "there is no file %s", file)
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

// Prompt fills in the prompt of a step; the task's own, if it has one. Nothing in
// the data is expanded.
func (r *Recipe) Prompt(step string, t *Task, data any) (string, error) {
	file := r.Steps[step].Prompt
	if t != nil {
		file = cmp.Or(t.Prompts[step], file)
	}
	if file == "" {
		return "", fmt.Errorf("the recipe %s has no prompt for the step %s", r.Name, step)
	}
	var b strings.Builder
	err := r.prompts.ExecuteTemplate(&b, file, data)
	return b.String(), err
}

// Task returns a task by its name.
func (r *Recipe) Task(name string) (*Task, error) {
	var names []string
	for _, t := range r.Tasks {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, errors.New(english.Unknown("task", name, names))
}

// resolve returns the metric that is trained.
func (r *Recipe) resolve(options map[string]string) (*judge.Resolved, error) {
	d, err := judge.Find(r.Metric)
	if err != nil {
		return nil, err
	}
	return d.Resolve(options)
}

// Hash is the SHA-256 of all files, in hex.
func (r *Recipe) Hash() string {
	h := sha256.New()
	for _, name := range sortedKeys(r.files) {
		fmt.Fprintf(h, "%s %d\n", name, len(r.files[name]))
		h.Write(r.files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the recipe's files, for users to change and pass to LoadRecipe.
func (r *Recipe) Write(write func(name string, f func(io.Writer) error) error) error {
	for _, name := range sortedKeys(r.files) {
		err := write(name, func(w io.Writer) error {
			_, err := w.Write(r.files[name])
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
