package neural

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/refract-eval/refract/metrics"
)

// facts are what a model says about itself, in its output "facts".
type facts struct {
	Name      string                     `json:"name"`
	Version   string                     `json:"version"`
	Signature map[string]json.RawMessage `json:"signature"`
	Needs     []string                   `json:"needs"`
	Direction string                     `json:"direction"`
	Lower     *float64                   `json:"lower"`
	Upper     *float64                   `json:"upper"`

	info metrics.Info // direction and bounds
	text string       // compact JSON, for comparison
}

func parseFacts(text string) (*facts, error) {
	var f facts
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, errors.New("gave facts that are not JSON of the documented form")
	}
	if f.Name == "" || f.Version == "" {
		return nil, errors.New("gave facts without a name and a version")
	}
	var err error
	if f.info, err = metrics.Declared(f.Direction, f.Lower, f.Upper); err != nil {
		return nil, fmt.Errorf("gave facts with %w", err)
	}
	for key := range f.Signature {
		if !plain.MatchString(key) {
			return nil, fmt.Errorf("gave facts whose signature has the key %.60q", key)
		}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, err
	}
	f.text = b.String()
	return &f, nil
}

// plain are keys of a signature.
var plain = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// ownKeys are the keys that sign sets.
var ownKeys = []string{"model", "model-version", "platform", "datatype", "metric", "metric-version", "output"}

// sign appends the facts to a signature.
func (f *facts) sign(s metrics.Signature) metrics.Signature {
	s = s.With("metric", f.Name).With("metric-version", f.Version)
	for _, key := range slices.Sorted(maps.Keys(f.Signature)) {
		var text string // any value other than a string keeps its JSON form
		if json.Unmarshal(f.Signature[key], &text) != nil {
			text = string(f.Signature[key])
		}
		if metrics.IsReserved(key, ownKeys...) {
			key = "model-" + key
		}
		s = s.With(key, text)
	}
	return s
}
