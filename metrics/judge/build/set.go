package build

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/budget"
	"github.com/refract-eval/refract/metrics/judge"
	"github.com/refract-eval/refract/report"
)

// Set is training data in the making, and what its card says.
type Set struct {
	Name, License string // "" leaves them to be filled in
	Form          string // of Forms
	Container     string // of Containers
	Validation    float64
	Seed          uint64
	Recipe        *Recipe
	Metric        string // that is trained; "" for the recipe's
	Model         string // that made the data
	Revision      string
	Inputs        []Input // datasets that texts come from
	Prices        budget.Prices

	Served []Prompted // what the metric asks
	Items  []*Item
	Pairs  []Pair // of preferences; none where the recipe makes none
	Steps  []*Step
	Lists  []ListCount
	// Notes are further facts for the card.
	Notes []string
}

// Input is a dataset that texts come from.
type Input struct {
	Spec string `json:"dataset"`
	Set  string `json:"references"` // the hash of its references
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
	PromptHashes  []Prompted     `json:"metric_prompts"`
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
	Pairs         int            `json:"pairs,omitempty"`
	LeftOut       map[string]int `json:"left_out"`
	ByTask        []TaskCount    `json:"by_task"`
	Errors        map[string]int `json:"errors"` // of the examples, by severity and type
	Lists         []ListCount    `json:"lists,omitempty"`
	Steps         []*Step        `json:"steps"`
	Cost          *float64       `json:"cost,omitempty"` // of all answers, by the prices given
	ValidationPer float64        `json:"validation_share"`
}

// Prompted says what the metric asks.
type Prompted struct {
	Spec     string       `json:"metric"`
	Hash     string       `json:"prompt"`
	Endpoint llm.Endpoint `json:"endpoint"`
}

// PromptedBy says what a judge asks.
func PromptedBy(r *judge.Resolved) Prompted {
	return Prompted{Spec: r.Spec(), Hash: r.Hash()[:12], Endpoint: r.Endpoint()}
}

// FormOf is the form of examples for a metric: as it is served, prompts are
// completed, or are messages.
func FormOf(p Prompted) string {
	if p.Endpoint == llm.Completions {
		return FormCompletion
	}
	return FormMessages
}

// TaskCount counts the examples of a task and a channel.
type TaskCount struct {
	Task     string `json:"task"`
	Channel  string `json:"channel,omitempty"`
	Items    int    `json:"items"`
	Examples int    `json:"examples"`
}

// split says of each example on which side it is.
func (s *Set) split() {
	for _, it := range s.Items {
		it.Validation = it.Rule == "" && isValidation(s.Seed, s.Validation, it.Group)
	}
}

