package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// ordered is a JSON object whose members keep their order. After its end, the slice has the
// members of the line before, so that a name on all lines is stored once.
type ordered[T any, V value[T]] []member[T]

type member[T any] struct {
	name  string
	value T
}

// value is what members have: it replaces what it was by what it reads, and errors name the member.
type value[T any] interface {
	*T
	appender
	read(d *jsontext.Decoder, name string) error
}

type (
	hypotheses = ordered[jsonText, *jsonText]     // by system
	scores     = ordered[Score, *Score]           // by system
	judgements = ordered[scores, *scores]         // by their names
	ratings    = ordered[judgements, *judgements] // by rater
)

// UnmarshalJSONFrom reads the object; null is an empty one.
func (o *ordered[T, V]) UnmarshalJSONFrom(d *jsontext.Decoder) error { return o.read(d, "") }

func (o *ordered[T, V]) read(d *jsontext.Decoder, _ string) error {
	*o = (*o)[:0]
	switch d.PeekKind() {
	case 'n':
		return d.SkipValue()
	case '{':
	default:
		return errors.New("must be an object")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return err
		}
		m := o.grow()
		if string(name[1:len(name)-1]) != m.name {
			m.name = unquoted(name)
		}
		if m.name == "" {
			return errNoName
		}
		if err := V(&m.value).read(d, m.name); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// errNoName says that a system, a score or a rater has no name.
var errNoName = errors.New("has an empty name")

// grow returns a further member, which may be one of the line before.
func (o *ordered[T, V]) grow() *member[T] {
	n := len(*o)
	*o = slices.Grow(*o, 1)[:n+1]
	return &(*o)[n]
}

// add adds a member.
func (o *ordered[T, V]) add(name string) *T {
	m := o.grow()
	*m = member[T]{name: name}
	return &m.value
}

// of returns the value of a member, and adds it if there is none.
func (o *ordered[T, V]) of(name string) *T {
	if i := slices.IndexFunc(*o, func(m member[T]) bool { return m.name == name }); i >= 0 {
		return &(*o)[i].value
	}
	return o.add(name)
}

func (o ordered[T, V]) appendJSON(b []byte) []byte {
	b = append(b, '{')
	for i := range o {
		b = append(jsonline.AppendString(comma(b, i), o[i].name), ':')
		b = V(&o[i].value).appendJSON(b)
	}
	return append(b, '}')
}

func (s *Score) read(d *jsontext.Decoder, system string) error {
	*s = Score{}
	v, err := d.ReadValue()
	if err != nil || v.Kind() == 'n' {
		return err
	}
	if s.Value, err = strconv.ParseFloat(string(v), 64); err != nil {
		return fmt.Errorf("of system %s must be a number or null", text.Quote(system))
	}
	s.Valid = true
	return nil
}

func (s *Score) appendJSON(b []byte) []byte {
	if !s.Valid {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, s.Value, 'g', -1, 64)
}
