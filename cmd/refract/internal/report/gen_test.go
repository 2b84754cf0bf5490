package report

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// anyText draws strings in which syntax, controls and broken UTF-8 are
// likely.
func anyText() *rapid.Generator[string] {
	syntax := rapid.SampledFrom([]string{
		"=", "+", "-", "@", "\t", "\r", "\n", "\r\n", "'", `"`, ",", ";", `\`, `\N`, `\t`, "|", "<", "&", "&lt;", "[", "*", "{", "}",
		"%s", "://", "www.", "..", "\x00", "\x1b[2J", "\x7f", "\u0085", "\u009b", "\u2028", "\u202e", "\u2066", "\u200f", "\ufeff",
		"\u200d", "＝", "\U000e0041", "\xff", "\xe4\xb8", "中文", "e\u0301", "👩\u200d👧", " ", "a",
	})
	part := rapid.OneOf(syntax, rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	return rapid.Custom(func(t *rapid.T) string {
		var s string
		for _, p := range rapid.SliceOfN(part, 0, 5).Draw(t, "parts") {
			s += p
		}
		return s
	})
}

func anyValue(kind Kind) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		if rapid.IntRange(0, 4).Draw(t, "missing") == 0 {
			return Null()
		}
		switch kind {
		case KindInt:
			return Int(rapid.Int().Draw(t, "int"))
		case KindFloat:
			return Float(anyFloat().Draw(t, "float"))
		case KindInterval:
			return Interval(anyFloat().Draw(t, "low"), anyFloat().Draw(t, "high"))
		default:
			return String(anyText().Draw(t, "text"))
		}
	})
}

func anyFloat() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-7, 1e21, 0.1, 100}))
}

// anyRows draws a table: columns, of one kind each, and rows of them.
func anyRows(t *rapid.T) ([]Column, [][]Value) {
	kinds := rapid.SliceOfN(rapid.SampledFrom([]Kind{KindString, KindInt, KindFloat, KindInterval}), 1, 5).Draw(t, "kinds")
	columns := make([]Column, len(kinds))
	for i, kind := range kinds {
		columns[i] = Column{Name: string(rune('a' + i)), Kind: kind, Digits: rapid.IntRange(0, 4).Draw(t, "digits")}
	}
	rows := make([][]Value, rapid.IntRange(0, 6).Draw(t, "rows"))
	for r := range rows {
		for _, kind := range kinds {
			rows[r] = append(rows[r], anyValue(kind).Draw(t, "value"))
		}
	}
	return columns, rows
}

func writeAll(t rapid.TB, w Writer, rows [][]Value) {
	for _, row := range rows {
		require.NoError(t, w.Row(row...))
	}
	require.NoError(t, w.Close())
}

func sameFloat(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
