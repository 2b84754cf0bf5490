package text

import (
	"regexp"
	"strings"
)

// thoughtsEnd is the end of a model's reasoning where its template began it: on a
// line of its own, as an answer may quote the tag from a text.
var thoughtsEnd = regexp.MustCompile(`(?m)^[ \t]*</think>[ \t]*$`)

// AfterThoughts returns what follows the reasoning that a model wrote before its
// answer, as <think>…</think> or with its closing tag only. ended is false if
// reasoning was begun and no answer follows.
func AfterThoughts(s string) (rest string, thought, ended bool) {
	if strings.HasPrefix(s, "<think>") {
		end := strings.LastIndex(s, "</think>")
		if end < 0 {
			return "", true, false
		}
		return s[end+len("</think>"):], true, true
	}
	all := thoughtsEnd.FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return s, false, true
	}
	return s[all[len(all)-1][1]:], true, true
}
