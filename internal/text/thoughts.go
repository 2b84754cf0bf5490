package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// Tokens matches tokens of chat templates, reasoning tags, HTML tags and the like by their
	// shape: <think>, </s>, <|im_end|>, [/INST], ◁think▷, <<SYS>>, {{answer}}, 【结束】.
	Tokens = Regexp(`<!--.*?-->|<\?xml.*?\?>|</?[|｜]?[^\s<>][^<>]{0,80}[|｜]?/?>|<{2}/?[A-Z]+>{2}|<\[[^\[\]<>]{1,40}\]>|\[[^\[\]\s]{1,30}\]|◁[^◁▷]{1,40}▷|\{\{/?\w+\}\}|【/?[^【】†]{1,12}】|\{/?(?i:think|answer|thought)\}|assistantfinal|\.\.\.done thinking\.`)
	// thoughtsEnd matches the end of a thought if tokens were lost or written for a terminal.
	thoughtsEnd = Regexp(`assistantfinal|\.\.\.done thinking\.`)
	quoted      = Regexp("^[\"'`].*[\"'`]$")
	// What serving software leaves before and after an answer.
	servedBefore = Regexp(`^(?:\s|\x{feff}|<s>|<bos>|<\|begin_of_text\|>|<\|im_start\|>assistant)+`)
	servedAfter  = Regexp(`(?:\s|</s>|<eos>|<\|(?:endoftext|im_end|eot_id|end|return)\|>|<end_of_turn>|<turn\|>|<｜end▁of▁sentence｜>)+$`)
	// listed matches a line up to its value in a list of errors: "Error location 2: ".
	listed = Regexp(`\d[*_]*:[*_ ]*$`)
	// channels matches the marks of answers in channels: of Harmony, with or without its special
	// tokens, Gemma, Kimi K3, Cohere and Ollama's terminal.
	channels = Regexp(`(?:^|<\|start\|>[^<]*|<\|end\|>[^<]{0,12})(?:<\|channel\|>)?\s*(?:analysis|commentary|final)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>` +
		`|<\|(?:end|return|call)\|>|assistant(?:analysis|commentary|final)|<\|channel>\w*|<channel\|>|<\|(?:open|close)\|>\w+<\|sep\|>` +
		`|<\|(?:START|END)_(?:THINKING|TEXT|RESPONSE)\|>|\.\.\.done thinking\.`)
	// thoughts matches the names of tags around a model's reasoning.
	thoughts = Regexp(`think|thought|reason|analy|reflect|scratch|plan|delib|ponder|consider|monolog|chain|cot|working|brainstorm|comment|note|expla|justif|critique|review|process|understand|strateg|step|draft|gedank|denk|überleg|мысл|рассужд|размышл|анализ|思考|推理|分析|思路|思维`)
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

// WithoutThoughts returns an answer without the reasoning, "" if it ends within that.
func WithoutThoughts(s string) string {
	answer, _, _ := Answer(s)
	return answer
}

// Answer returns what a model answered: its completion without the tokens that serving software
// leaves around it, and without the reasoning. thought tells whether there were marks of
// reasoning; ended is false if the completion ends within it or with it, so that there is no answer.
//
// Channels have marks of their own for the answer. A tag opens reasoning only where the text
// begins, so that a text about <think> stays whole; it may be missing, as chat templates write
// it. Marks in quotation marks belong to the text.
func Answer(completion string) (answer string, thought, ended bool) {
	s := servedAfter().ReplaceAllString(servedBefore().ReplaceAllString(completion, ""), "")
	if !MayHaveTokens(s) && !lostAnalysis(s) {
		return s, false, true
	}
	if answer, thought, ended = inChannels(s); !thought {
		answer, thought, ended = afterTags(s)
	}
	if answer = strings.TrimSpace(answer); thought && (!ended || answer == "") {
		return "", true, false
	}
	return answer, thought, true
}

// lostAnalysis reports whether a text begins with the name of Harmony's channel, whose tokens were
// lost, so that the reasoning follows it directly.
func lostAnalysis(s string) bool {
	after, found := strings.CutPrefix(s, "analysis")
	first, _ := utf8.DecodeRuneInString(after)
	return found && unicode.IsLetter(first) && !unicode.IsLower(first)
}

