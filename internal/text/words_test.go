package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAppendWords(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \t… —!", nil},
		{"The dog's bone, 3.5 kg.", []string{"the", "dog's", "bone", "3.5", "kg"}},
		{"Über-Größe", []string{"über", "größe"}},
		{"上海的天气", []string{"上", "海", "的", "天", "气"}},
		{"Он ушёл.", []string{"он", "ушёл"}},
		{"5 € + 😀", []string{"5", "€", "+", "😀"}},
	} {
		got := AppendWords(nil, tc.text)
		assert.True(t, slices.Equal(got, tc.want), "%q: %q, want %q", tc.text, got, tc.want)
	}
}

// The words occur in the text, in order and without overlap.
func TestWordsStandInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		rest := Lower(s)
		for _, w := range AppendWords(nil, s) {
			_, after, found := strings.Cut(rest, w)
			require.True(t, w != "" && found, "%q: word %q is out of place", s, w)
			rest = after
		}
	})
}
