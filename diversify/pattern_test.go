package diversify_test

import (
	"testing"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify"

	"github.com/stretchr/testify/assert"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct{ verdict, detail, want string }{
		{"cut", "", "cut"},
		{"refusal", `it begins with "i'm sorry" and speaks of "the \"text\""…`, "refusal: it begins with … and speaks of …"},
		{"length", "311 characters for 1,024", "length: … characters for …"},
	} {
		got := diversify.Pattern(&refract.Variant{Verdict: c.verdict, Detail: c.detail})
		assert.Equal(t, c.want, got, "Pattern(%q, %q)", c.verdict, c.detail)
	}
}
