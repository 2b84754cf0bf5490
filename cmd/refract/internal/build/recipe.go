package build

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"
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
	// Metric is the judge to be trained. The examples have its prompts.
	Metric string              `yaml:"metric"`
	Steps  map[string]StepPlan `yaml:"steps"`
	Tasks  []*Task             `yaml:"tasks"`
	// Rules are the rules that leave items out, in addition to those that are always
	// needed.
	Rules []string `yaml:"rules"`
	// Analysis is the judge whose turns analyse outputs of systems.
	Analysis string `yaml:"analysis"`

	files   map[string][]byte
	prompts *template.Template
}

// StepPlan is one step of a recipe and how it is answered.
type StepPlan struct {
	Prompt      string  `yaml:"prompt"` // the template's file; "" if tasks name theirs
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
	// NeedsSource says that examples need the source.
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

// LoadRecipe reads the files of a recipe from dir, or the built-in ones if dir is "".
func LoadRecipe(name, dir string) (*Recipe, error) {
	from := os.DirFS(dir)
	if dir == "" {
		from, _ = fs.Sub(recipes, "recipes/"+name) // the path is valid
	}
	r := &Recipe{files: map[string][]byte{}}
	templates, _ := fs.Glob(from, "*.tmpl") // the pattern is valid
	r.prompts = template.New("").Option("missingkey=error").Funcs(template.FuncMap{"word": numberWord, "plural": plural})
	for _, file := range append(templates, recipeFile) {
		content, err := fs.ReadFile(from, file)
		if err == nil && file != recipeFile {
			_, err = r.prompts.New(file).Parse(string(content))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; the folder recipe of a build has the files of its recipe", cmp.Or(dir, name), err)
		}
		r.files[file] = content
	}
	f, err := yamlfile.Read(filepath.Join(cmp.Or(dir, name), recipeFile), bytes.NewReader(r.files[recipeFile]))
	if err != nil {
		return nil, err
	}
	if err := f.Decode(r, "describe a recipe"); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, f.At(err)
	}
	return r, nil
}

// check checks the steps and the rules, and that all named prompts exist.
func (r *Recipe) check() error {
	for name, s := range r.Steps {
		if s.MaxTokens < 1 && name != stepSamples || s.TopP <= 0 || s.TopP > 1 || s.Temperature < 0 {
			return yamlfile.Wrong("steps."+name, "max_tokens must be at least 1, top_p above 0 and at most 1, and temperature at least 0")
		}
		if s.Prompt != "" && r.prompts.Lookup(s.Prompt) == nil {
			return yamlfile.Wrong("steps."+name, "there is no file %s", s.Prompt)
		}
	}
	for i, t := range r.Tasks {
		for step, file := range t.Prompts {
			if _, known := r.Steps[step]; !known || r.prompts.Lookup(file) == nil {
				return yamlfile.Wrong(fmt.Sprintf("tasks[%d]", i), "there is no step %s, or no file %s", step, file)
			}
		}
	}
	for i, rule := range r.Rules {
		if !slices.Contains(rules, rule) {
			return yamlfile.Wrong(fmt.Sprintf("rules[%d]", i), "%s", english.Unknown("rule", rule, rules))
		}
	}
	return nil
}

// numberWord writes a count as InstructScore's prompts do.
func numberWord(n int) string {
	return append([]string{"no", "one", "two", "three", "four", "five"}, fmt.Sprint(n))[min(uint(n), 6)]
}

// plural writes a count with its noun as the prompts do: "0 major error".
func plural(n int, noun string) string {
	if n <= 1 {
		return noun
	}
	return noun + "s"
}

// Prompt fills in the prompt of a step, or the task's own prompt for it. Nothing in the data
// is expanded.
func (r *Recipe) Prompt(step string, t *Task, data any) (string, error) {
	file := r.Steps[step].Prompt
	if t != nil {
		file = cmp.Or(t.Prompts[step], file)
	}
	var b strings.Builder
	err := r.prompts.ExecuteTemplate(&b, file, data)
	return b.String(), err
}

// Task returns the task with a name.
func (r *Recipe) Task(name string) (*Task, error) {
	var names []string
	for _, t := range r.Tasks {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return nil, english.Unknown("task", name, names)
}

// resolve returns the metric to be trained.
func (r *Recipe) resolve(options map[string]string) (*judge.Resolved, error) {
	d, err := judge.Find(r.Metric)
	if err != nil {
		return nil, err
	}
	return d.Resolve(options)
}
