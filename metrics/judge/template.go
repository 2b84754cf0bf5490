package judge

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/guard"
)

// The variables for the texts of a segment, and for the answer to the previous turn.
const (
	sourceVar    = "src"
	referenceVar = "ref"
	outputVar    = "out"
	answerVar    = "answer"
)

func isField(name string) bool {
	return name == sourceVar || name == referenceVar || name == outputVar || name == answerVar
}

// template is a text in which all variables except those of the segment are filled in. It
// is rendered in one pass, so nothing in a text is ever expanded.
type template []piece

// piece is literal text, or a text of the segment if Field is set.
type piece struct {
	Text  string `json:"text,omitempty"`
	Field string `json:"field,omitempty"` // src, ref, out or answer
}

// The form of variable names, and the parts of a template with braces.
var (
	nameForm  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	braceForm = regexp.MustCompile(`\{\{|\}\}|\{([a-z][a-z0-9_]*)\}|[{}]`)
)

// variable is what a template may name: another template, or literal text.
type variable struct {
	text    string
	literal bool
}

// maxTemplate bounds the bytes that variables add to a template.
const maxTemplate = 1 << 20

// compile fills in all variables except those of the segment.
func compile(text string, variables map[string]variable) (template, error) {
	c := compiler{variables: variables, room: maxTemplate}
	if err := c.add(text); err != nil {
		return nil, err
	}
	c.flush()
	return c.done, nil
}

type compiler struct {
	variables map[string]variable
	done      template
	pending   strings.Builder // literal text after done
	room      int
	path      []string // the variables being filled in, each named by the one before
}

// flush merges all literal text between two fields into one piece, so that templates with
// the same content are equal.
func (c *compiler) flush() {
	if c.pending.Len() > 0 {
		c.done = append(c.done, piece{Text: c.pending.String()})
		c.pending.Reset()
	}
}

// add adds a template's text, and what its variables stand for.
func (c *compiler) add(text string) error {
	last := 0
	for _, m := range braceForm.FindAllStringSubmatchIndex(text, -1) {
		c.pending.WriteString(text[last:m[0]])
		last = m[1]
		switch braces := text[m[0]:m[1]]; {
		case m[2] >= 0:
			if err := c.fill(text[m[2]:m[3]]); err != nil {
				return err
			}
		case len(braces) == 2:
			c.pending.WriteString(braces[:1])
		case braces == "}":
			return errors.New("a \"}\" that closes nothing; write \"}}\" for a brace")
		default:
			return errors.New("a \"{\" that opens no variable such as {src}; write \"{{\" for a brace")
		}
	}
	c.pending.WriteString(text[last:])
	return nil
}

// fill adds what a variable stands for.
func (c *compiler) fill(name string) error {
	v, known := c.variables[name]
	c.room -= len(v.text)
	switch {
	case c.room < 0:
		return fmt.Errorf("the prompt grows beyond %d bytes", maxTemplate)
	case isField(name):
		c.flush()
		c.done = append(c.done, piece{Field: name})
		return nil
	case !known:
		names := append(slices.Sorted(maps.Keys(c.variables)), sourceVar, referenceVar, outputVar, answerVar)
		return english.Unknown("variable", name, names)
	case v.literal:
		c.pending.WriteString(v.text)
		return nil
	case slices.Contains(c.path, name):
		return fmt.Errorf("{%s} contains itself", name)
	}
	c.path = append(c.path, name)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.add(v.text)
}

// names reports whether the template has a field.
func (t template) names(field string) bool {
	return slices.ContainsFunc(t, func(p piece) bool { return p.Field == field })
}

// render fills the template, with or without fences around the texts. answer is the answer
// to the previous turn.
func (t template) render(f Fields, answer string, fenced bool) string {
	texts := map[string][2]string{
		sourceVar: {guard.Source, f.Source}, referenceVar: {guard.Reference, f.Reference},
		outputVar: {guard.Hypothesis, f.Hypothesis}, answerVar: {guard.Answer, answer},
	}
	var b strings.Builder
	for _, p := range t {
		text := texts[p.Field]
		switch {
		case p.Field == "":
			b.WriteString(p.Text)
		case fenced:
			b.WriteString(guard.Fence(text[0], text[1]))
		default:
			b.WriteString(text[1])
		}
	}
	return b.String()
}
