package text

import (
	"regexp"
	"strings"
)

// canary matches the marks that are put into test sets, so that texts which models were
// trained on can be searched for them.
var canary = regexp.MustCompile(`(?i)\bcanary\b[^\pL]*(?:GUID|string)?[^\pL]*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// IsCanary reports whether a text is such a mark.
func IsCanary(s string) bool {
	return len(s) < 1000 && strings.Count(s, "-") >= 4 && canary.MatchString(s) // the pattern takes longer than reading a text
}
