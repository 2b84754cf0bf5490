package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	intext "github.com/refract-eval/refract/internal/text"
)

// dangerous reports whether a spreadsheet would take a field for a formula. It is written
// independently of the code under test.
func dangerous(s string) bool {
	return s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(s)[0])
}

// checkField compares a decoded field of a present value with the value.
func checkField(t rapid.TB, field string, v Value, text func(string) string) {
	same := false
	switch v.kind {
	case KindString:
		require.False(t, dangerous(field), "%q may be taken for a formula", field)
		same = intext.Unguarded(field) == text(withoutControls(validUTF8(v.text)))
		if strings.ContainsFunc(field, isControl) {
			t.Fatalf("%q has a control character, which could reach a terminal", field)
		}
	case KindInt:
		n, err := strconv.Atoi(field)
		same = err == nil && n == v.integer
	case KindFloat:
		f, err := strconv.ParseFloat(field, 64)
		same = err == nil && sameFloat(f, v.low)
	case KindInterval:
		low, high, ok := strings.Cut(field, "..")
		a, errLow := strconv.ParseFloat(low, 64)
		b, errHigh := strconv.ParseFloat(high, 64)
		same = ok && errLow == nil && errHigh == nil && sameFloat(a, v.low) && sameFloat(b, v.high)
	}
	require.True(t, same, "%q does not decode to %+v", field, v)
}

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := anyRows(t)
		var out bytes.Buffer
		w := NewWriter(&out, CSV, columns, Options{})
		writeAll(t, w, rows)
		records, err := csv.NewReader(&out).ReadAll()
		require.NoError(t, err)
		require.Len(t, records, len(rows)+1, "%d records for %d rows and a header", len(records), len(rows))
		for i, c := range columns {
			require.Equal(t, c.Name, records[0][i], "header")
			for r, row := range rows {
				if field := records[r+1][i]; row[i].present {
					// encoding/csv makes LF of a quoted CRLF.
					checkField(t, field, row[i], func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") })
				} else if field != "" {
					t.Fatalf("missing %v is %q", c.Kind, field)
				}
			}
		}
	})
}

func TestTSVRoundTrip(t *testing.T) {
	unescape := strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\r`, "\r", `\\`, `\`)
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := anyRows(t)
		var out bytes.Buffer
		w := NewWriter(&out, TSV, columns, Options{})
		writeAll(t, w, rows)
		require.NotContains(t, out.String(), "\r", "carriage return in")
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		require.Len(t, lines, len(rows)+1, "%d lines for %d rows and a header", len(lines), len(rows))
		for r, row := range rows {
			fields := strings.Split(lines[r+1], "\t")
			require.Len(t, fields, len(columns), lines[r+1])
			for i, v := range row {
				null := fields[i] == `\N` || fields[i] == "" && columns[i].Kind != KindString
				if null == v.present {
					t.Fatalf("field %q for %+v", fields[i], v)
				}
				if v.present {
					if dangerous(fields[i]) && v.kind == KindString {
						t.Fatalf("%q may be taken for a formula", fields[i])
					}
					checkField(t, unescape.Replace(fields[i]), v, func(s string) string { return s })
				}
			}
		}
	})
}
