package check

import (
	"fmt"
	"slices"
	"strings"
)

// leftover is how much what was taken off an answer speaks against the rest: where
// that has nothing of the reference, it may be more of the same.
func (o *original) leftover(t string, rest fit) float64 {
	gone := o.taken
	if gone.words == 0 || rest.shared > 1 {
		return 0
	}
	against := 0.0
	if rest.shared == 0 && !o.kin(t) {
		against = 1.5
	}
	if gone.sorry >= 2 {
		against += 2
	}
	if gone.chars > rest.chars {
		against += 1
	}
	if 2*rest.chars < o.chars {
		against += 1
	}
	return against
}

// subjects are what a sentence is about that tells of the text in place of rewriting it.
var subjects = strings.Fields("text sentence passage phrase excerpt snippet quotation paraphrased rewritten wording input prompt headline statement " +
	"satz text textstelle формулировка текст предложение фраза отрывок")

// isSubject reports whether the first word that says something names a text, where the
// reference has no such word.
func (o *original) isSubject(t string) bool {
	o.lowered(t)
	for w := range wordsOf(o.buffer) {
		if talkWords().class(w) != stop {
			return slices.Contains(subjects, string(w)) && !strings.Contains(strings.ToLower(o.text), string(w))
		}
	}
	return false
}

// refusal says how an answer speaks of the task in place of doing it, or "".
// Nothing counts that the reference says too. language reports that the check
// of languages follows.
func refusal(w *work, ref *original, language bool) string {
	if ref.text == "" {
		return ""
	}
	v := ref.view(w.text)
	if len(v.parts) == 0 {
		return ""
	}
	if ends := scriptOf(w.text); language && ends != ref.script && ref.script != noScript && ends != noScript && v.all.words > 2 {
		return ""
	}
	for _, p := range [...]part{v.parts[0], v.parts[len(v.parts)-1]} {
		if len(v.parts) > 1 && p.score < -1.5 && !p.echo {
			return fmt.Sprintf("it begins or ends with talk: %s", quote(strings.TrimSpace(w.text[p.begin:p.end])))
		}
	}
	if ref.isSubject(w.text) {
		return fmt.Sprintf("it speaks of the task: %s", quote(w.text))
	}
	p := part{end: len(w.text), kind: entire, fit: v.all}
	if len(v.parts) == 1 {
		p.fit, p.lex = v.parts[0].fit, v.parts[0].lex
	} else {
		p.lex = ref.lean(w.text)
	}
	p.fit.script = scriptOf(w.text)
	switch {
	case p.fit.script != ref.script && ref.script != noScript && language && p.fit.words > 2: // it gets that verdict
		return ""
	case ref.foreign(p.fit):
		return fmt.Sprintf("it is in another script: %s", quote(w.text))
	}
	if s := ref.score(w.text, &p, 0, 1, p.fit) - ref.leftover(w.text, p.fit); s < 0 {
		if p.fit.talk > p.fit.own {
			return fmt.Sprintf("it speaks of the task: %s", quote(w.text))
		}
		if missingEnd(w, ref, w.text) != "" {
			return "" // it is cut
		}
		return fmt.Sprintf("it has nothing of the reference: %s", quote(w.text))
	}
	return ""
}
