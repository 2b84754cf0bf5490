package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// tokens are marks of chat templates, reasoning, HTML and the like, known by their
// shape: <think>, </s>, <|im_end|>, [/INST], ◁think▷, <<SYS>>, {{answer}}, 【结束】.
var tokens = regexp.MustCompile(`<!--.*?-->|<\?xml.*?\?>|</?[|｜]?[^\s<>][^<>]{0,80}[|｜]?/?>|<{2}/?[A-Z]+>{2}|<\[[^\[\]<>]{1,40}\]>|\[/?[A-Z][A-Z_]+\]|\[/?(?i:think|thinking|thought|answer|reasoning|response|output|final)\]|\[gMASK\]|◁[^◁▷]{1,40}▷|\{\{/?\w+\}\}|【/?[^【】†]{1,12}】|\{/?(?i:think|answer|thought)\}`)

// cutToken is the beginning of a token at the end of a text.
var cutToken = regexp.MustCompile(`<(?:[|｜/][\pL_|｜▁-]*)?$`)

var (
	// thoughts begin the names of what a model thinks before it answers.
	thoughts   = regexp.MustCompile(`think|thought|reason|analy|reflect|scratch|plan|delib|ponder|consider|monolog|chain|cot|working|brainstorm|comment|note|expla|justif|critique|review|process|understand|strateg|step|draft|gedank|denk|überleg|мысл|рассужд|размышл|анализ|思考|推理|分析|思路|思维`)
	inlineTags = regexp.MustCompile(`^</?(?:b|i|em|strong|u|mark|span|font|small|big|sub|sup|a|abbr|code|kbd|tt|cite|del|ins|q|s)(?: [^<>]*)?/?>$`)
	blockTags  = regexp.MustCompile(`^</?(?:p|div|br|hr|li|ul|ol|h[1-6]|blockquote|pre|table|thead|tbody|tr|td|th|html|body|section|article|dl|dt|dd|center)(?: [^<>]*)?/?>$`)
	roles      = regexp.MustCompile(`^(?i:assistant|user|system|model|human|ai|bot|gpt|final|analysis|commentary|thought|thinking|assistent|ассистент|助手|助理)\s*(?:[:：\n]|$)`)
	// lost are what ends a thought where tokens are lost, or written for a terminal.
	lost = regexp.MustCompile(`(?s)^.*(?:assistantfinal|\.\.\.done thinking\.)`)
)

// span is a part of a text between tokens.
type span struct {
	text    string
	thought bool
}

// untoken takes out tokens, with the thoughts between or before them.
func untoken(_ *Checker, t string, ref *original) string {
	if !strings.ContainsAny(t, "<[◁{【") && !strings.Contains(t, "assistantfinal") && !strings.Contains(t, "...done") {
		return t
	}
	if at := lost.FindStringIndex(t); at != nil && says(t[at[1]:]) {
		return t[at[1]:]
	}
	if at := cutToken.FindStringIndex(t); at != nil && at[0] > 0 && !ref.has("<") {
		t = t[:at[0]]
	}
	var out []string
	for _, s := range spans(t, ref) {
		if !s.thought && says(s.text) {
			out = append(out, s.text)
		}
	}
	switch len(out) {
	case 0:
		return t
	case 1:
		return out[0]
	}
	best, most := 0, -1.0
	for i, s := range out {
		if e := ref.evidence(s); !e.isTalk() && !ref.echoes(s) && ref.quality(e) > most+0.15 {
			best, most = i, ref.quality(e)
		}
	}
	return out[best]
}

