package report

import (
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// Visible is [text.Visible], for packages that show untrusted texts.
func Visible(s string) string { return text.Visible(s) }

// validUTF8 returns s with every byte that is not UTF-8 replaced by U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