// Summarize counts what is written.
func (s *Set) Summarize() *Summary {
	s.split()
	out := &Summary{
		Tool: "refract " + refract.Version, Recipe: s.Recipe.Name, RecipeHash: s.Recipe.Hash(), Metric: cmp.Or(s.Metric, s.Recipe.Metric),
		Model: s.Model, Revision: s.Revision, Seed: s.Seed, Form: s.Form, License: s.License, Inputs: s.Inputs,
		Items: len(s.Items), Pairs: len(s.Pairs), LeftOut: map[string]int{}, Errors: map[string]int{},
		PromptHashes: s.Served, Lists: s.Lists, Steps: s.Steps, ValidationPer: s.Validation,
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
		if it.Validation {
			out.Validation++
		} else {
			out.Train++
		}
		groups[folded(it.Group)] = true
		for _, e := range it.Errors {
			out.Errors[strings.TrimSpace(strings.TrimSpace(string(e.Severity)+" "+e.Dimension)+" "+e.Aspect)]++
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
	sum := s.Summarize()
	var train, validation []*Item
	for _, it := range s.Items {
		switch {
		case it.Rule != "":
		case it.Validation:
			validation = append(validation, it)
		default:
			train = append(train, it)
		}
	}
	err := to.Write(itemsFile, func(w io.Writer) error {
		for _, it := range s.Items {
			if err := writeLine(w, it); err != nil {
				return err
			}
		}
		return nil
	})
	examples := func(name string, items []*Item) {
		if err == nil && len(items) > 0 {
			err = to.Write(name+"."+s.Container, func(w io.Writer) error { return writeExamples(w, s.Form, s.Container, items) })
		}
	}
	examples("train", train)
	examples("validation", validation)
	if err == nil {
		err = s.writePairs(to)
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
		err = to.Write(cardFile, func(w io.Writer) error { return s.card(w, sum) })
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(to.Path(), recipeFolder), 0o755)
	}
	if err == nil {
		err = s.Recipe.Write(func(name string, f func(io.Writer) error) error { return to.Write(recipeFolder+"/"+name, f) })
	}
	return sum, err
}

// preferences are the pairs by side, split as the examples are.
func (s *Set) preferences() map[string][]Pair {
	sides := map[string][]Pair{}
	for _, p := range s.Pairs {
		side := "train"
		if isValidation(s.Seed, s.Validation, p.Group) {
			side = "validation"
		}
		sides[side] = append(sides[side], p)
	}
	return sides
}

// writePairs writes preferences.
func (s *Set) writePairs(to Folder) error {
	sides := s.preferences()
	for _, side := range sortedKeys(sides) {
		name := fmt.Sprintf("%s-%s.%s", formPreference, side, s.Container)
		if err := to.Write(name, func(w io.Writer) error { return writePairs(w, s.Form, s.Container, sides[side]) }); err != nil {
			return err
		}
	}
	return nil
}

//go:embed card.md.tmpl
var cardTemplate string

// card writes the dataset card.
func (s *Set) card(w io.Writer, sum *Summary) error {
	text, err := publish.Fill(cardTemplate, map[string]any{
		"Set": s, "Summary": sum, "Preferences": sortedKeys(s.preferences()), "Examples": ruleTable(sum), "Tasks": taskTable(sum), "Steps": stepTable(sum), "Lists": listTable(sum), "Errors": errorTable(sum),
	})
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// columns are some of texts, and then counts.
func columns(texts int, names ...string) []report.Column {
	var out []report.Column
	for i, n := range names {
		out = append(out, report.Column{Name: n, Kind: report.KindInt})
		if i < texts {
			out[i].Kind = report.KindString
		}
	}
	return out
}

// ruleTable shows what became of the items.
func ruleTable(sum *Summary) *report.NamedTable {
	t := &report.NamedTable{Title: "items", Columns: columns(1, "what", "items")}
	t.Add("asked for", sum.Items)
	for _, rule := range RuleCounts(sum.LeftOut).Names() {
		t.Add("left out: "+rule, sum.LeftOut[rule])
	}
	t.Add("examples", sum.Examples)
	t.Add("of them for training", sum.Train)
	t.Add("of them for validation", sum.Validation)
	return t
}

// Paid is the cost for people, "" where it is not known.
func (sum *Summary) Paid() string {
	if sum.Cost == nil {
		return ""
	}
	return strconv.FormatFloat(*sum.Cost, 'f', 4, 64)
}

// Table shows what became of the items.
func (sum *Summary) Table() *report.NamedTable { return ruleTable(sum) }

func taskTable(sum *Summary) *report.NamedTable {
	t := &report.NamedTable{Columns: columns(2, "task", "channel", "items", "examples")}
	for _, c := range sum.ByTask {
		t.Add(c.Task, c.Channel, c.Items, c.Examples)
	}
	return t
}

func stepTable(sum *Summary) *report.NamedTable {
	t := &report.NamedTable{Columns: columns(2, "step", "model", "conversations", "answers", "prompt tokens", "completion tokens")}
	for _, s := range sum.Steps {
		t.Add(s.Name, s.Model, s.Dialogues, s.Answers, s.PromptTokens, s.CompletionTokens)
	}
	return t
}

func listTable(sum *Summary) *report.NamedTable {
	if len(sum.Lists) == 0 {
		return nil
	}
	t := &report.NamedTable{Columns: columns(1, "step", "asked for", "got", "of an earlier list", "too many", "in another language", "refusals", "lists without an entry")}
	for _, l := range sum.Lists {
		t.Add(l.Step, l.Asked, l.Got, l.Again, l.Extra, l.Foreign, l.Refused, l.Lost)
	}
	return t
}

func errorTable(sum *Summary) *report.NamedTable {
	t := &report.NamedTable{Columns: columns(1, "error", "in examples")}
	for _, name := range sortedKeys(sum.Errors) {
		t.Add(name, sum.Errors[name])
	}
	return t
}
