package dataset

import (
	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/jsonline"
)

// scanLine reads a line of JSON.
func scanLine(line []byte, pos refract.Position, read func(r *jsonline.Reader) error) error {
	r := &jsonline.Reader{}
	r.Reset(line)
	err := read(r)
	if err == nil {
		err = r.End()
	}
	return placed(err, pos)
}

// scanFields reads an object on a line, and tells which fields it has. noun and
// hint are for the error that one of the needed fields is not there.
func scanFields(line []byte, pos refract.Position, known, needed []string, noun, hint string, read func(r *jsonline.Reader, name string) error) (has map[string]bool, err error) {
	has = map[string]bool{}
	err = scanLine(line, pos, func(r *jsonline.Reader) error {
		return r.Fields(known, func(name string) error {
			has[name] = true
			return read(r, name)
		})
	})
	for _, field := range needed {
		if err == nil && !has[field] {
			err = failAt(pos, 0, "the %s has no field %q%s", noun, field, hint)
		}
	}
	return has, err
}

// placed gives an error of a line its position.
func placed(err error, pos refract.Position) error {
	if err == nil {
		return nil
	}
	switch e := err.(type) {
	case *Error:
		return e
	case *jsonline.Error:
		return &Error{Pos: pos, Column: e.Offset + 1, Err: e}
	}
	return &Error{Pos: pos, Err: err}
}

// scanFile reads a whole file of JSON.
func scanFile(path string, warn func(Warning), read func(r *jsonline.Reader) error) error {
	b, err := readFile(path)
	if err == nil {
		b, err = checkEncoding(path, b, warn)
	}
	if err != nil {
		return err
	}
	r := jsonline.NewFileReader(b)
	if err = read(r); err == nil {
		err = r.End()
	}
	if e, ok := err.(*jsonline.Error); ok {
		line, column := r.Position(e.Offset)
		return &Error{Pos: refract.Position{File: path, Line: line}, Column: column, Err: e}
	}
	return err
}

// readText reads a string, or null as a missing text.
func readText(r *jsonline.Reader) (refract.Text, error) {
	s, ok, err := r.OptionalString()
	return refract.Text{Value: s, Valid: ok}, err
}

// readOptional reads a string, or null as "".
func readOptional(r *jsonline.Reader) (string, error) {
	s, _, err := r.OptionalString()
	return s, err
}

// readName is readOptional for what repeats from line to line.
func readName(r *jsonline.Reader, names *jsonline.Names) (string, error) {
	b, _, err := r.OptionalBytes()
	return names.Get(b), err
}

// readTexts reads an array of texts, of which some may be null; null is none.
func readTexts(r *jsonline.Reader) (all []refract.Text, err error) {
	err = r.OrNull(func() error {
		return r.Elements(func(int) error {
			t, err := readText(r)
			all = append(all, t)
			return err
		})
	})
	return all, err
}

// readID reads a string that is not empty, or a number, of which the literal
// text is kept.
func readID(r *jsonline.Reader) (string, error) {
	at := r.Offset()
	b, err := r.ID()
	if err == nil && len(b) == 0 {
		err = jsonline.Unwanted(at, "a non-empty string or a number", "empty")
	}
	return string(b), err
}
