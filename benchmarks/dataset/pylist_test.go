package dataset

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

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
		assert.Equal(t, c.want, string(AppendPythonList(nil, c.texts)))
	}
}

// Texts of an array as NumPy writes it, which datasets#6778 shows; each ends where its quote does.
func TestArrayOfNumPy(t *testing.T) {
	const array = "['it\\'s a \"cat\".' \"it's\"\n 'b\\nc' None '']"
	got, err := parseList(array, refract.Position{})
	text := refract.NewText
	want := []refract.Text{text(`it's a "cat".`), text("it's"), text("b\nc"), {}, text("")}
	assert.True(t, err == nil && slices.Equal(got, want), "%v, %v, want %v", got, err, want)
	for _, bad := range []string{"['a''b']", "['a' ... 'b']", "['a' 7]"} { // NumPy leaves out the middle of long ones
		got, err := parseList(bad, refract.Position{})
		assert.Error(t, err, "%s: %v", bad, got)
	}
}
