package text

import (
	"strings"

	"github.com/refract-eval/refract/internal/lazy"
)

var (
	// Tokens matches tokens of chat templates, reasoning tags, HTML tags and the like by their
	// shape: <think>, </s>, <|im_end|>, [/INST], ◁think▷, <<SYS>>, {{answer}}, 【结束】.
	Tokens = lazy.Regexp(`<!--.*?-->|<\?xml.*?\?>|</?[|｜]?[^\s<>][^<>]{0,80}[|｜]?/?>|<{2}/?[A-Z]+>{2}|<\[[^\[\]<>]{1,40}\]>|\[[^\[\]\s]{1,30}\]|◁[^◁▷]{1,40}▷|\{\{/?\w+\}\}|【/?[^【】†]{1,12}】|\{/?(?i:think|answer|thought)\}|assistantfinal|\.\.\.done thinking\.`)
	// thoughtsEnd matches the end of a thought if tokens were lost or written for a terminal.
	thoughtsEnd = lazy.Regexp(`assistantfinal|\.\.\.done thinking\.`)
	quoted      = lazy.Regexp("^[\"'`].*[\"'`]$")
	// thoughts matches the names of tags around a model's reasoning.
	thoughts = lazy.Regexp(`think|thought|reason|analy|reflect|scratch|plan|delib|ponder|consider|monolog|chain|cot|working|brainstorm|comment|note|expla|justif|critique|review|process|understand|strateg|step|draft|gedank|denk|überleg|мысл|рассужд|размышл|анализ|思考|推理|分析|思路|思维`)
)

// MayHaveTokens is a fast check: false means that the text has no token.
func MayHaveTokens(s string) bool {
	return strings.ContainsAny(s, "<[◁{【") || EndsThought(s)
}

// EndsThought reports whether the text has words that end a thought without a tag.
func EndsThought(s string) bool { return thoughtsEnd().MatchString(s) }

// Thought says whether a token opens or closes a model's reasoning.
func Thought(token string) (opens, closes bool) {
	name := strings.ToLower(token)
	ends := strings.Contains(token[:min(len(token), 5)], "/") || strings.Contains(name, "end") || strings.Contains(name, "stop")
	named := thoughts().MatchString(name)
	return named && !ends && !strings.HasSuffix(token, "/>") && !strings.HasPrefix(token, "<!"), named && ends || EndsThought(token)
}

// WithoutThoughts returns an answer without the reasoning and the white space before it.
func WithoutThoughts(s string) string {
	rest, _, _ := AfterThoughts(strings.TrimSpace(s))
	return strings.TrimSpace(rest)
}

// AfterThoughts returns the text after the last tag that closes a thought. The opening tag
// must begin the text or be missing, as it is when the chat template wrote it. Tags between
// quotation marks are ignored. thought tells whether there was reasoning; ended is false
// if reasoning began but no answer follows.
func AfterThoughts(s string) (rest string, thought, ended bool) {
	if !MayHaveTokens(s) {
		return s, false, true
	}
	end := -1
	for _, k := range Tokens().FindAllStringIndex(s, -1) {
		token := s[k[0]:k[1]]
		opens, closes := Thought(token)
		switch {
		case strings.ContainsAny(token, " \t\n\"") && !EndsThought(token):
		case opens && end < 0 && !thought && k[0] > 0:
			return s, false, true
		case opens && token[0] != '[': // [Explanation] may be a heading
			thought = true
		case closes && !quoted().MatchString(s[max(0, k[0]-1):min(len(s), k[1]+1)]):
			thought, end = true, k[1]
		}
	}
	if end >= 0 {
		return s[end:], true, true
	}
	return s, thought, !thought
}
