package alarm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
)

// names finds lost and new names: words with a capital letter inside a sentence. German
// capitalises all nouns, and some scripts have no capitals; there a name counts only if another
// name replaces it.
func names(ref, got *words) string {
	a, b := ref.names(), got.names()
	lost, added := gone(a, got, b), gone(b, ref, a)
	switch swap := len(lost) > 0 && len(added) > 0; {
	case swap && (ref.code != "de" || ref.alike >= likely):
		return arrow(lost, added)
	case ref.code == "de" || isDense(ref.code) || ref.titled() || got.titled():
		return ""
	case len(lost) > 0 && len(lost) == len(a):
		return strings.Join(lost, ", ") + " lost"
	case len(added) > 0:
		return strings.Join(added, ", ") + " new"
	}
	return ""
}

// gone returns the names that other lacks.
func gone(names []string, other *words, others []string) (out []string) {
	has := func(name string) bool {
		return slices.ContainsFunc(other.list(), func(w string) bool { return isForm(text.Lower(name), strings.TrimSuffix(w, "'s")) })
	}
	for _, n := range names {
		if !has(n) && !strings.Contains(other.text, n) && !initials(n, others) && !slices.ContainsFunc(others, func(o string) bool { return initials(o, names) }) {
			out = append(out, n)
		}
	}
	return out
}

// isForm reports whether two words are forms of one name: Париж and Париже.
func isForm(a, b string) bool {
	x, y := []rune(a), []rune(b)
	n := common(x, y)
	return n >= 3 && n >= min(len(x), len(y))-2 || a == b
}

// initials reports whether short consists of the first letters of consecutive names.
func initials(short string, names []string) bool {
	var b strings.Builder
	for _, n := range names {
		r, _ := utf8.DecodeRuneInString(n)
		b.WriteRune(r)
	}
	return len(short) > 1 && short == strings.ToUpper(short) && strings.Contains(b.String(), strings.ReplaceAll(short, ".", ""))
}

// capitals returns the words of a text that have a capital letter.
func capitals(s string) []string {
	return slices.DeleteFunc(text.LetterRuns(s), func(w string) bool { return !isCapital(w) })
}

// titled reports whether at least half of the words have a capital letter, as in a heading.
func (w *words) titled() bool { return 2*len(capitals(w.text)) > len(text.LetterRuns(w.text)) }

// names returns the names of a text.
func (w *words) names() (out []string) {
	if isDense(w.code) {
		return w.denseNames()
	}
	begins, before := true, ""
	for f := range strings.FieldsSeq(strings.ReplaceAll(w.text, "’", "'")) {
		bare := strings.TrimFunc(f, func(r rune) bool { return !unicode.IsLetter(r) })
		bare, _, _ = strings.Cut(bare, "'")
		if isCapital(bare) && !begins && !isTitle(bare) && !strings.HasPrefix(bare, "Ва") && bare != "Вы" && (w.code != "de" || !determines(before)) {
			out = append(out, bare)
		}
		last, _ := utf8.DecodeLastRuneInString(f)
		begins, before = strings.ContainsRune(".!?:;\"'”»“—–-(", last) && !isTitle(bare) || strings.ContainsAny(f, `"“„«»(`), f
	}
	return out
}

// isTitle reports whether a word is a title that precedes names.
func isTitle(w string) bool {
	return slices.Contains([]string{"Mr", "Mrs", "Ms", "Dr", "St", "Prof", "Herr", "Herrn", "Frau", "Mme", "Sr", "Sra", "Don", "God", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}, w)
}

// determines reports whether a German word shows that the noun after it is not a name: an
// article, a pronoun or an adjective.
func determines(w string) bool {
	w = strings.ToLower(w)
	return strings.HasSuffix(w, "e") || strings.HasSuffix(w, "en") || strings.HasSuffix(w, "er") || strings.HasSuffix(w, "es") || strings.HasSuffix(w, "em") || unicode.IsDigit(rune(w[0])) ||
		slices.Contains(strings.Fields("der die das den dem des ein im am zum zur beim vom ins ans kein mein dein sein ihr unser wir mit ohne und oder wie als zu"), w) && w != "herr"
}

// denseNames returns the names of a text without spaces: places, family names before a
// title, runs of Katakana, and words in Latin letters.
func (w *words) denseNames() (out []string) {
	for _, h := range w.hits("place") {
		out = append(out, h.word)
	}
	for _, h := range w.hits("title") {
		before := []rune(w.plain[:h.at])
		n := len(before)
		for n > 0 && len(before)-n < 3 && unicode.Is(unicode.Han, before[n-1]) && (w.code == "ja" || n == len(before)) {
			n--
		}
		if name := string(before[n:]); name != "" && (w.code == "ja" && len(before)-n > 1 || strings.Contains(surnames, name)) {
			out = append(out, name)
		}
	}
	for run := range strings.FieldsFuncSeq(w.text, func(r rune) bool { return !unicode.In(r, unicode.Katakana, unicode.Latin) && r != 'ー' }) {
		if utf8.RuneCountInString(run) > 2 && (isCapital(run) || run[0] >= utf8.RuneSelf) {
			out = append(out, run)
		}
	}
	return out
}

// surnames are frequent Chinese family names.
const surnames = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程苏魏吕丁任沈姚卢"
