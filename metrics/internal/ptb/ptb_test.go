package ptb

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

func split(t *Tokenizer, s string) string {
	var words []string
	t.Split(s, func(w []byte) { words = append(words, string(w)) })
	return strings.Join(words, " ")
}

// TestPeer compares with the words of a file, a text and its words a line, that
// benchmarks/peers/cider_vectors.py writes.
func TestPeer(t *testing.T) {
	path := os.Getenv("REFRACT_PTB")
	if path == "" {
		t.Skip("REFRACT_PTB is not set: make the file with benchmarks/peers/cider_vectors.py")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, bad := 0, 0
	tok := New()
	in := bufio.NewScanner(file)
	in.Buffer(nil, 1<<24)
	for ; in.Scan(); lines++ {
		s, want, _ := strings.Cut(in.Text(), "\t")
		if got := split(tok, s); got != want {
			if bad++; bad < 40 {
				t.Errorf("words of %q:\n%s, Stanford has\n%s", s, got, want)
			}
		}
	}
	if err := in.Err(); err != nil || lines == 0 {
		t.Fatalf("%s: %d lines, %v", path, lines, err)
	}
	t.Logf("%d lines, %d differ", lines, bad)
}
