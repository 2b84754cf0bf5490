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

// scan splits a template's text at its variables; a piece's Field is the name of any
// variable.
func scan(text string) (template, error) {
	var t template
	literal := func(s string) {
		if s != "" {
			t = append(t, piece{Text: s})
		}
	}
	last := 0
	for _, m := range braceForm.FindAllStringSubmatchIndex(text, -1) {
		literal(text[last:m[0]])
		last = m[1]
		switch braces := text[m[0]:m[1]]; {
		case m[2] >= 0:
			t = append(t, piece{Field: text[m[2]:m[3]]})
		case len(braces) == 2:
			literal(braces[:1])
		case braces == "}":
			return nil, errors.New("a \"}\" that closes nothing; write \"}}\" for a brace")
		default:
			return nil, errors.New("a \"{\" that opens no variable such as {src}; write \"{{\" for a brace")
		}
	}
	literal(text[last:])
	return t, nil
}

// variable is what a template may name: another template, or literal text.
type variable struct {
	text    string
	literal bool
}

// maxTemplate bounds a template after filling in its variables: bytes plus variables.
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

func (c *compiler) add(text string) error {
	parts, err := scan(text)
	if err != nil {
		return err
	}
	for _, p := range parts {
		v, known := c.variables[p.Field]
		switch {
		case p.Field == "":
			c.pending.WriteString(p.Text)
		case isField(p.Field):
			c.flush()
			c.done = append(c.done, p)
		case !known:
			names := append(slices.Sorted(maps.Keys(c.variables)), sourceVar, referenceVar, outputVar, answerVar)
			return errors.New(english.Unknown("variable", p.Field, names))
		case v.literal:
			c.room -= len(v.text)
			c.pending.WriteString(v.text)
		case slices.Contains(c.path, p.Field):
			return fmt.Errorf("{%s} contains itself", p.Field)
		default:
			c.path = append(c.path, p.Field)
			if err := c.add(v.text); err != nil {
				return err
			}
			c.path = c.path[:len(c.path)-1]
		}
		if c.room -= 1 + len(p.Text); c.room < 0 {
			return fmt.Errorf("the prompt grows beyond %d bytes", maxTemplate)
		}
	}
	return nil
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
