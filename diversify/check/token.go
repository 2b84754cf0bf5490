package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a mark of a chat template, of reasoning or of markup: <think>,
// </s>, <|im_end|>, [/INST], ◁think▷. It is known by its shape.
type token struct {
	begin, end int
	name       string // in lower case, without the words that open and close
	closing    bool
	special    bool // of a chat template
}

// brackets stand around tokens.
var brackets = [...]struct{ open, close string }{{"<", ">"}, {"[", "]"}, {"◁", "▷"}, {"{{", "}}"}, {"{", "}"}, {"【", "】"}}

// tokens finds the tokens of a text, of kinds of brackets that the reference
// has not.
func tokens(t string, ref *original) []token {
	var out []token
	for _, b := range brackets {
		if strings.Contains(ref.text, b.open) {
			continue
		}
		for from := 0; ; {
			i := strings.Index(t[from:], b.open)
			if i < 0 {
				break
			}
			i += from
			from = i + len(b.open)
			k, ok := tokenAt(t, i, b.open, b.close)
			if ok {
				out = append(out, k)
				from = k.end
			}
		}
	}
	slices.SortFunc(out, func(a, b token) int { return a.begin - b.begin })
	end := 0
	return slices.DeleteFunc(out, func(k token) bool { // those within others
		inner := k.begin < end
		end = max(end, k.end)
		return inner
	})
}

// longestToken is how long a token may be, in bytes.
const longestToken = 120

func tokenAt(t string, i int, open, shut string) (token, bool) {
	if strings.HasPrefix(t[i:], "<?xml") {
		if end := strings.Index(t[i:], "?>"); end > 0 {
			return token{begin: i, end: i + end + len("?>"), name: "!--"}, true
		}
	}
	if strings.HasPrefix(t[i:], "<!--") {
		if end := strings.Index(t[i:], "-->"); end > 0 {
			return token{begin: i, end: i + end + len("-->"), name: "!--"}, true
		}
	}
	body := t[i+len(open):]
	end := strings.Index(body[:min(len(body), longestToken)], shut)
	if end <= 0 {
		return token{}, false
	}
	k := token{begin: i, end: i + len(open) + end + len(shut)}
	body = body[:end]
	if open == "<" && body[0] == '<' { // <<SYS>>
		body = body[1:]
		if strings.HasPrefix(t[k.end:], ">") {
			k.end++
		}
	}
	piped := strings.Trim(body, "|｜") != body
	body = strings.Trim(body, "|｜")
	if strings.HasPrefix(body, "/") {
		k.closing, body = true, body[1:]
	}
	name := body
	if open == "<" {
		name, _, _ = strings.Cut(body, " ")
		if name != body && !strings.ContainsAny(body, `="`) && !piped {
			return token{}, false // "a < b and c > d"
		}
		if strings.HasSuffix(body, "/") { // <think/> holds nothing
			return token{begin: i, end: k.end, special: true}, hasLetter(name)
		}
	}
	upper := true
	for _, r := range name {
		switch {
		case unicode.IsLetter(r):
			upper = upper && !unicode.IsLower(r)
		case unicode.IsDigit(r) || strings.ContainsRune("_-▁:.|", r):
		case r == ' ' && open != "<":
		default:
			return token{}, false
		}
	}
	k.setName(strings.ToLower(name), piped || open == "[" && upper)
	switch {
	case !hasLetter(name):
		return token{}, false
	case open == "<" || open == "◁" || piped || k.closing:
	case open == "{{":
		k.special = true
		return k, strings.Contains(name, "_") || k.name != strings.TrimSpace(strings.ToLower(name))
	case open == "【":
		return k, utf8.RuneCountInString(name) <= 12
	case open == "[" && strings.IndexFunc(name, unicode.IsSpace) < 0 && strings.HasPrefix(t[k.end:], "<"): // [gMASK]<sop>
		k.special = true
	case open == "{" || !upper || len(name) < 2 || strings.Contains(name, " "):
		// [think] is a token only if something closes it.
		return k, !strings.Contains(name, " ") && strings.Contains(t[k.end:], open+"/"+name+shut)
	}
	return k, true
}

// setName takes the words from a name that say whether it opens or closes.
func (k *token) setName(name string, special bool) {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		switch w {
		case "end", "stop", "suffix":
			k.closing, special = true, true
		case "start", "begin", "prefix":
			special = true
		case "of":
		case "s", "sop", "eop", "bos", "eos", "pad", "unk", "sep", "cls", "turn", "id", "im", "sys":
			special = true
			k.name += w
		default:
			k.name += w
		}
	}
	k.special = special || strings.ContainsAny(name, "0123456789") // <unused95>
}

// inline and block are the names of HTML, without and with a line of their own.
var (
	inlineTags = strings.Fields("b i em strong u mark span font small big sub sup a abbr code kbd tt cite del ins strike bdi bdo center q dfn var samp img wbr input")
	blockTags  = strings.Fields("p div br hr li ul ol h1 h2 h3 h4 h5 h6 blockquote pre table thead tbody tr td th html body head section article dl dt dd main header footer")
	// thoughts begin the names of what a model thinks before it answers.
	thoughts = strings.Fields("think thought reason analy reflect scratch plan delib ponder consider inner monolog chain cot working brainstorm rumin medit contempl comment mull note expla justif critique review process understand strateg step mind draft attempt first plan outline gedank denk überleg мысл рассужд размышл анализ 思考 推理 分析 思路 思维")
	// roles are words of templates that stand between tokens.
	roles = strings.Fields("assistant user system model human ai bot gpt final analysis commentary thought thinking think message channel answer response output developer tool json text chatgpt claude gemini llama qwen mistral deepseek copilot assistent assistente asistente ассистент 助手 アシスタント 編集者 어시스턴트 비서")
)

