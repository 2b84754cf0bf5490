package cache

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// Params are the sampling parameters of a request, as a JSON object in a canonical form,
// so that equal parameters are equal strings: names are sorted by their bytes, there is no
// white space, 1.0 is written as 1, integers are exact, and other numbers have the
// shortest digits that identify a float64. "" means no parameters.
//
// An absent parameter (the server's default) differs from one that is stated as 0 or
// null.
type Params string

// NewParams returns the parameters in canonical form. A value that JSON cannot express,
// such as NaN, an infinity or a string that is not UTF-8, is an error.
func NewParams(values map[string]any) (Params, error) {
	b, err := json.Marshal(values, json.WithMarshalers(json.MarshalFunc(func(n stdjson.Number) ([]byte, error) { return []byte(n), nil })))
	if err != nil {
		return "", fmt.Errorf("sampling parameters: %w", err)
	}
	return Params(b).inForm()
}

// Without returns the parameters without those of the given names.
func (p Params) Without(names ...string) (Params, error) { return p.inForm(names...) }

// inForm returns a JSON object of parameters in canonical form, without those of the given names.
func (p Params) inForm(without ...string) (_ Params, err error) {
	if p == "" {
		return "", nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("sampling parameters: %w", err)
		}
	}()
	if err := validText("text", string(p)); err != nil {
		return "", err
	}
	dec := stdjson.NewDecoder(strings.NewReader(string(p)))
	dec.UseNumber()
	var values map[string]any
	if dec.Decode(&values) != nil {
		return "", errors.New("no JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("text after the JSON object")
	}
	if values == nil {
		return "", errors.New("null, want a JSON object")
	}
	for _, name := range without {
		delete(values, name)
	}
	if len(values) == 0 {
		return "", nil
	}
	b, err := appendValue(nil, values)
	return Params(b), err
}

// MarshalJSON writes the parameters as a JSON object.
func (p Params) MarshalJSON() ([]byte, error) {
	if p == "" {
		return []byte("{}"), nil
	}
	return []byte(p), nil
}

// UnmarshalJSON reads a JSON object of parameters, in any form.
func (p *Params) UnmarshalJSON(b []byte) (err error) {
	*p, err = Params(b).inForm()
	return err
}

// appendValue appends a value from a decoder that uses json.Number.
func appendValue(b []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case stdjson.Number:
		return appendNumber(b, string(v))
	case []any:
		b = append(b, '[')
		for _, v := range v {
			if b, err = appendValue(b, v); err != nil {
				return nil, err
			}
			b = append(b, ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']'), nil
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if b, err = appendValue(append(appendString(b, name), ':'), v[name]); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			b = append(b, ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), '}'), nil
	}
	return append(b, "null"...), nil
}

// appendNumber keeps all digits of an integer, which a float64 may not be able to hold.
func appendNumber(b []byte, s string) ([]byte, error) {
	if n, ok := new(big.Int).SetString(s, 10); ok {
		return n.Append(b, 10), nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("number %.80q: %w", s, err)
	}
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.AppendInt(b, int64(x), 10), nil // 1.0 becomes 1
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64), nil
}

// appendString does not use encoding/json, because that has changed its choice of escapes
// before, and keys must not change with it.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
