package program

import "github.com/refract-eval/refract/internal/jsonline"

// read reads a line that is one object, whose fields must be known and unique. A null field
// counts as absent, and NaN and infinities as null.
func read(line []byte, into any) error {
	return jsonline.Unmarshal(jsonline.Finite(line), into, "a line")
}