// spans cuts a text at its tokens. A thought lasts from the token that opens it to the
// one that closes it, to the next other one, or to the end; a closing token that nothing
// opened ends a thought that began with the text.
func spans(t string, ref *original) []span {
	var out []span
	at, thinks, inside := 0, false, ""
	add := func(s string, thought bool) {
		if role := roles.FindString(strings.TrimSpace(s)); role != "" && at > 0 && !ref.has(":") {
			name := strings.ToLower(strings.Trim(role, ":： \n"))
			s = strings.TrimPrefix(strings.TrimSpace(s), role)
			thought = thought || thoughts.MatchString(name) || name == "user" || name == "system"
		}
		out = append(out, span{s, thought})
	}
	for _, k := range tokens.FindAllStringIndex(t, -1) {
		token := t[k[0]:k[1]]
		if !isToken(token, ref) {
			continue
		}
		switch {
		case inlineTags.MatchString(token):
			t = t[:k[0]] + strings.Repeat("\x00", len(token)) + t[k[1]:]
			continue
		case blockTags.MatchString(token):
			t = t[:k[0]] + "\n" + strings.Repeat("\x00", len(token)-1) + t[k[1]:]
			continue
		}
		name := strings.ToLower(strings.Trim(token, "<>[]{}/|｜◁▷【】 "))
		closing := strings.ContainsAny(token[:min(len(token), 5)], "/") || strings.Contains(name, "end") || strings.Contains(name, "stop")
		isThought := thoughts.MatchString(name)
		switch text := t[at:k[0]]; {
		case closing && isThought && inside == "":
			for i := range out {
				out[i].thought = true
			}
			add(text, true)
			thinks = false
		default:
			add(text, thinks)
			switch {
			case closing && isThought, !closing && !isThought && inside != "":
				thinks, inside = false, ""
			case !closing && isThought && !strings.HasSuffix(token, "/>") && !strings.HasPrefix(token, "<!"):
				thinks, inside = true, name
			}
		}
		at = k[1]
	}
	add(t[at:], thinks)
	for i := range out {
		out[i].text = strings.TrimSpace(strings.ReplaceAll(out[i].text, "\x00", ""))
	}
	return out
}

// isToken reports whether what looks like a token is one: the reference has none of its
// kind of brackets, and it has no spaces but in the attributes of a tag.
func isToken(s string, ref *original) bool {
	if ref.has(string(firstRune(s))) {
		return false
	}
	if s[0] != '<' || strings.HasPrefix(s, "<!") || strings.HasPrefix(s, "<?") || strings.ContainsAny(s, `|｜="`) {
		return true
	}
	name := strings.Trim(s, "<>/")
	return strings.ContainsFunc(name, unicode.IsLetter) && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '▁' && r != '/' && r != ':' && r != '.' && r != '[' && r != ']' && !isWord(r)
	})
}

// unanswered reports whether a text is a thought that no answer follows.
func unanswered(t string, ref *original) bool {
	if !strings.ContainsAny(t, "<[◁{【") {
		return false
	}
	all := spans(t, ref)
	return slices.ContainsFunc(all, func(s span) bool { return s.thought && says(s.text) }) &&
		!slices.ContainsFunc(all, func(s span) bool { return !s.thought && says(s.text) })
}

var (
	jsonValue = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"(\s*:)?|'((?:[^'\\]|\\.|'\pL)*)'(\s*:)?|“([^”]*)”(\s*[:：])?`)
	// calls are code around one string: a call, or what is returned or assigned.
	calls = regexp.MustCompile(`^(?:return |[\w.]+\((?:\w+=)?|(?:\w+ )?\w+ = )["'](.*)["'][^"']*[);]?$`)
)

// unjson takes the text out of JSON, or of what looks like it: of all strings that are no
// names, the one that is most like the reference.
func unjson(_ *Checker, t string, ref *original) string {
	if !strings.ContainsAny(t, `({[=`) && !strings.HasPrefix(t, "return") || !strings.ContainsAny(t, "\"'“") {
		return t
	}
	if m := calls.FindStringSubmatch(t); m != nil && says(m[1]) && !strings.Contains(m[1], `"`) {
		return m[1]
	}
	if len(t) > 2 && t[0] == '"' && strings.Contains(t, `\"`) && t[len(t)-1] == '"' { // JSON in a string of JSON
		t = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(t[1 : len(t)-1])
	}
	i := strings.IndexAny(t, "{[")
	if i < 0 || ref.has("{}[]") || !strings.ContainsAny(t[i:], "\"'“") {
		return t
	}
	best, most := "", -1.0
	for _, m := range jsonValue.FindAllStringSubmatch(t[i:], -1) {
		s := m[1] + m[3] + m[5]
		if m[2]+m[4]+m[6] != "" || ref.echoes(s) || !says(s) {
			continue
		}
		s = strings.NewReplacer(`\"`, `"`, `\'`, "'", `\n`, "\n", `\t`, "\t", `\/`, "/", `\\`, `\`).Replace(s)
		s = undirt(nil, s, ref)
		if e := ref.evidence(s); (ref.fits(e) || e.shared > 0) && ref.quality(e) > most+0.15 {
			best, most = s, ref.quality(e)
		}
	}
	if best == "" {
		return t
	}
	return best
}
