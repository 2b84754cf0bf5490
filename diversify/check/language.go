package check

import "fmt"

// Detector tells the language of a text.
type Detector interface {
	// Detect returns the ISO 639-1 code of a language, and whether it is sure.
	Detect(text string) (code string, sure bool)
	// Signature states what changes its answers.
	Signature() string
}

// otherLanguage says in which other language the answer is, or "". It is at
// fault only where the Detector is sure of that, and does not say the same of
// the reference.
func (s *Segment) otherLanguage(ref *original) string {
	if s.overlaps(ref) {
		return ""
	}
	code, sure := s.c.cfg.Detector.Detect(s.w.text)
	if !sure || code == s.c.cfg.Language {
		return ""
	}
	if !ref.asked {
		ref.lang, ref.asked = "", true
		if lang, sure := s.c.cfg.Detector.Detect(ref.text); sure {
			ref.lang = lang
		}
	}
	if ref.lang == code {
		return ""
	}
	return fmt.Sprintf("it is %s, not %s", code, s.c.cfg.Language)
}

// overlaps reports whether so many words of the answer occur in the reference
// that they are of one language.
func (s *Segment) overlaps(ref *original) bool {
	if s.c.cfg.Overlap >= 1 {
		return false
	}
	words, shared := 0, 0
	for w := range wordsOf(s.w.lower()) {
		words++
		if ref.hasWord(w) {
			shared++
		}
	}
	return words > 0 && float64(shared) >= s.c.cfg.Overlap*float64(words)
}
