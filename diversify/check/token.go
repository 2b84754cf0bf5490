package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
)

// inlineTags matches HTML tags that occur within a line.
var inlineTags = text.Regexp(`</?(?:b|i|em|strong|u|mark|span|font|small|big|sub|sup|a|abbr|code|kbd|tt|cite|del|ins|q|s)(?: [^<>]*)?/?>`)

// untoken removes tokens, and the thoughts between or before them.
func untoken(_ *Checker, t string, ref *original) string {
	if answer, thought, _ := text.Answer(t); thought && answer != "" && !ref.marked() {
		t = answer
	}
	parts, _ := untagged(t, ref)
	switch len(parts) {
	case 0:
		return t
	case 1:
		return parts[0]
	}
	return ref.best(parts, parts[0])
}

// marked reports whether the original has marks like those around a thought.
func (o *original) marked() bool {
	return slices.ContainsFunc(text.Tokens().FindAllString(o.text, -1), func(token string) bool {
		opens, closes := text.Thought(token)
		return opens || closes || strings.Contains(token, "|")
	})
}

// best returns the part of an answer that is most like the reference but is neither the
// reference nor talk. If there is none, it returns otherwise.
func (o *original) best(parts []string, otherwise string) string {
	most := -1.0
	for _, s := range parts {
		if e := o.evidence(s); !e.isTalk() && !o.echoes(s) && o.quality(e) > most+0.15 {
			otherwise, most = s, o.quality(e)
		}
	}
	return otherwise
}

// untagged splits a text at its tokens, and returns the parts that are not thoughts. A thought
// lasts from its opening token to its closing token, or to a token that opens something else. A
// closing token without an opening one ends a thought that began with the text. open reports
// whether a thought has no end.
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
		t = inlineTags().ReplaceAllString(t, "")
	}
	for _, k := range text.Tokens().FindAllStringIndex(t, -1) {
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

// isToken reports whether s, which looks like a token, is one: the reference does not have its
// kind of brackets, and it has spaces only in the attributes of a tag.
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
	return wordTags().MatchString(s)
}

// wordTags matches tags whose content has no spaces.
var wordTags = text.Regexp(`^</?[\pL\pN\p{Mn}_\-▁/:.\[\]]*\pL[\pL\pN\p{Mn}_\-▁/:.\[\]]*>$`)

var jsonValue = text.Regexp(`"((?:[^"\\]|\\.)*)"(\s*:)?|'((?:[^'\\]|\\.|'\pL)*)'(\s*:)?|“([^”]*)”(\s*[:：])?`)

// unjson takes the text out of JSON or something like it: of all strings that are not names of
// fields, the one most like the reference.
func unjson(_ *Checker, t string, ref *original) string {
	i := strings.IndexAny(t, "{[")
	if i < 0 || ref.has("{}[]") || !strings.ContainsAny(t[i:], "\"'“") {
		return t
	}
	best, most := "", -1.0
	for _, m := range jsonValue().FindAllStringSubmatch(t[i:], -1) {
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
