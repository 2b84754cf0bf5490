package check

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/refract-eval/refract/internal/text"
)

// inlineTags are tags of HTML within a line.
var inlineTags = regexp.MustCompile(`</?(?:b|i|em|strong|u|mark|span|font|small|big|sub|sup|a|abbr|code|kbd|tt|cite|del|ins|q|s)(?: [^<>]*)?/?>`)

// untoken takes out tokens, with the thoughts between or before them.
func untoken(_ *Checker, t string, ref *original) string {
	parts, _ := untagged(t, ref)
	if len(parts) == 0 {
		return t
	}
	return ref.best(parts, parts[0])
}

// best is the part of an answer that is most like the reference, and neither the
// reference nor talk; otherwise is returned where all are.
func (o *original) best(parts []string, otherwise string) string {
	most := -1.0
	for _, s := range parts {
		if e := o.evidence(s); !e.isTalk() && !o.echoes(s) && o.quality(e) > most+0.15 {
			otherwise, most = s, o.quality(e)
		}
	}
	return otherwise
}

// untagged cuts a text at its tokens, and returns the parts that are no thoughts. A
// thought lasts from the token that opens it to the one that closes it, or to another one
// that opens something; a closing token that nothing opened ends a thought that began with
// the text. open reports whether the text is a thought that nothing ends.
func untagged(t string, ref *original) (parts []string, open bool) {
	if !text.MayHaveTokens(t) {
		return []string{t}, false
	}
	at, thought := 0, ""
	add := func(s string) {
		if open = thought != ""; !open && says(s) {
			parts = append(parts, strings.TrimSpace(s))
		}
	}
	if !ref.has("<") {
		t = inlineTags.ReplaceAllString(t, "")
	}
	for _, k := range text.Tokens.FindAllStringIndex(t, -1) {
		token := t[k[0]:k[1]]
		if !isToken(token, ref) {
			continue
		}
		add(t[at:k[0]])
		at = k[1]
		switch opens, closes := text.Thought(token); {
		case closes:
			if thought == "" {
				parts = nil
			}
			thought = ""
		case opens:
			thought = token
		}
	}
	add(t[at:])
	return parts, open && len(parts) == 0
}

// isToken reports whether what looks like a token is one: the reference has none of its
// kind of brackets, and it has no spaces but in the attributes of a tag.
func isToken(s string, ref *original) bool {
	if text.EndsThought(s) {
		return true
	}
	if ref.has(string(firstRune(s))) {
		return false
	}
	if s[0] != '<' || strings.HasPrefix(s, "<!") || strings.HasPrefix(s, "<?") || strings.ContainsAny(s, `|｜="`) {
		return true
	}
	return wordTags.MatchString(s)
}

// wordTags are tags of words without spaces.
var wordTags = regexp.MustCompile(`^</?[\pL\pN\p{Mn}_\-▁/:.\[\]]*\pL[\pL\pN\p{Mn}_\-▁/:.\[\]]*>$`)

var jsonValue = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"(\s*:)?|'((?:[^'\\]|\\.|'\pL)*)'(\s*:)?|“([^”]*)”(\s*[:：])?`)

// unjson takes the text out of JSON, or of what looks like it: of all strings that are no
// names, the one that is most like the reference.
func unjson(_ *Checker, t string, ref *original) string {
	i := strings.IndexAny(t, "{[")
	if i < 0 || ref.has("{}[]") || !strings.ContainsAny(t[i:], "\"'“") {
		return t
	}
	best, most := "", -1.0
	for _, m := range jsonValue.FindAllStringSubmatch(t[i:], -1) {
		s := m[1] + m[3] + m[5]
		s = strings.NewReplacer(`\"`, `"`, `\'`, "'", `\n`, "\n", `\t`, "\t", `\/`, "/", `\\`, `\`).Replace(s)
		s = undirt(nil, s, ref)
		if m[2]+m[4]+m[6] != "" || ref.echoes(s) || !says(s) {
			continue
		}
		if e := ref.evidence(s); (ref.fits(e) || e.shared > 0) && ref.quality(e) > most+0.15 {
			best, most = s, ref.quality(e)
		}
	}
	return cmp.Or(best, t)
}
