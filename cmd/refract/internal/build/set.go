package build

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/benchmarks/publish"
	"github.com/refract-eval/refract/cmd/refract/internal/report"
	"github.com/refract-eval/refract/diversify/check"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/llm"
	"github.com/refract-eval/refract/llm/ask"
	"github.com/refract-eval/refract/metrics/judge"
)

// Set collects training data.
type Set struct {
	License    string // "" leaves a gap to fill in
	Validation float64
	Seed       uint64
	Recipe     *Recipe
	Metric     string         // to be trained; "" for the recipe's
	Inputs     []Input        // datasets from which texts come
	Language   *check.Checker // makes the language check; nil for none

	Teacher Model
	Asker   *ask.Asker
	// DryRun makes no call. Requests that are not stored stay unanswered, and Steps counts
	// them.
	DryRun bool
	// Observe, if not nil, is called with every answer. It must be safe for concurrent use.
	Observe func(ask.Result)

	Items   []*Item
	Steps   []*Step
	NotMade int      // errors that the teacher says it could not make
	Notes   []string // further facts for the card

	served []served
	seen   map[string]bool // texts of the items so far
}

// Input is a dataset from which texts come.
type Input struct {
	Spec string `json:"dataset"`
	Set  string `json:"references"` // the hash of its references
}

// served describes what a metric is asked.
type served struct {
	Spec     string       `json:"metric"`
	Hash     string       `json:"prompt"`
	Endpoint llm.Endpoint `json:"endpoint"`
}

// serve records a metric for which the set has examples.
func (s *Set) serve(metric *judge.Resolved) {
	p := served{metric.Spec(), metric.Hash()[:12], metric.Endpoint()}
	if !slices.Contains(s.served, p) {
		s.served = append(s.served, p)
	}
}

// Folder is where a set is written, such as a files.Folder.
type Folder interface {
	Write(name string, write func(io.Writer) error) error
}

// cardFile is the file of a set for people.
const cardFile = "README.md"

// Summary is the content of build.json.
type Summary struct {
	Tool          string         `json:"tool"`
	Recipe        string         `json:"recipe"`
	Metric        string         `json:"metric"`
	PromptHashes  []served       `json:"metric_prompts"`
	Model         string         `json:"model"`
	Revision      string         `json:"revision,omitempty"`
	Seed          uint64         `json:"seed"`
	License       string         `json:"license,omitempty"`
	Inputs        []Input        `json:"inputs,omitempty"`
	Items         int            `json:"items"`
	Examples      int            `json:"examples"`
	Train         int            `json:"train"`
	Validation    int            `json:"validation"`
	LeftOut       map[string]int `json:"left_out"`
	ByTask        map[string]int `json:"by_task"` // examples, by task and channel
	Errors        map[string]int `json:"errors"`  // of the examples, by severity and type
	Steps         []*Step        `json:"steps"`
	ValidationPer float64        `json:"validation_share"`
}

// summarize splits the examples and counts them.
func (s *Set) summarize() *Summary {
	out := &Summary{
		Tool: "refract " + refract.Version, Recipe: s.Recipe.Name, Metric: cmp.Or(s.Metric, s.Recipe.Metric),
		Model: s.Teacher.Name, Revision: s.Teacher.Revision, Seed: s.Seed, License: s.License, Inputs: s.Inputs,
		Items: len(s.Items), LeftOut: map[string]int{}, ByTask: map[string]int{}, Errors: map[string]int{},
		PromptHashes: s.served, Steps: s.Steps, ValidationPer: s.Validation,
	}
	for _, it := range s.Items {
		if it.Rule != "" {
			out.LeftOut[it.Rule]++
			continue
		}
		out.Examples++
		out.ByTask[strings.TrimSpace(it.Task+" "+it.Channel)]++
		if it.Validation = isValidation(s.Seed, s.Validation, it.Group); it.Validation {
			out.Validation++
		}
		for _, e := range it.Errors {
			out.Errors[strings.Join(strings.Fields(string(e.Severity)+" "+e.Dimension+" "+e.Aspect), " ")]++
		}
	}
	out.Train = out.Examples - out.Validation
	return out
}

// example is a row of a file of examples: a prompt and its completion, or both as the
// messages of a chat.
type example struct {
	Prompt     string    `json:"prompt,omitempty"`
	Completion string    `json:"completion,omitempty"`
	Messages   []message `json:"messages,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Write writes the folder. Examples have the form of the metric's requests.
func (s *Set) Write(to Folder) (*Summary, error) {
	if s.NotMade > 0 {
		s.Notes = append(s.Notes, english.Count(s.NotMade, "error")+" that the model says it could not make (N/A); no example has them.")
	}
	sum := s.summarize()
	rows := map[string][]example{} // by file
	for _, it := range s.Items {
		name := "train.jsonl"
		if it.Validation {
			name = "validation.jsonl"
		}
		row := example{Prompt: it.Prompt, Completion: it.Completion}
		if s.served[0].Endpoint != llm.Completions {
			row = example{Messages: []message{{"user", it.Prompt}, {"assistant", it.Completion}}}
		}
		if it.Rule == "" {
			rows[name] = append(rows[name], row)
		}
	}
	var splits []publish.Split
	for _, name := range []string{"train", "validation"} {
		if path := name + ".jsonl"; rows[path] != nil {
			splits = append(splits, publish.Split{Name: name, Path: path})
		}
	}
	front := publish.NewFrontMatter("", s.License, sum.Examples, splits, "evaluation", "synthetic")
	var counted strings.Builder
	if err := sum.Table().Write(&counted, report.Markdown, true); err != nil {
		return nil, err
	}
	card, err := publish.FillCard(cardTemplate, map[string]any{"Set": s, "Summary": sum, "FrontMatter": front, "Counted": counted.String()})
	if err != nil {
		return nil, err
	}
	files := map[string]func(io.Writer) error{
		"items.jsonl": jsonLines(s.Items, ""), "build.json": jsonLines([]*Summary{sum}, "  "), cardFile: verbatim(card),
	}
	for name, examples := range rows {
		files[name] = jsonLines(examples, "")
	}
	for name, content := range s.Recipe.files { // for users to change and pass to LoadRecipe
		files["recipe/"+name] = verbatim(content)
	}
	for name, write := range files {
		if err := to.Write(name, write); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func verbatim(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

func jsonLines[T any](values []T, indent string) func(io.Writer) error {
	return func(w io.Writer) error {
		enc := json.NewEncoder(jsonline.Escaping{To: w})
		enc.SetEscapeHTML(false)
		enc.SetIndent("", indent)
		for _, v := range values {
			if err := enc.Encode(v); err != nil {
				return err
			}
		}
		return nil
	}
}

//go:embed card.md.tmpl
var cardTemplate string

// Table shows how many items became examples, and which rules left out the others.
func (sum *Summary) Table() *report.NamedTable {
	t := &report.NamedTable{Title: "items", Columns: []report.Column{{Name: "what"}, {Name: "items", Kind: report.KindInt}}}
	t.Add("asked for", sum.Items)
	for _, rule := range rules {
		if n := sum.LeftOut[rule]; n > 0 {
			t.Add("left out: "+rule, n)
		}
	}
	t.Add("examples", sum.Examples)
	t.Add("of them for training", sum.Train)
	t.Add("of them for validation", sum.Validation)
	return t
}
