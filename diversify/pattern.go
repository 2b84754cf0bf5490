package diversify

import (
	"regexp"

	"github.com/refract-eval/refract"
)

// Pattern names what is alike in rejections: the verdict, and its detail
// without the words and numbers of the one answer. Answers of one pattern are
// counted and shown together.
func Pattern(v *refract.Variant) string {
	if v.Detail == "" {
		return v.Verdict
	}
	return v.Verdict + ": " + particulars.ReplaceAllLiteralString(v.Detail, "…")
}

// particulars are quoted texts, with the ellipsis of a cut one, and numbers.
var particulars = regexp.MustCompile(`"(?:[^"\\]|\\.)*"…?|\d+(?:[.,]\d+)*`)
