package llm

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
)

func TestAlign(t *testing.T) {
	for _, tc := range []struct {
		name   string
		text   string
		tokens []string
		want   []int // nil if the tokens do not spell the text
	}{
		{"as they stand", "Hi there.", []string{"Hi", " there", "."}, []int{0, 2, 8, 9}},
		{"beginning of sequence", "Hi there", []string{"<s>", "Hi", " there"}, []int{0, 0, 2, 8}},
		{"such a token in the text", "<s>Hi", []string{"<s>", "Hi"}, []int{0, 3, 5}},
		{"and before it", "<s>Hi", []string{"<s>", "<s>", "Hi"}, []int{0, 0, 3, 5}},
		{"special in the middle", "a</s>b", []string{"a", "</s>", "b"}, []int{0, 1, 5, 6}},
		{"special that is not there", "ab", []string{"a", "</s>", "b"}, nil},
		{"SentencePiece", "Hi there you", []string{"▁Hi", "▁there", "▁you"}, []int{0, 2, 8, 12}},
		{"a mark of SentencePiece in the text", "a▁b", []string{"a", "▁", "b"}, []int{0, 1, 4, 5}},
		{"dropped spaces", "Hi there  you", []string{"<s>", "Hi", "there", "you"}, []int{0, 0, 2, 8, 13}},
		{"dropped last space", "Hi ", []string{"Hi", ""}, []int{0, 2, 3}},
		{"only a dropped space", "a \nb", []string{"a", "", "\n", "b"}, []int{0, 1, 2, 3, 4}},
		{"a space with the last token of a character", "a 雪", []string{"a", "", "", " 雪"}, []int{0, 1, 1, 1, 5}},
		{"a space too many", "Hi", []string{" Hi"}, []int{0, 2}},
		{"bytes of SentencePiece", "a🙂", []string{"a", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"}, []int{0, 1, 2, 3, 4, 5}},
		{"parts of characters", "雪降", []string{"�", "�", "�", "�"}, []int{0, 1, 3, 4, 6}},
		{"a part after text", "a 雪b", []string{"a", " �", "�", "b"}, []int{0, 1, 3, 5, 6}},
		{"parts of two characters", "雪降", []string{"�", "��", "�"}, []int{0, 1, 4, 6}},
		{"no part is whole", "雪", []string{"�"}, nil},
		{"U+FFFD itself", "a�", []string{"a", "�"}, []int{0, 1, 4}},
		{"a character with the last of its tokens", "a雪b", []string{"a", "", "", "雪", "b"}, []int{0, 1, 1, 1, 4, 5}},
		{"another text", "Hi there", []string{"Hi", " here"}, nil},
		{"too few", "Hi there", []string{"Hi"}, nil},
		{"too many", "Hi", []string{"Hi", " there"}, nil},
		{"none", "", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, reached := align(tc.text, tc.tokens)
			assert.Empty(t, cmp.Diff(tc.want, got))
			assert.LessOrEqual(t, reached, len(tc.text))
		})
	}
}

// No tokens from a server can keep the client busy for long.
func TestAlignIsBounded(t *testing.T) {
	const n = 10_000
	for name, tokens := range map[string][]string{
		"spaces":     append(strings.Split(strings.Repeat(" ", n-1), ""), "x"),
		"unreadable": append(strings.Split(strings.Repeat("�", n-1), ""), "x"),
		"empty":      make([]string, n),
	} {
		for _, text := range []string{strings.Repeat(" ", n) + "y", strings.Repeat("🙂", n) + "y"} {
			done := make(chan []int, 1)
			go func() {
				got, _ := align(text, tokens)
				done <- got
			}()
			select {
			case got := <-done:
				assert.Nil(t, got, "%s: aligned", name)
			case <-time.After(time.Minute):
				t.Fatalf("%s: no end", name)
			}
		}
	}
}

func FuzzAlign(f *testing.F) {
	f.Add("Hi thé 雪", "Hi\x00 th\x00é\x00�\x00�\x00雪")
	f.Fuzz(func(t *testing.T, text, joined string) {
		tokens := strings.Split(joined, "\x00")
		borders, _ := align(text, tokens)
		if borders == nil {
			return
		}
		if len(borders) != len(tokens)+1 || borders[0] != 0 || borders[len(tokens)] != len(text) {
			t.Fatalf("%q of %q: %v", tokens, text, borders)
		}
		from, to := 0, 0
		for i := range tokens {
			a, b := characters(text, borders[i], borders[i+1])
			if a < from || a > to || b < to || b < a {
				t.Fatalf("%q of %q: token %d is at %d to %d, after %d to %d", tokens, text, i, a, b, from, to)
			}
			from, to = a, b
		}
	})
}
