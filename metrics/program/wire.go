package program

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// read reads a line that is one object, of which all members are known and there
// once. A member that is null is as one that is not there.
func read(line []byte, into any) error {
	err := json.Unmarshal(line, into, json.RejectUnknownMembers(true))
	var kind *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &kind) && errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("unknown member %s", kind.JSONPointer)
	case errors.As(err, &kind):
		return fmt.Errorf("%s cannot be the %s that it is", kind.JSONPointer, kind.JSONKind)
	case errors.As(err, &syntax):
		rest := bytes.TrimPrefix(line[min(int(syntax.ByteOffset), len(line)):], []byte("-"))
		for _, word := range []string{"NaN", "Infinity"} {
			if bytes.HasPrefix(rest, []byte(word)) {
				return fmt.Errorf("%s is no JSON; give null for a cell that could not be scored", word)
			}
		}
		return fmt.Errorf("bad JSON at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	return err
}
