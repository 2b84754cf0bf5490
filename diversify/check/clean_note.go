package check

import (
	"strings"
	"unicode"
)

// noteWords begin a note about an answer, on a line of its own or in brackets.
var noteWords = []string{
	"note:", "note -", "explanation:", "notes:", "translation:", "literally:", "hinweis:", "anmerkung:", "erklärung:", "übersetzung:",
	"примечание:", "пояснение:", "перевод:", "注：", "注:", "注意：", "说明：", "解释：", "译文：",
}

// closingWords begin a last line that speaks to the user.
var closingWords = []string{
	"let me know", "i hope this", "i hope that helps", "feel free to", "please let me know", "would you like me to",
	"ich hoffe, das hilft", "lassen sie mich wissen", "надеюсь, это", "дайте знать", "希望这", "如果您需要",
}

// unnote takes a note from the end: words about the task in brackets, a
// translation in brackets where the script shows that it is one, and lines
// that begin like a note.
func unnote(_ *Checker, t string, ref *original) string {
	if cut := noteLine(t, ref); cut >= 0 {
		return t[:cut]
	}
	open, inner, closed := lastBracket(t)
	if open <= 0 || inner == "" || strings.Contains(ref.text, inner) {
		return t
	}
	before := strings.TrimSpace(t[:open])
	switch {
	case closed && isNote(inner, before, ref):
		// "… (present tense)." has its full stop behind the note.
		if rest := strings.TrimSpace(t[open+len("()")+len(inner):]); rest != "" && !endingOf(before).complete() {
			return before + rest
		}
		return before
	case !closed && endingOf(before).complete() && isCutNote(inner, before, ref):
		return before
	}
	return t
}

// lastBracket finds round or square brackets at the end of a text, at most
// with a full stop behind, or one that is not closed. It returns where they
// open and what they hold.
func lastBracket(t string) (open int, inner string, closed bool) {
	end := strings.TrimRight(t, ".")
	for _, pair := range [...]string{"()", "[]"} {
		if len(end) > 0 && end[len(end)-1] == pair[1] {
			if i := strings.LastIndexByte(end, pair[0]); i >= 0 {
				return i, end[i+1 : len(end)-1], true
			}
			return -1, "", false
		}
	}
	if i := strings.LastIndexByte(t, '('); i > 0 && strings.IndexByte(t[i:], ')') < 0 {
		return i, t[i+1:], false
	}
	return -1, "", false
}

// isNote reports whether the content of brackets is about the task, or is a
// translation.
func isNote(inner, before string, ref *original) bool {
	head, _, _ := strings.Cut(inner, ":")
	if tellsTask(head) && !sharesTask(head, ref) {
		return true
	}
	if strings.ContainsAny(ref.text, "([（") {
		return false // it may be the reference's remark
	}
	low := strings.ToLower(inner)
	for _, w := range noteWords {
		if strings.HasPrefix(low, w) {
			return true
		}
	}
	return isGloss(inner) && !mostlyLatin(ref.text) && !mostlyLatin(before)
}

// isCutNote is isNote for a note of which the end is missing: the last word
// may be a part of one.
func isCutNote(inner, before string, ref *original) bool {
	if isNote(inner, before, ref) {
		return true
	}
	i := strings.LastIndexByte(inner, ' ')
	return i > 0 && isNote(inner[:i], before, ref)
}

// isGloss reports whether a text is two words or more in Latin letters.
func isGloss(inner string) bool {
	latin := 0
	for _, r := range inner {
		if unicode.IsLetter(r) {
			if !unicode.Is(unicode.Latin, r) {
				return false
			}
			latin++
		}
	}
	return latin > 0 && unicode.IsLower(lastLetter(inner)) && len(strings.Fields(inner)) > 1
}

func lastLetter(s string) rune {
	last := rune(0)
	for _, r := range s {
		if unicode.IsLetter(r) {
			last = r
		}
	}
	return last
}

// mostlyLatin reports whether more than a tenth of a text's letters are Latin.
func mostlyLatin(t string) bool {
	latin, letters := 0, 0
	for _, r := range t {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	return 10*latin > letters
}

// noteLine returns where the line breaks before a note begin, or -1.
func noteLine(t string, ref *original) int {
	at := strings.LastIndexByte(t, '\n')
	if at <= 0 {
		return -1
	}
	last := strings.ToLower(strings.TrimLeft(t[at+1:], " \t*_(["))
	for _, words := range [...][]string{noteWords, closingWords} {
		for _, w := range words {
			if strings.HasPrefix(last, w) && !strings.Contains(string(ref.w.lower()), w) {
				return at
			}
		}
	}
	return -1
}
