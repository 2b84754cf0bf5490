package program

import "github.com/refract-eval/refract/internal/jsonline"

// read reads a line that is one object, of which all members are known and there
// once. A member that is null is as one that is not there.
func read(line []byte, into any) error { return jsonline.Unmarshal(line, into, "a line") }
