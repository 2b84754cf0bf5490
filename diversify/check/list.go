package check

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// otherMarkers are list numbers in forms and letters that few lists have.
var otherMarkers = regexp.MustCompile(`^(?:[（(](?:\d{1,2}|i{1,3}|iv|[一二三四五六七八九十а-д가나다라])[)）]\s*|[一二三四五六七八九十]、\s*|・\s*|\d{1,2}(?:\.-|[ªº]\)| [–—])\s+|(?:[а-д]\)|[А-Д]\.|[가나다라]\.)\s+)`)

// listMarker returns the size of a list number or bullet in front of a text,
// with the white space behind it, or 0. Numbers have up to two digits and mostly one
// of the forms "1." "1)" "(1)" "1、".
func listMarker(t string) int {
	n := commonMarker(t)
	if n == 0 && t != "" && (t[0] > 0x7f || t[0] == '(' || isDigit(t[0])) {
		n = len(otherMarkers.FindString(t))
	}
	if n == len(t) {
		return 0
	}
	return n
}

func commonMarker(t string) int {
	if t == "" {
		return 0
	}
	i := 0
	switch {
	case t[0] == '-' || t[0] == '*' || t[0] == '+':
		i = 1
	case strings.HasPrefix(t, "•"), strings.HasPrefix(t, "‣"):
		i = len("•")
	case t[0] > 0x7f && (unicode.In(firstRune(t), unicode.So, unicode.Sm) || firstRune(t) == '»' || '①' <= firstRune(t) && firstRune(t) <= '⑳'):
		_, i = utf8.DecodeRuneInString(t)
	case t[0] == '[' && len(t) > 3 && isDigit(t[1]) && t[2] == ']':
		i = 3
	case (t[0]|0x20 == 'i') && slices.Contains(romans, strings.ToLower(t[:max(0, strings.IndexByte(t[:min(len(t), 5)], ' '))])):
		i = strings.IndexByte(t, ' ')
	default:
		open := t[0] == '('
		if open {
			i++
		}
		digits := i
		for i < len(t) && '0' <= t[i] && t[i] <= '9' {
			i++
		}
		if i == digits && i+1 < len(t) && ('a' <= t[i] && t[i] <= 'h' || 'A' <= t[i] && t[i] <= 'H') && t[i+1] == ')' {
			i++ // "a)"
		}
		if n := i - digits; n == 0 || n > 2 || i == len(t) {
			return 0
		}
		switch {
		case t[i] == ')' || t[i] == '.' && !open:
			i++
		case strings.HasPrefix(t[i:], "、") && !open:
			return i + len("、")
		default:
			return 0
		}
	}
	space := len(t) - len(strings.TrimLeftFunc(t[i:], unicode.IsSpace)) - i
	if space == 0 || i+space == len(t) {
		return 0
	}
	return i + space
}

// romans are list numbers.
var romans = strings.Fields("i. ii. iii. iv. i) ii) iii) iv)")

// hasLabel reports whether a text begins with a list number, a bullet or a
// dash of any kind.
func hasLabel(t string) bool {
	if listMarker(t) > 0 {
		return true
	}
	r := firstRune(t)
	return unicode.Is(unicode.Pd, r) || r == '•' || r == '‣' || r == '*' ||
		'①' <= r && r <= '⑳' || '⑴' <= r && r <= '⒇'
}

// mayBeLabelled reports whether a text may begin with a label: with a mark, or
// with a mark in its first characters.
func mayBeLabelled(t string) bool {
	return !unicode.IsLetter(firstRune(t)) || strings.ContainsAny(t[:min(len(t), 5)], ".)")
}

// unlist takes a list number or bullet from the front. A reference that has
// one keeps it, and so does a reference that has the same number elsewhere:
// "3. Oktober" is a date.
func unlist(_ *Checker, t string, ref *original) string {
	if name, rest, ok := strings.Cut(t, " "); ok && strings.HasPrefix(name, "@") && !strings.Contains(ref.text, "@") {
		return rest
	}
	if len(t) > 3 && 'a' <= t[0]|0x20 && t[0]|0x20 <= 'd' && t[1:3] == ". " && (len(ref.text) < 3 || ref.text[1:3] != t[1:3]) {
		return t[3:]
	}
	n := listMarker(t)
	if n == 0 || hasLabel(ref.text) {
		return t
	}
	if strings.Contains(t, "\n") {
		if _, marked := listLines(t); marked {
			return t // for the steps that look at all items
		}
	}
	if digits := strings.Trim(t[:n], "(). 、\t\n"); digits != "" && isDigit(digits[0]) && !strings.Contains(t[:n], ")") && hasDigits(ref.text, digits) && !isQuote(firstRune(t[n:])) {
		return t
	}
	return t[n:]
}

// hasDigits reports whether digits occur in a text, not as part of more.
func hasDigits(t, digits string) bool {
	for from := 0; ; {
		i := strings.Index(t[from:], digits)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(digits)
		if (i == 0 || !isDigit(t[i-1])) && (end == len(t) || !isDigit(t[end])) {
			return true
		}
		from = end
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// listLines returns the lines of a text that are not blank, and whether there
// are several and all are list items.
func listLines(t string) (lines []string, marked bool) {
	marked = true
	for l := range strings.Lines(t) {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		lines = append(lines, l)
		marked = marked && listMarker(l) > 0
	}
	return lines, marked && len(lines) > 1
}

// joinLines makes one line of several where the reference is one line, and
// drops the markers of list items with the breaks.
func joinLines(_ *Checker, t string, ref *original) string {
	if !strings.Contains(t, "\n") || strings.Contains(ref.text, "\n") {
		return t
	}
	lines, marked := listLines(t)
	if marked {
		for i, l := range lines {
			lines[i] = strings.TrimSpace(l[listMarker(l):])
		}
	}
	return strings.Join(lines, " ")
}
