package suggest

import "testing"

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word string
		of   []string
		want string
	}{
		{"blue", []string{"bleu", "chrf", "ter"}, "bleu"},
		{"BLEU", []string{"bleu"}, "bleu"}, // case costs nothing
		{"tokenise", []string{"tokenize", "smooth"}, "tokenize"},
		{"meen", []string{"mean", "men"}, "mean"}, // the first of equally near ones
		{"mn", []string{"mean", "men"}, "men"},
		{"kendal-tau", []string{"kendall", "pearson"}, "kendall"}, // 4 of 10 is within a third, rounded up
		{"kendal-taux", []string{"kendall", "pearson"}, ""},
		{"", []string{"a", "b"}, ""},
		{"x", nil, ""},
		{"abc", []string{"xyz"}, ""},
		// Characters are counted, not bytes: 2 of 3 is too far.
		{"日本語", []string{"日"}, ""},
		{"日本語", []string{"日本"}, "日本"},
	} {
		if got := Nearest(c.word, c.of); got != c.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", c.word, c.of, got, c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"blue", `unknown metric "blue"; did you mean "bleu"? (known: bleu, chrf)`},
		{"comet-22", `unknown metric "comet-22" (known: bleu, chrf)`},
		{"a\x1b[31m\n", `unknown metric "a\x1b[31m\n" (known: bleu, chrf)`}, // what a terminal would obey is quoted
	} {
		if got := Unknown("metric", c.word, []string{"bleu", "chrf"}); got != c.want {
			t.Errorf("Unknown(%q) = %s, want %s", c.word, got, c.want)
		}
	}
}

func TestIndex(t *testing.T) {
	names := []string{"order", "random"}
	if i, err := Index("method", "random", names); i != 1 || err != nil {
		t.Errorf("%d, %v", i, err)
	}
	if _, err := Index("method", "rando", names); err == nil || err.Error() != Unknown("method", "rando", names) {
		t.Errorf("error %v", err)
	}
}
