package chrf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// workspace holds one segment: its character and word n-grams indexed.
type workspace struct {
	ngram.Pooled[lengths]
	m      *Metric
	chars  *ngram.Index
	words  *ngram.Index // nil without word n-grams
	intern *ngram.Interner
	tokens []uint32
	kept   [utf8.RuneSelf]uint8 // 1 for a character that n-grams have, 0 for white space
}

// lengths are those of a text.
type lengths struct{ chars, words int }

// NewWorkspace returns memory for one goroutine.
func (m *Metric) NewWorkspace() metrics.Workspace {
	w := &workspace{m: m, chars: ngram.New(m.opt.CharOrder)}
	w.OfPair, w.OfUnion = w.pair, w.best
	w.ScoreBy(m.CorpusScore)
	for c := range w.kept {
		if m.opt.Whitespace || !text.IsSpace(rune(c)) {
			w.kept[c] = 1
		}
	}
	if m.opt.WordOrder > 0 {
		w.words = ngram.New(m.opt.WordOrder)
		w.intern = ngram.NewInterner()
	}
	return w
}

// Load counts the n-grams of every distinct text of b.
func (w *workspace) Load(b metrics.Block) {
	w.chars.Reset()
	if w.words != nil {
		w.words.Reset()
		w.intern.Reset()
	}
	w.load(&w.Refs, b.References, (*ngram.Index).AddReference)
	w.load(&w.Hyps, b.Hypotheses, (*ngram.Index).AddHypothesis)
	w.chars.Count()
	if w.words != nil {
		w.words.Count()
	}
}

func (w *workspace) load(t *ngram.Texts[lengths], in []string, add func(*ngram.Index, []uint32)) {
	t.Load(in, func(s string, n *lengths) {
		if w.m.opt.Lowercase {
			s = text.Lower(s)
		}
		w.readChars(s)
		add(w.chars, w.tokens)
		n.chars = len(w.tokens)
		if w.words != nil {
			w.readWords(s)
			add(w.words, w.tokens)
			n.words = len(w.tokens)
		}
	})
}

func (w *workspace) readChars(s string) {
	tokens, n := slices.Grow(w.tokens[:0], len(s))[:len(s)], 0
	for _, r := range s {
		tokens[n] = uint32(r)
		if r < utf8.RuneSelf {
			n += int(w.kept[r]) // spaces come at random, so a branch would be slow
		} else if w.m.opt.Whitespace || !text.IsSpace(r) {
			n++
		}
	}
	w.tokens = tokens[:n]
}

// readWords splits at white space and separates one punctuation mark from each word: the
// last character, or else the first (so "(hi)" becomes "(hi" and ")", as in the original
// program).
func (w *workspace) readWords(s string) {
	w.tokens = w.tokens[:0]
	token.Fields([]byte(s), func(f []byte) {
		_, first := utf8.DecodeRune(f)
		switch last := len(f) - 1; {
		case first == len(f):
			w.tokens = append(w.tokens, w.intern.ID(f))
		case isPunct(f[last]):
			w.tokens = append(w.tokens, w.intern.ID(f[:last]), w.intern.ID(f[last:]))
		case isPunct(f[0]):
			w.tokens = append(w.tokens, w.intern.ID(f[:1]), w.intern.ID(f[1:]))
		default:
			w.tokens = append(w.tokens, w.intern.ID(f))
		}
	})
}

const asciiPunct = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

func isPunct(b byte) bool { return strings.IndexByte(asciiPunct, b) >= 0 }

// NativeIsMax reports that chrF against several references is chrF against the best one.
func (m *Metric) NativeIsMax() bool { return true }

// pair appends, for each order, the n-grams of the hypothesis, of the reference, and those
// matched.
func (w *workspace) pair(dst []float64, h, r int) []float64 {
	hyp, ref := w.Hyps.Of(h), w.Refs.Of(r)
	dst = appendTriples(dst, w.chars.Matches(w.Hyps.Slot[h], w.Refs.Slot[r]), hyp.chars, ref.chars)
	if w.words != nil {
		dst = appendTriples(dst, w.words.Matches(w.Hyps.Slot[h], w.Refs.Slot[r]), hyp.words, ref.words)
	}
	return dst
}

func appendTriples(dst []float64, matches []int32, hypLen, refLen int) []float64 {
	for i, c := range matches {
		hyp, ref := ngram.Total(hypLen, i+1), ngram.Total(refLen, i+1)
		if ref == 0 {
			hyp = 0 // an order that the reference lacks does not count
		}
		dst = append(dst, float64(hyp), float64(ref), float64(c))
	}
	return dst
}

// best appends the statistics of the best reference, the first of equally good ones.
func (w *workspace) best(dst []float64, h int) []float64 {
	best, at, n := -1.0, 0, len(dst)
	for r, same := range w.Refs.First {
		if same != r {
			continue
		}
		if f := w.m.CorpusScore(w.pair(dst, h, r)[n:]); f > best {
			best, at = f, r
		}
	}
	return w.pair(dst, h, at)
}
