package check

// Detector tells languages apart.
type Detector interface {
	// Beside returns what tells whether an answer to a reference is in another
	// language than that: what is to be said of it, or "". The answer comes
	// without the words that it shares with the reference. The function serves
	// one goroutine, Beside many. It fails where it cannot tell, which ends a run.
	Beside(reference string) func(rest, answer string) (string, error)
	// Signature states what changes its answers.
	Signature() string
}

// otherLanguage says in which other language the answer is, or "". Words that
// it shares with the reference tell nothing; where they are many, and not all
// names, the language is one.
func (s *Segment) otherLanguage(ref *original) string {
	words, shared, names := 0, 0, 0
	s.w.rest = s.w.rest[:0]
	for w := range wordsOf(s.w.lower()) {
		words++
		if !ref.hasWord(w) {
			s.w.rest = append(append(s.w.rest, w...), ' ')
			continue
		}
		shared++
		if ref.hasName(w) {
			names++
		}
	}
	least := s.c.cfg.Overlap * float64(words)
	if least < float64(words) && float64(shared) >= least && float64(shared-names) >= least/2 {
		return ""
	}
	if ref.other == nil {
		ref.other = s.c.cfg.Detector.Beside(ref.text)
	}
	found, err := ref.other(string(s.w.rest), s.w.text)
	if found != "" || err != nil {
		s.result.Err = err
		return found
	}
	if code := ref.otherWords(s.w.rest); code != "" {
		return "its words are of another language than the reference: " + code
	}
	return ""
}

// otherWords is the code of another language than the reference's that words are
// of, or "".
func (o *original) otherWords(rest []byte) string {
	k := knownTongues()
	if !o.hasTongue {
		o.tongue, o.hasTongue = k.tongue(o.text), true
	}
	if o.tongue == 0 {
		return ""
	}
	return k.other(o.tongue, rest)
}
