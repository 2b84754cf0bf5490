package text

import (
	"regexp"
	"strings"
)

var (
	// Tokens are marks of chat templates, reasoning, HTML and the like, known by their
	// shape: <think>, </s>, <|im_end|>, [/INST], ◁think▷, <<SYS>>, {{answer}}, 【结束】.
	Tokens = regexp.MustCompile(`<!--.*?-->|<\?xml.*?\?>|</?[|｜]?[^\s<>][^<>]{0,80}[|｜]?/?>|<{2}/?[A-Z]+>{2}|<\[[^\[\]<>]{1,40}\]>|\[[^\[\]\s]{1,30}\]|◁[^◁▷]{1,40}▷|\{\{/?\w+\}\}|【/?[^【】†]{1,12}】|\{/?(?i:think|answer|thought)\}|assistantfinal|\.\.\.done thinking\.`)
	// thoughtsEnd is what ends a thought where tokens are lost, or written for a terminal.
	thoughtsEnd = regexp.MustCompile(`assistantfinal|\.\.\.done thinking\.`)
	quoted      = regexp.MustCompile("^[\"'`].*[\"'`]$")
	// thoughts is found in the names of tags around what a model thinks before it answers.
	thoughts = regexp.MustCompile(`think|thought|reason|analy|reflect|scratch|plan|delib|ponder|consider|monolog|chain|cot|working|brainstorm|comment|note|expla|justif|critique|review|process|understand|strateg|step|draft|gedank|denk|überleg|мысл|рассужд|размышл|анализ|思考|推理|分析|思路|思维`)
)

// MayHaveTokens is false only for texts without a token.
func MayHaveTokens(s string) bool {
	return strings.ContainsAny(s, "<[◁{【") || EndsThought(s)
}

// EndsThought reports whether there are words that end a thought without a tag.
func EndsThought(s string) bool { return thoughtsEnd.MatchString(s) }

// Thought says whether a token opens or closes what a model thinks before it answers.
func Thought(token string) (opens, closes bool) {
	name := strings.ToLower(token)
	ends := strings.Contains(token[:min(len(token), 5)], "/") || strings.Contains(name, "end") || strings.Contains(name, "stop")
	named := thoughts.MatchString(name)
	return named && !ends && !strings.HasSuffix(token, "/>") && !strings.HasPrefix(token, "<!"), named && ends || EndsThought(token)
}

// WithoutThoughts is an answer without the thoughts and the white space before it.
func WithoutThoughts(s string) string {
	rest, _, _ := AfterThoughts(strings.TrimSpace(s))
	return strings.TrimSpace(rest)
}

// AfterThoughts returns what follows the reasoning that a judge wrote before its answer:
// after the last tag that closes a thought, where the text begins with a tag that opens
// one, or has none, as its template opened the thought. A tag between quotation marks is
// quoted. ended is false if reasoning was begun and no answer follows.
func AfterThoughts(s string) (rest string, thought, ended bool) {
	if !MayHaveTokens(s) {
		return s, false, true
	}
	end := -1
	for _, k := range Tokens.FindAllStringIndex(s, -1) {
		token := s[k[0]:k[1]]
		opens, closes := Thought(token)
		switch {
		case strings.ContainsAny(token, " \t\n\"") && !EndsThought(token):
		case opens && end < 0 && !thought && k[0] > 0:
			return s, false, true
		case opens && token[0] != '[': // [Explanation] may be a heading
			thought = true
		case closes && !quoted.MatchString(s[max(0, k[0]-1):min(len(s), k[1]+1)]):
			thought, end = true, k[1]
		}
	}
	if end >= 0 {
		return s[end:], true, true
	}
	return s, thought, !thought
}
