package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refract-eval/refract/metrics/analysis"
)

// Schema returns the JSON schema of the answers, for requesting structured output from a
// server. As OpenAI's strict mode demands, every object is closed and requires all its
// members. Ranges are in descriptions, because not every server can enforce them. Schema
// returns nil for kinds that are not JSON, and for a spec that New refuses.
func (s Spec) Schema() json.RawMessage {
	c, err := s.complete()
	if err != nil || c.Kind != JSON && c.Kind != Errors {
		return nil
	}
	inner := c.errorsSchema()
	if c.Kind == JSON {
		inner = c.numberSchema()
	}
	for _, name := range slices.Backward(strings.Split(c.Path, ".")) {
		inner = closedObject([]string{name}, []string{inner})
	}
	return json.RawMessage(inner)
}

// closedObject returns the schema of an object. It keeps the order of the members, because
// servers make models write them in the order of the schema.
func closedObject(names, schemas []string) string {
	var members, required []string
	for i, name := range names {
		quoted, _ := json.Marshal(name) // never fails for a string
		required = append(required, string(quoted))
		members = append(members, string(quoted)+":"+schemas[i])
	}
	return `{"additionalProperties":false,"properties":{` + strings.Join(members, ",") + `},"required":[` + strings.Join(required, ",") + `],"type":"object"}`
}

func (s Spec) numberSchema() string {
	kind, bounds := "number", ""
	if s.Integer {
		kind = "integer"
	}
	switch {
	case s.Lower != nil && s.Upper != nil:
		bounds = fmt.Sprintf(`"description":"from %v to %v",`, *s.Lower, *s.Upper)
	case s.Lower != nil:
		bounds = fmt.Sprintf(`"description":"at least %v",`, *s.Lower)
	case s.Upper != nil:
		bounds = fmt.Sprintf(`"description":"at most %v",`, *s.Upper)
	}
	return `{` + bounds + `"type":"` + kind + `"}`
}

func (s Spec) errorsSchema() string {
	var names, schemas []string
	add := func(name, schema string) {
		if name != "" {
			names, schemas = append(names, name), append(schemas, schema)
		}
	}
	// The explanation comes before the severity and penalty, which follow from it.
	for _, name := range []string{s.Fields.Location, s.Fields.Dimension, s.Fields.Aspect, s.Fields.Explanation} {
		add(name, `{"type":"string"}`)
	}
	add(s.Fields.Severity, `{"enum":[`+strings.Join(s.severities(), ",")+`],"type":"string"}`)
	switch {
	case s.Weights != nil:
	case s.Form == XGPTScore:
		add(s.Fields.Penalty, `{"description":"from 0.5 to 5","type":"number"}`)
	default:
		add(s.Fields.Penalty, `{"type":"number"}`)
	}
	return `{"items":` + closedObject(names, schemas) + `,"type":"array"}`
}

// severities lists the words for severities that have a weight, capitalized if the
// published prompt capitalizes them.
func (s Spec) severities() []string {
	var all []string
	for _, severity := range worstFirst {
		_, weighted := s.Weights[severity]
		if weighted || s.Weights == nil && severity != analysis.Critical {
			word := string(severity)
			if s.Form == XGPTScore {
				word = strings.ToUpper(word[:1]) + word[1:]
			}
			all = append(all, strconv.Quote(word))
		}
	}
	return all
}
