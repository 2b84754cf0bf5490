package dataset

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refract-eval/refract"
)

func TestAppendPythonList(t *testing.T) {
	text := refract.NewText
	for _, c := range []struct {
		texts []refract.Text
		want  string
	}{
		{nil, `[]`},
		{[]refract.Text{{}, text("")}, `[None, '']`},
		{[]refract.Text{text(`it's`), text(`"so"`), text(`it's "so"`)}, `["it's", '"so"', 'it\'s "so"']`},
		{[]refract.Text{text("a\\b\n\r\t\x00\x1b\x7f\u0085\u00a0\u2028\u2029\ufeff")}, `['a\\b\n\r\t\x00\x1b\x7f\x85\xa0\u2028\u2029\ufeff']`},
		{[]refract.Text{text("é水😀")}, `['é水😀']`},
	} {
		if got := string(AppendPythonList(nil, c.texts)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// What is written is read back, and stands on one line of printable text.
func TestPythonListRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []refract.Text
		for range rapid.IntRange(0, 5).Draw(t, "texts") {
			want = append(want, drawText(t))
		}
		line := string(AppendPythonList([]byte("x"), want))[1:]
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }) {
			t.Fatalf("a control character in %q", line)
		}
		got, err := parsePythonList(line, refract.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	})
}
