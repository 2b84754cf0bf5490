package jsonline

// Field is a field of an object: its name, and what reads its value.
type Field struct {
	Name     string
	Read     func() error
	Optional bool  // null is as if it was not there
	Seen     *bool // is set where it is there, if not nil
}

// With is the field of a name, whose value a function reads.
func With(name string, read func() error) Field { return Field{Name: name, Read: read} }

// To is the field of a name, whose value goes to a place.
func To[T any](name string, place *T, read func() (T, error)) Field {
	return With(name, to(place, read))
}

// Noted is a field that sets whether it is there.
func (f Field) Noted(seen *bool) Field {
	f.Seen = seen
	return f
}

func to[T any](place *T, read func() (T, error)) func() error {
	return func() (err error) {
		*place, err = read()
		return err
	}
}
