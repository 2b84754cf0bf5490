package diversify

import (
	"regexp"

	"github.com/refract-eval/refract"
)

// Pattern returns the verdict and its detail without the words and numbers of the particular
// answer. Rejections with the same pattern are counted and shown together.
func Pattern(v *refract.Variant) string {
	if v.Detail == "" {
		return v.Verdict
	}
	return v.Verdict + ": " + particulars.ReplaceAllLiteralString(v.Detail, "…")
}

// particulars matches quoted texts, with the ellipsis of shortened ones, and numbers.
var particulars = regexp.MustCompile(`"(?:[^"\\]|\\.)*"…?|\d+(?:[.,]\d+)*`)
