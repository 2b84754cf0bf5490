package build

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/budget"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/report"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge"
)

// Set is training data in the making.
type Set struct {
	Name, License string // "" leaves them to be filled in
	Form          string // of Forms; "" for the form in which the metric is served
	Validation    float64
	Seed          uint64
	Recipe        *Recipe
	Metric        string         // that is trained; "" for the recipe's
	Inputs        []Input        // datasets that texts come from
	Language      *check.Checker // makes the language check; nil for none
	Prices        budget.Prices

	Teacher Model
	Asker   *ask.Asker
	// DryRun makes no call: what the store lacks stays unanswered, and Steps count
	// it.
	DryRun bool
	// Observe, if it is not nil, is told of every answer, from any number of
	// goroutines.
	Observe func(ask.Result)

	Items   []*Item
	Steps   []*Step
	Lists   []ListCount
	NotMade int      // errors that the teacher says it could not make
	Notes   []string // further facts for the card

	served []served
	seen   map[string]bool // texts of the items so far
}

// Input is a dataset that texts come from.
type Input struct {
	Spec string `json:"dataset"`
	Set  string `json:"references"` // the hash of its references
}

// served says what a metric is asked.
type served struct {
	Spec     string       `json:"metric"`
	Hash     string       `json:"prompt"`
	Endpoint llm.Endpoint `json:"endpoint"`
}

// serve records a metric whose examples the set has.
func (s *Set) serve(metric *judge.Resolved) {
	p := served{metric.Spec(), metric.Hash()[:12], metric.Endpoint()}
	if !slices.Contains(s.served, p) {
		s.served = append(s.served, p)
	}
}

// Folder is where a set is written, such as an atomicfile.Folder.
type Folder interface {
	Path() string // where its files are
	Write(name string, write func(io.Writer) error) error
}

// The files of a set.
const (
	itemsFile    = "items.jsonl"
	buildFile    = "build.json"
	cardFile     = "README.md"
	recipeFolder = "recipe"
)

// Summary is what build.json says.
type Summary struct {
	Tool          string         `json:"tool"`
	Recipe        string         `json:"recipe"`
	RecipeHash    string         `json:"recipe_sha256"`
	Metric        string         `json:"metric"`
	PromptHashes  []served       `json:"metric_prompts"`
	Model         string         `json:"model"`
	Revision      string         `json:"revision,omitempty"`
	Seed          uint64         `json:"seed"`
	Form          string         `json:"form"`
	License       string         `json:"license,omitempty"`
	Inputs        []Input        `json:"inputs,omitempty"`
	Items         int            `json:"items"`
	Examples      int            `json:"examples"`
	Train         int            `json:"train"`
	Validation    int            `json:"validation"`
	Groups        int            `json:"texts"` // that examples are split by
	LeftOut       map[string]int `json:"left_out"`
	ByTask        []TaskCount    `json:"by_task"`
	Errors        map[string]int `json:"errors"` // of the examples, by severity and type
	Lists         []ListCount    `json:"lists,omitempty"`
	Steps         []*Step        `json:"steps"`
	Cost          *float64       `json:"cost,omitempty"` // of all answers, by the given prices
	ValidationPer float64        `json:"validation_share"`
}

// TaskCount counts the examples of a task and a channel.
type TaskCount struct {
	Task     string `json:"task"`
	Channel  string `json:"channel,omitempty"`
	Items    int    `json:"items"`
	Examples int    `json:"examples"`
}