// inChannels returns the last part of a text that a channel's marks do not make reasoning.
func inChannels(s string) (answer string, thought, ended bool) {
	open := lostAnalysis(s) || strings.HasPrefix(s, "<|channel")
	at, marked, q := 0, open, quotes{text: s}
	part := func(end int) {
		if !open && strings.TrimSpace(s[at:end]) != "" {
			answer = s[at:end]
		}
	}
	for _, k := range channels().FindAllStringIndex(s, -1) {
		mark := channelMark(strings.ToLower(s[k[0]:k[1]]))
		switch {
		case mark.ends() && !open || q.around(k[0], k[1], open): // in the answer, it belongs to the text
			continue
		case mark.closes() && !open && (mark.thinks() || mark == "<channel|>"): // the chat template opened it
			answer = ""
		case mark.closes() || mark.ends():
			part(k[0])
			open = false
		case mark.thinks():
			part(k[0])
			open = true
		default:
			answer, open = "", false
		}
		at, marked, q.closing = k[1], true, 0
	}
	part(len(s))
	return answer, marked, !open
}

// channelMark is a mark of a channel, in lower case.
type channelMark string

// thinks reports whether the mark is of a channel for reasoning or calls of tools.
func (m channelMark) thinks() bool {
	return slices.ContainsFunc([]string{"analysis", "think", "<|channel>", " to="}, func(s string) bool { return strings.Contains(string(m), s) })
}

// ends reports whether the mark ends a message.
func (m channelMark) ends() bool { return m == "<|end|>" || m == "<|return|>" || m == "<|call|>" }

// closes reports whether the mark closes a channel.
func (m channelMark) closes() bool {
	return strings.HasPrefix(string(m), "<|close|>") || strings.HasPrefix(string(m), "<|end_") || m == "<channel|>" || m[0] == '.'
}

// afterTags returns the text after the tags that end a thought: after the pair with which the text
// begins, or after the last one without a partner.
func afterTags(s string) (rest string, thought, ended bool) {
	word, from, other := "", 0, 0 // of the open thought, and the end of the last tag that closes another
	at, paired, q := 0, false, quotes{text: s}
	for _, k := range Tokens().FindAllStringIndex(s, -1) {
		token := s[k[0]:k[1]]
		opens, closes := Thought(token)
		if !opens && !closes || strings.ContainsAny(token, " \t\n\"") || q.around(k[0], k[1], word != "") {
			continue
		}
		name := thoughts().FindString(strings.ToLower(token))
		switch begins := strings.TrimSpace(s[at:k[0]]) == ""; {
		case opens && word == "" && begins && (token[0] != '[' || name == "think"): // [Explanation] may be a heading
			word, from, other, thought = name, k[1], 0, true
		case opens && word == "" && !thought && k[0] > 0:
			return s, false, true
		case closes && word != "" && word == name:
			paired = paired || strings.TrimSpace(s[from:k[0]]) != "" // a template may write an empty pair
			word, at = "", k[1]
		case closes && word != "":
			other = k[1]
		case closes && !paired && !listed().MatchString(s[max(0, k[0]-8):k[0]]):
			at, thought = k[1], true
		}
	}
	if word != "" && other > 0 {
		word, at = "", other
	}
	return s[at:], thought, word == ""
}

// quotes tells which marks of a text are quoted. It reads the text once.
type quotes struct {
	text    string
	at      int
	closing rune // ends the quotation that is open in the line; 0 for none
}

// quotationMarks maps quotation marks to those that end their quotation.
var quotationMarks = map[rune]rune{'"': '"', '`': '`', '“': '”', '„': '“', '«': '»', '「': '」', '『': '』'}

// around reports whether quotation marks stand next to a mark, or also, unless near is set, around
// it in its line.
func (q *quotes) around(from, to int, near bool) bool {
	escaped := false
	for _, r := range q.text[q.at:from] {
		switch closing := quotationMarks[r]; {
		case r == '\n', r == q.closing && !escaped:
			q.closing = 0
		case q.closing == 0 && !escaped:
			q.closing = closing
		}
		escaped = r == '\\' && !escaped
	}
	q.at = from
	if quoted().MatchString(q.text[max(0, from-1):min(len(q.text), to+1)]) {
		return true
	}
	line, _, _ := strings.Cut(q.text[to:min(len(q.text), to+400)], "\n")
	return !near && q.closing != 0 && strings.ContainsRune(line, q.closing)
}
