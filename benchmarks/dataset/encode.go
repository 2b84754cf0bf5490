package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/jsonline"
	"github.com/refract-eval/refract/internal/text"
)

// Encoder writes segments as JSON Lines. Reading them back gives the same segments, except
// for their positions, the order of judgements with different names and of raters, and the
// difference between nil and empty slices.
type Encoder struct {
	w   io.Writer
	row record
	buf []byte
}

// NewEncoder returns an Encoder that makes one Write per segment; give it a
// buffered writer for speed.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Encode writes one line: the fields in a fixed order, without empty ones (references are
// always written), and without HTML escapes. A segment that could not be read back is an
// error, and nothing is written.
func (e *Encoder) Encode(s *refract.Segment) error {
	err := e.row.fill(s)
	if err == nil {
		e.buf = e.row.append(e.buf[:0])
		_, err = e.w.Write(e.buf)
	}
	if err != nil {
		return fmt.Errorf("cannot write segment %s: %w", text.Quote(s.ID), err)
	}
	return nil
}

// append appends a record as a line.
func (r *record) append(b []byte) []byte {
	return append(appendValue(b, reflect.ValueOf(r).Elem()), '\n')
}

// appender is a value that writes itself as JSON.
type appender interface{ appendJSON(b []byte) []byte }

// appendValue appends a value as JSON, with the invisible characters escaped and objects as
// they were written, as no library does.
func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return appendValue(b, v.Elem())
	case reflect.String:
		return jsonline.AppendString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			b = appendValue(comma(b, i), v.Index(i))
		}
		return append(b, ']')
	case reflect.Struct:
		b = append(b, '{')
		n := 0
		for _, f := range jsonFields(v.Type()) {
			value := v.Field(f.index)
			if f.omitEmpty && (value.IsZero() || f.slice && value.Len() == 0) {
				continue
			}
			b = append(comma(b, n), f.key...)
			if n++; f.appender {
				b = value.Addr().Interface().(appender).appendJSON(b)
			} else {
				b = appendValue(b, value)
			}
		}
		return append(b, '}')
	default:
		return strconv.AppendInt(b, v.Int(), 10)
	}
}

// jsonField is a field of a struct as JSON has it.
type jsonField struct {
	index                      int
	key                        string // with its colon
	omitEmpty, slice, appender bool
}

var fieldsOf sync.Map // the []jsonField of a reflect.Type

// jsonFields returns the fields of a struct that have a name in JSON.
func jsonFields(t reflect.Type) []jsonField {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]jsonField)
	}
	var all []jsonField
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			all = append(all, jsonField{f.Index[0], strconv.Quote(name) + ":", options == "omitempty", f.Type.Kind() == reflect.Slice, reflect.PointerTo(f.Type).Implements(reflect.TypeFor[appender]())})
		}
	}
	fieldsOf.Store(t, all)
	return all
}

func (t jsonText) appendJSON(b []byte) []byte {
	if !t.text.Valid {
		return append(b, "null"...)
	}
	return jsonline.AppendString(b, t.text.Value)
}

func (o object) appendJSON(b []byte) []byte { return append(b, o...) }

// comma separates elements.
func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// checkSystems checks that systems and scores have names, and that a system has at most one output, and one finite score of a name.
func checkSystems(s *refract.Segment) error {
	seen := make(map[[2]string]bool, len(s.Judgements)) // names and systems
	again := func(name, system string) bool {
		key := [2]string{name, system}
		defer func() { seen[key] = true }()
		return seen[key]
	}
	for i := range s.Hypotheses {
		if name := s.Hypotheses[i].System; name == "" {
			return errors.New("a system has no name")
		} else if again("", name) {
			return fmt.Errorf("system %s has two hypotheses", text.Quote(name))
		}
	}
	clear(seen)
	for _, j := range s.Judgements {
		finite := func(score float64) bool { return !math.IsNaN(score) && !math.IsInf(score, 0) }
		if j.Valid && !finite(j.Score) || slices.ContainsFunc(j.Ratings, func(r refract.Rating) bool { return !finite(r.Score) }) {
			return fmt.Errorf("the score %s of system %s is %v, which JSON cannot hold", text.Quote(j.Name), text.Quote(j.System), j.Score)
		}
		if j.Name == "" || j.System == "" {
			return errors.New("a score, or its system, has no name")
		}
		if again(j.Name, j.System) {
			return fmt.Errorf("system %s has two scores %s", text.Quote(j.System), text.Quote(j.Name))
		}
	}
	return nil
}

// checkUTF8 checks all texts except those of variants.
func checkUTF8(s *refract.Segment) error {
	all := []string{s.ID, s.Document, s.Domain, s.Source.Value}
	for _, r := range s.References {
		all = append(all, r.Value)
	}
	for i := range s.Hypotheses {
		all = append(all, s.Hypotheses[i].System, s.Hypotheses[i].Text.Value)
	}
	for _, j := range s.Judgements {
		all = append(all, j.Name, j.System)
		for _, r := range j.Ratings {
			all = append(all, r.Rater)
		}
	}
	if i := slices.IndexFunc(all, func(s string) bool { return !utf8.ValidString(s) }); i >= 0 {
		return fmt.Errorf("it has %s, which is not UTF-8", text.Quote(all[i]))
	}
	return nil
}

// checkParents checks that the variants of a segment, also rejected ones, belong to one of
// n references.
func checkParents(s *refract.Segment, n int) error {
	for _, list := range []struct {
		field    string
		variants []refract.Variant
	}{{"variants", s.Variants}, {"rejected", s.Rejected}} {
		for i := range list.variants {
			if r := list.variants[i].Reference; r < 0 || r >= n {
				return fmt.Errorf("segment %s: %s[%d] is of reference %d, but the segment has %s (the first is 0)", text.Quote(s.ID), list.field, i, r, english.Count(n, "reference"))
			}
		}
	}
	return nil
}

// checkVariants checks that the variants of a segment belong to its references.
func checkVariants(s *refract.Segment) error { return checkParents(s, len(s.References)) }

// checkObject checks that a text, unless it is "", is a JSON object on one line.
func checkObject(s, what string) error {
	if s != "" && (s[0] != '{' || strings.Contains(s, "\n") || !jsontext.Value(s).IsValid()) {
		return fmt.Errorf("has the %s %s, which are not a JSON object on one line", what, text.Quote(s))
	}
	return nil
}

// checkNumbers checks the ranges of a variant's numbers.
func checkNumbers(v *refract.Variant) error {
	switch {
	case v.Sample < 0:
		return fmt.Errorf("has the sample %d", v.Sample)
	case v.Origin == nil:
		return nil
	case v.Origin.PromptTokens < 0 || v.Origin.CompletionTokens < 0:
		return fmt.Errorf("has %d tokens", min(v.Origin.PromptTokens, v.Origin.CompletionTokens))
	}
	if y := v.Origin.Created.UTC().Year(); y < 0 || y > 9999 {
		return fmt.Errorf("was created in the year %d, which RFC 3339 cannot hold", y)
	}
	return nil
}
