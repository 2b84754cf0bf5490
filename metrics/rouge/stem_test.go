package rouge

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The examples are from the paper and from NLTK's extensions.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "ties": "tie", "caress": "caress", "cats": "cat",
		"feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
		"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "falling": "fall", "hissing": "hiss",
		"fizzed": "fizz", "failing": "fail", "filing": "file", "happy": "happi", "enjoy": "enjoy", "sky": "sky", "fly": "fli",
		"relational": "relat", "conditional": "condit", "rational": "ration", "vietnamization": "vietnam", "callousness": "callous",
		"triplicate": "triplic", "electrical": "electr", "goodness": "good", "revival": "reviv", "adoption": "adopt",
		"controlling": "control", "roll": "roll", "probate": "probat", "rate": "rate", "cease": "ceas",
		"died": "die", "spied": "spi", "dying": "die", "skies": "sky", "innings": "inning", "geology": "geolog",
		"theology": "theolog", "hopefully": "hope", "radically": "radic", "2016s": "2016", "yyyy": "yyyi", "is": "is", "": "",
	} {
		assert.Equal(t, want, string(stem([]byte(word))), "stem of %q", word)
	}
}

// TestStemPeer compares with the file that benchmarks/peers/rouge_vectors.py writes: a word
// and its stem a line.
func TestStemPeer(t *testing.T) {
	path := os.Getenv("REFRACT_STEMS")
	if path == "" {
		t.Skip("REFRACT_STEMS is not set: make the file with benchmarks/peers/rouge_vectors.py")
	}
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	n := 0
	for in := bufio.NewScanner(file); in.Scan(); n++ {
		word, want, _ := strings.Cut(in.Text(), "\t")
		assert.Equal(t, want, string(stem([]byte(word))), "stem of %q", word)
	}
	require.NotEqual(t, 0, n, "%s has no words", path)
	t.Logf("%d stems compared", n)
}