func isThought(name string) bool {
	return slices.ContainsFunc(thoughts, func(s string) bool { return strings.Contains(name, s) })
}

// lostTokens end a thought where tokens are lost, or written out for a terminal.
var lostTokens = [...]string{"assistantfinal", "...done thinking."}

func losesTokens(t string) bool {
	return slices.ContainsFunc(lostTokens[:], func(mark string) bool { return strings.Contains(t, mark) })
}

// cutToken is the beginning of a token that ends a text.
var cutToken = regexp.MustCompile(`<[|｜/][\pL_|｜▁-]*$`)

// untoken takes out tokens. Of the parts between them one is the rewriting:
// not what stands in a thought, or before the end of one that has no beginning.
func untoken(_ *Checker, t string, ref *original) string {
	for _, mark := range lostTokens {
		if i := strings.LastIndex(t, mark); i >= 0 && says(t[i+len(mark):]) {
			return t[i+len(mark):]
		}
	}
	if at := cutToken.FindStringIndex(t); at != nil && at[0] > 0 && !strings.Contains(ref.text, "<") {
		return t[:at[0]]
	}
	if !mayHaveTokens(t) {
		return t
	}
	ks := tokens(t, ref)
	if plain := unhtml(t, ks); len(ks) == 0 || plain != t {
		return plain
	}
	parts := split(t, ks)
	if i := ref.choose(parts); i >= 0 {
		return parts[i]
	}
	if len(parts) > 0 {
		return parts[0]
	}
	return t
}

// unanswered reports whether a text is a thought that no answer follows.
func unanswered(t string, ref *original) bool {
	ks := tokens(t, ref)
	return len(ks) > 0 && unhtml(t, ks) == t && !slices.ContainsFunc(split(t, ks), says) && says(t)
}

// unhtml takes out tags that are HTML's, and puts a line break for those of
// blocks.
func unhtml(t string, ks []token) string {
	var b strings.Builder
	at := 0
	for _, k := range ks {
		breaks := slices.Contains(blockTags, k.name)
		if t[k.begin] != '<' || k.special || !breaks && !slices.Contains(inlineTags, k.name) && k.name != "!--" {
			continue
		}
		b.WriteString(t[at:k.begin])
		if breaks {
			b.WriteByte('\n')
		}
		at = k.end
	}
	b.WriteString(t[at:])
	return b.String()
}

// split cuts a text at its tokens and returns the parts that may be the
// answer: first those outside of pairs of tokens, then those within one. What
// a thought holds is none, and nothing behind a token that opens something
// unknown and is never closed.
func split(t string, ks []token) []string {
	type part struct {
		text   string
		inside bool
		no     bool
		final  bool
	}
	type mark struct {
		token
		part int // the first one behind it
	}
	var parts []part
	var stack []mark
	role, at := "", 0
	add := func(s string) {
		s = strings.TrimSpace(s)
		first, rest, _ := strings.Cut(s, "\n")
		if word := strings.ToLower(strings.TrimSpace(first)); at > 0 && slices.Contains(roles, word) {
			role, s = word, strings.TrimSpace(rest)
		} else if word, rest, ok := strings.Cut(s, " "); ok && at > 0 && slices.Contains(roles, word) && (unicode.IsUpper(firstRune(rest)) || isSpaceless(firstRune(rest))) {
			role, s = word, rest
		}
		if s != "" {
			parts = append(parts, part{text: s, no: isThought(role) || role == "user" || role == "system", final: role == "final"})
			role = ""
		}
	}
	for _, k := range ks {
		add(t[at:k.begin])
		at = k.end
		if !k.closing {
			stack = append(stack, mark{k, len(parts)})
			continue
		}
		i := len(stack) - 1
		for i >= 0 && stack[i].name != k.name {
			i--
		}
		from := 0
		switch {
		case i >= 0:
			from, stack = stack[i].part, stack[:i]
		case !isThought(k.name) && (k.end == len(t) || k.special):
			continue
		}
		for j := from; j < len(parts); j++ {
			parts[j].inside = true
			parts[j].no = parts[j].no || isThought(k.name)
		}
	}
	add(t[at:])
	for i, m := range stack {
		if thought := isThought(m.name); thought || !m.special && talkWords().class([]byte(m.name)) == unknown {
			end := len(parts)
			if i+1 < len(stack) && stack[i+1].part > m.part && !isThought(stack[i+1].name) && stack[i+1].part < end {
				end = stack[i+1].part // another one follows it
			}
			for j := m.part; j < end; j++ {
				parts[j].no = true
			}
		}
	}
	if i := slices.IndexFunc(parts, func(p part) bool { return p.final }); i >= 0 {
		return []string{parts[i].text}
	}
	var out []string
	for _, inside := range [...]bool{false, true} {
		for _, p := range parts {
			if p.inside == inside && !p.no {
				out = append(out, p.text)
			}
		}
	}
	return out
}
