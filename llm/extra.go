package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ParseExtra reads fields for Request.Extra: a JSON object, whose numbers stay as
// they are written.
func ParseExtra(s string) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var out map[string]any
	err := dec.Decode(&out)
	if err == nil && dec.More() {
		err = errors.New("there is more after the object")
	}
	if err != nil || out == nil {
		return nil, fmt.Errorf("%q is no JSON object (%v)", s, err)
	}
	return out, nil
}