// summarize splits the examples, and counts what is written.
func (s *Set) summarize() *Summary {
	if s.Form == "" {
		s.Form = FormMessages
		if s.served[0].Endpoint == llm.Completions {
			s.Form = FormCompletion
		}
	}
	out := &Summary{
		Tool: "refract " + refract.Version, Recipe: s.Recipe.Name, RecipeHash: s.Recipe.Hash(), Metric: cmp.Or(s.Metric, s.Recipe.Metric),
		Model: s.Teacher.Name, Revision: s.Teacher.Revision, Seed: s.Seed, Form: s.Form, License: s.License, Inputs: s.Inputs,
		Items: len(s.Items), LeftOut: map[string]int{}, Errors: map[string]int{},
		PromptHashes: s.served, Lists: s.Lists, Steps: s.Steps, ValidationPer: s.Validation,
	}
	groups := map[string]bool{}
	for _, it := range s.Items {
		i := slices.IndexFunc(out.ByTask, func(c TaskCount) bool { return c.Task == it.Task && c.Channel == it.Channel })
		if i < 0 {
			i = len(out.ByTask)
			out.ByTask = append(out.ByTask, TaskCount{Task: it.Task, Channel: it.Channel})
		}
		out.ByTask[i].Items++
		if it.Rule != "" {
			out.LeftOut[it.Rule]++
			continue
		}
		out.Examples++
		out.ByTask[i].Examples++
		if it.Validation = isValidation(s.Seed, s.Validation, it.Group); it.Validation {
			out.Validation++
		} else {
			out.Train++
		}
		groups[folded(it.Group)] = true
		for _, e := range it.Errors {
			out.Errors[strings.Join(strings.Fields(string(e.Severity)+" "+e.Dimension+" "+e.Aspect), " ")]++
		}
	}
	out.Groups = len(groups)
	cost, priced := 0.0, len(s.Steps) > 0
	for _, step := range s.Steps {
		price, known := s.Prices[step.Model]
		priced = priced && known
		cost += price.Cost(step.PromptTokens, step.CompletionTokens)
	}
	if priced {
		out.Cost = &cost
	}
	return out
}

// Write writes the folder.
func (s *Set) Write(to Folder) (*Summary, error) {
	if s.NotMade > 0 {
		s.Notes = append(s.Notes, english.Count(s.NotMade, "error")+" that the model says it could not make (N/A); no example has them.")
	}
	sum := s.summarize()
	rows := map[string][]any{} // by file
	for _, it := range s.Items {
		if it.Rule == "" {
			name := "train"
			if it.Validation {
				name = "validation"
			}
			rows[name] = append(rows[name], exampleRow(s.Form, it.Prompt, it.Completion))
		}
	}
	err := to.Write(itemsFile, func(w io.Writer) error { return writeLines(w, s.Items) })
	for _, name := range sortedKeys(rows) {
		if err == nil {
			err = to.Write(name+".jsonl", func(w io.Writer) error { return writeLines(w, rows[name]) })
		}
	}
	if err == nil {
		err = to.Write(buildFile, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(sum)
		})
	}
	if err == nil {
		err = to.Write(cardFile, func(w io.Writer) error {
			cost := ""
			if sum.Cost != nil {
				cost = strconv.FormatFloat(*sum.Cost, 'f', 4, 64)
			}
			text, err := report.FillCard(cardTemplate, map[string]any{"Set": s, "Summary": sum, "Cost": cost})
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		})
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(to.Path(), recipeFolder), 0o755)
	}
	if err == nil {
		err = s.Recipe.Write(func(name string, f func(io.Writer) error) error { return to.Write(recipeFolder+"/"+name, f) })
	}
	return sum, err
}

//go:embed card.md.tmpl
var cardTemplate string

// Table shows what became of the items.
func (sum *Summary) Table() *report.NamedTable {
	t := &report.NamedTable{Title: "items", Columns: []report.Column{{Name: "what"}, {Name: "items", Kind: report.KindInt}}}
	t.Add("asked for", sum.Items)
	for _, rule := range Rules() {
		if n := sum.LeftOut[rule]; n > 0 {
			t.Add("left out: "+rule, n)
		}
	}
	t.Add("examples", sum.Examples)
	t.Add("of them for training", sum.Train)
	t.Add("of them for validation", sum.Validation)
	return t
}
