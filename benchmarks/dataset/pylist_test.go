package dataset

import (
	"testing"

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
