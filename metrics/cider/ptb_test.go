package cider

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pennWords(t *pennTokenizer, s string) string {
	var words []string
	t.Split(s, func(w []byte) { words = append(words, string(w)) })
	return strings.Join(words, " ")
}

// TestWordsPeer compares with the file that benchmarks/peers/cider_vectors.py writes: a
// text and its words a line.
func TestWordsPeer(t *testing.T) {
	path := os.Getenv("REFRACT_PTB")
	if path == "" {
		t.Skip("REFRACT_PTB is not set: make the file with benchmarks/peers/cider_vectors.py")
	}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	lines, bad := 0, 0
	tok := newPenn()
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<24)
	for ; in.Scan(); lines++ {
		s, want, _ := strings.Cut(in.Text(), "\t")
		if got := pennWords(tok, s); got != want {
			if bad++; bad < 40 {
				t.Errorf("words of %q:\n%s, Stanford has\n%s", s, got, want)
			}
		}
	}
	err = in.Err()
	require.True(t, err == nil && lines != 0, "%s: %d lines, %v", path, lines, err)
	t.Logf("%d lines, %d differ", lines, bad)
}

func TestWords(t *testing.T) {
	tok := newPenn()
	for s, want := range map[string]string{
		"":                                   "",
		"A man -- \"tall\" -- can't see it.": "a man tall ca n't see it",
		"It’s the dogs' food, isn't it?!":    "it 's the dogs food is n't it ?!",
		"I cannot; we're gonna":              "i can not we 're gon na",
		"Mr. Smith of the U.S. left at 5 p.m. (local)": "mr. smith of the u.s. left at 5 p.m. -lrb- local -rrb-",
		"Vitamin C. The rest":                          "vitamin c the rest",
		"vitamin C. rest":                              "vitamin c. rest",
		"£5 and €1.50, 3 1/2 ½":                        "# 5 and $ 1.50 3 1/2 1/2",
		"state-of-the-art e-mail":                      "state-of-the-art e-mail",
		"see http://a.org/b?c=d, x":                    "see http://a.org/b?c=d x",
		"AT&amp;T a&b <b>bold</b>":                     "at&t a & b <b> bold </b>",
		"wait... what…":                                "wait what",
		"中文，test😀":                                     "中文 ， test",
		"soft\u00adhyphen":                             "softhyphen",
		"one\ntwo":                                     "one two",
	} {
		assert.Equal(t, want, pennWords(tok, s), "words of %q", s)
	}
}

// Rules that look ahead in vain, for an address or the end of a tag, take linear time;
// otherwise this test takes minutes.
func TestLongTexts(t *testing.T) {
	for piece, want := range map[string]int{"a,": 1, "a+.": 2, "<!a ": 2, "a@(": 3, "&amp;x ": 2, "中，": 2} {
		n, times := 0, 700
		newPenn().Split(strings.Repeat(piece, times), func([]byte) { n++ })
		assert.Equal(t, want*times, n, "%d words of %q %d times, want %d of each", n, piece, times, want)
	}
}

// The cache of plain words gives what the rules give.
func TestPlainWord(t *testing.T) {
	words := []string{"co", "Mr", "mr", "a", "I", "US", "cannot", "gonna", "Jan", "etc", "x", "http", "the", "pp"}
	ends := []string{" ", ", ", "; ", ": ", "? ", "! ", ",\n", "?\n", ".\n", "\n"}
	after := []string{"The dog ran\n", "ltd\n", "5 p\n", "'s\n", "J. Smith\n", " x\n", "(b) c\n", "@b.c\n"}
	for _, w := range words {
		for _, end := range ends {
			s := w + end
			assert.NotEqual(t, 0, plainWord(s+"b c"), "%q is no plain word", s)
			if end[len(end)-1] == '\n' {
				continue
			}
			first, n := longestMatch(s + after[0])
			for _, rest := range after[1:] {
				if r, k := longestMatch(s + rest); r != first || k != n {
					t.Errorf("the token at the start of %q depends on what follows: %d bytes, not %d", s+rest, k, n)
				}
			}
		}
	}
}
