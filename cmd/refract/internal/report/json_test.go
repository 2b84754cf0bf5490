package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract/internal/text"
)

// checkJSON compares one decoded object with the row that it was made from.
func checkJSON(t rapid.TB, object map[string]json.RawMessage, columns []Column, row []Value) {
	require.Equal(t, len(columns), len(object), "%d keys for %d columns", len(object), len(columns))
	for i, c := range columns {
		raw, v := object[c.Name], row[i]
		if !v.present || math.IsInf(v.low, 0) || math.IsInf(v.high, 0) {
			require.Equal(t, "null", string(raw), "column %s: %s, want null", c.Name, raw)
			continue
		}
		var err error
		same := false
		switch c.Kind {
		case KindString:
			var got string
			err = json.Unmarshal(raw, &got)
			same = got == validUTF8(v.text)
		case KindInt:
			var got int
			err = json.Unmarshal(raw, &got)
			same = got == v.integer
		case KindFloat:
			var got float64
			err = json.Unmarshal(raw, &got)
			same = sameFloat(got, v.low)
		case KindInterval:
			var got []float64
			err = json.Unmarshal(raw, &got)
			same = len(got) == 2 && sameFloat(got[0], v.low) && sameFloat(got[1], v.high)
		}
		require.True(t, err == nil && same, "column %s: %s does not decode to %+v (error %v)", c.Name, raw, v, err)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := anyRows(t)
		for _, format := range []Format{JSON, JSONLines} {
			var out bytes.Buffer
			w := NewWriter(&out, format, columns, Options{})
			writeAll(t, w, rows)
			if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && text.Hidden(r) }) {
				t.Fatalf("hidden character in %q", out.String())
			}
			var err error
			objects := make([]map[string]json.RawMessage, strings.Count(out.String(), "\n"))
			if format == JSON {
				err = json.Unmarshal(out.Bytes(), &objects)
			} else {
				for i, line := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")[:len(objects)] {
					err = errors.Join(err, json.Unmarshal([]byte(line), &objects[i]))
				}
			}
			if err != nil || objects == nil || len(objects) != len(rows) {
				t.Fatalf("%s: %d objects for %d rows: %v", format, len(objects), len(rows), err)
			}
			for i, row := range rows {
				checkJSON(t, objects[i], columns, row)
			}
		}
	})
}

// The keys of an object keep the order of the columns, whatever they hold.
func TestJSONKeys(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, JSONLines, []Column{{Name: `z"`}, {Name: "a\n"}, {Name: "ü"}}, Options{})
	writeAll(t, w, [][]Value{{String("1"), String("<&>"), Null()}})
	assert.Equal(t, `{"z\"":"1","a\n":"<&>","ü":null}`+"\n", out.String())
}
