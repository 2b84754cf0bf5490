package answer

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Schema returns the JSON schema of the answers, to ask a server for structured
// output with: every object is closed and requires all of its members, as
// OpenAI's strict mode wants it, and ranges stand in descriptions, which not
// every server can enforce. It is nil for the kinds that are not JSON, for
// paths with an index and for a spec that New refuses.
func (s Spec) Schema() json.RawMessage {
	schema := s.schema()
	if schema == nil {
		return nil
	}
	b, err := json.Marshal(schema)
	if err != nil { // it has strings, lists of them and truth values
		panic(fmt.Sprintf("answer: schema: %v", err))
	}
	return b
}

func (s Spec) schema() map[string]any {
	c, err := s.complete()
	if err != nil || c.Kind != JSON && c.Kind != Errors {
		return nil
	}
	steps, err := parsePath(c.Path)
	if err != nil {
		return nil
	}
	inner := c.errorsSchema()
	if c.Kind == JSON {
		inner = c.numberSchema()
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].index >= 0 {
			return nil
		}
		inner = closedObject(members{{steps[i].name, inner}})
	}
	return inner
}

// members are the properties of an object, in JSON in their own order: servers
// make models write them in the order of the schema.
type members []member

type member struct {
	name   string
	schema any
}

func (ms members) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range ms {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(m.schema)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, name...), ':'), schema...)
	}
	return append(b, '}'), nil
}

func closedObject(properties members) map[string]any {
	names := make([]string, len(properties))
	for i, m := range properties {
		names[i] = m.name
	}
	return map[string]any{"type": "object", "properties": properties, "required": names, "additionalProperties": false}
}

func (s Spec) numberSchema() map[string]any {
	number := map[string]any{"type": "number"}
	if s.Integer {
		number["type"] = "integer"
	}
	switch {
	case s.Lower != nil && s.Upper != nil:
		number["description"] = fmt.Sprintf("from %v to %v", *s.Lower, *s.Upper)
	case s.Lower != nil:
		number["description"] = fmt.Sprintf("at least %v", *s.Lower)
	case s.Upper != nil:
		number["description"] = fmt.Sprintf("at most %v", *s.Upper)
	}
	return number
}

func (s Spec) errorsSchema() map[string]any {
	var properties members
	add := func(name string, schema map[string]any) {
		if name != "" {
			properties = append(properties, member{name, schema})
		}
	}
	text := map[string]any{"type": "string"}
	add(s.Fields.Location, text)
	add(s.Fields.Dimension, text)
	add(s.Fields.Aspect, text)
	// The explanation comes before what follows from it.
	add(s.Fields.Explanation, text)
	add(s.Fields.Severity, map[string]any{"type": "string", "enum": s.severities()})
	if s.Weights == nil {
		penalty := map[string]any{"type": "number"}
		if s.Form == XGPTScore {
			penalty["description"] = "from 0.5 to 5"
		}
		add(s.Fields.Penalty, penalty)
	}
	return map[string]any{"type": "array", "items": closedObject(properties)}
}

// severities lists the words for severities: those with a weight, capitalized
// where the published prompt has them so.
func (s Spec) severities() []any {
	var all []any
	for _, severity := range []analysis.Severity{analysis.Critical, analysis.Major, analysis.Minor} {
		_, weighted := s.Weights[severity]
		if weighted || s.Weights == nil && severity != analysis.Critical {
			word := string(severity)
			if s.Form == XGPTScore {
				word = strings.ToUpper(word[:1]) + word[1:]
			}
			all = append(all, word)
		}
	}
	return all
}
