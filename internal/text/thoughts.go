package text

import (
	"regexp"
	"strings"
)

// thoughtsEnd is the end of a model's reasoning where its template began it: on a
// line of its own, as an answer may quote the tag from a text.
var thoughtsEnd = regexp.MustCompile(`(?m)^[ \t]*</think>[ \t]*$`)

// Thoughts is found in the names of tags around what a model thinks before it answers, in
// lower case.
var Thoughts = regexp.MustCompile(`think|thought|reason|analy|reflect|scratch|plan|delib|ponder|consider|monolog|chain|cot|working|brainstorm|comment|note|expla|justif|critique|review|process|understand|strateg|step|draft|gedank|denk|überleg|мысл|рассужд|размышл|анализ|思考|推理|分析|思路|思维`)

// AfterThoughts returns what follows the reasoning that a model wrote before its
// answer, as <think>…</think> or with its closing tag only. ended is false if
// reasoning was begun and no answer follows. A judge's own tags may have the other names of
// [Thoughts].
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
