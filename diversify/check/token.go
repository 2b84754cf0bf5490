package check

import (
	"slices"
	"strings"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics/judge/answer"
)

// untoken removes tokens, and the thoughts between or before them.
func untoken(_ *Checker, t string, ref *original) string {
	if answer, thought, _ := text.Answer(t); thought && answer != "" && !ref.marked() {
		t = answer
	}
	parts := untokened(t, ref)
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

// untokened splits a text at its tokens.
func untokened(t string, ref *original) (parts []string) {
	if !text.MayHaveTokens(t) {
		return []string{t}
	}
	at := 0
	add := func(s string) {
		if says(s) {
			parts = append(parts, strings.TrimSpace(s))
		}
	}
	for _, k := range text.Tokens().FindAllStringIndex(t, -1) {
		if isToken(t[k[0]:k[1]], ref) {
			add(t[at:k[0]])
			at = k[1]
		}
	}
	add(t[at:])
	return parts
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

// unjson takes the text out of JSON or something like it: of all strings that are not names of
// members, the one most like the reference.
func unjson(_ *Checker, t string, ref *original) string {
	if ref.has("{}[]") || !strings.ContainsAny(t, "{[") {
		return t
	}
	best, most := t, -1.0
	for _, s := range answer.Strings(t) {
		s = undirt(nil, s, ref)
		if e := ref.evidence(s); says(s) && !ref.echoes(s) && (ref.fits(e) || e.shared > 0) && ref.quality(e) > most+0.15 {
			best, most = s, ref.quality(e)
		}
	}
	return best
}
