package check_test

import (
	"testing"

	"github.com/refract-eval/refract/diversify/check"
)

// extractions are raw answers that have more than the rewriting, and what comes out.
var extractions = []struct{ name, ref, raw, want string }{
	{"a last line that stood before is what was taken", "Is there a way to punish the man?", "First: Was there a way to punish the man?\nSecond: Can the man be punished?\nThe second is better.\n\nCan the man be punished?", "Can the man be punished?"},
	{"equal words in front", "The cat sat in the house.", "\"cat\" → kitty, house = home\n\nThe kitty sat at home.", "The kitty sat at home."},
	{"equal words behind", "The cat sat in the house.", "The kitty sat at home.\n\n- kitty = cat\n- home = house", "The kitty sat at home."},
	{"a final message of a template", "The cat sat in the house.", "Let me try: \"The cat sat at home.\"<|end|><|start|>assistant<|channel|>final<|message|>A cat sat inside the house.", "A cat sat inside the house."},
	{"a fence of thoughts", "The cat sat in the house.", "```thinking\nthe cat -> a cat, sat in the house\n```\n\nA cat sat inside the house.", "A cat sat inside the house."},
	{"letter of a list", "The cat sat.", "a. A cat was sitting.", "A cat was sitting."},
	{"list below a reference that ends in a colon", "The cats are as follows:", "1. The following are the cats:\n2. Below are the cats:", "The following are the cats:"},
}

func TestExtraction(t *testing.T) {
	c := newChecker(t, check.Config{})
	for _, x := range extractions {
		got, _ := c.Clean(x.raw, x.ref)
		if got != x.want {
			t.Errorf("%s: got %q, want %q", x.name, got, x.want)
		}
		if again, _ := c.Clean(got, x.ref); again != got {
			t.Errorf("%s: cleaned again it is %q", x.name, again)
		}
	}
}
