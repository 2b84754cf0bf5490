package report_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract/cmd/refract/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile are strings that try to leave their cell. Each is one row.
var hostile = []string{
	"plain",
	"",
	"=HYPERLINK(\"http://example.org\",\"x\")",
	"+1", "-1", "@SUM(A1)", "\tlead", "\rlead", "\nlead", "＝1+1", "'=1", "it's",
	"comma, semicolon; and \"quotes\"",
	"tab\there\\there", "two\nlines", "dos\r\nlines", " spaces ", `\N`,
	"\x1b[31mred\x1b[0m \x1b]0;title\x07", "bell\x07 back\bspace del\x7f c1\u009b31m",
	"right\u202eto left\u2066 iso\u2069 mark\u200f", "line\u2028para\u2029sep",
	"zero\u200bwidth\ufeffbom soft\u00adhyphen", "tag\U000e0041",
	"bad\xffutf8 \xe4\xb8", "中文，测试", "हिन्दी", "👩\u200d👩\u200d👧",
	"| pipe | [link](javascript:x) ![i](x) <script>&amp;</script> `code` **b** _i_ ~s~ # $x$",
	"see https://example.org www.example.org a@example.org",
	`\textbf{x} 100% #1 a_b $y$ & ~ ^ {} <a> ` + "`q` -- --- [opt] *",
	"%s %d %!v(MISSING)",
}

func hostileColumns() []report.Column {
	return []report.Column{
		{Name: "id", Header: "Text of <anyone>", Kind: report.KindString},
		{Name: "n", Kind: report.KindInt},
		{Name: "score", Header: "Score_%", Kind: report.KindFloat, Digits: 3},
		{Name: "ci", Header: "95% CI", Kind: report.KindInterval, Digits: 2},
		{Name: "signature", Kind: report.KindString, Hide: true},
	}
}

func writeHostile(t *testing.T, w report.Writer) {
	t.Helper()
	row := func(values ...report.Value) {
		t.Helper()
		require.NoError(t, w.Row(values...))
	}
	for i, s := range hostile {
		f := 100 / float64(i+3)
		row(report.String(s), report.Int(i), report.Float(f), report.Interval(-f, f), report.String("nrefs:1|"+s))
	}
	row(report.Null(), report.Null(), report.Null(), report.Null(), report.Null())
	row(report.String("nan"), report.Int(math.MinInt), report.Float(math.NaN()), report.Interval(math.NaN(), 1), report.String(""))
	row(report.String("inf"), report.Int(math.MaxInt), report.Float(math.Inf(1)), report.Interval(math.Inf(-1), 1), report.Null())
	row(report.String("-inf"), report.Int(0), report.Float(math.Inf(-1)), report.Interval(0, math.Inf(1)), report.Null())
	row(report.String("extremes"), report.Int(-1), report.Float(math.MaxFloat64), report.Interval(5e-324, 1e21), report.Null())
	row(report.String("zero"), report.Int(0), report.Float(math.Copysign(0, -1)), report.Interval(0, 0), report.Null())
	require.NoError(t, w.Close())
}

func TestGolden(t *testing.T) {
	opts := report.Options{
		Wide:  true,
		Title: "Scores of \x1b[1many_one\x1b[0m",
		Notes: []string{"nrefs:11|tok:13a|eps:1e-16", "2 of 38 rows are missing a score & 50% is [unknown]\u202e"},
	}
	for _, format := range report.Formats() {
		t.Run(string(format), func(t *testing.T) {
			var got bytes.Buffer
			w := report.NewWriter(&got, format, hostileColumns(), opts)
			writeHostile(t, w)
			compareGolden(t, "hostile."+string(format), got.Bytes())
		})
		t.Run(string(format)+"/empty", func(t *testing.T) {
			var got bytes.Buffer
			w := report.NewWriter(&got, format, hostileColumns(), report.Options{Wide: true})
			require.NoError(t, w.Close())
			compareGolden(t, "empty."+string(format), got.Bytes())
		})
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(got, want), "%s differs; run with -update and read the diff\ngot:\n%s\nwant:\n%s", path, got, want)
}
