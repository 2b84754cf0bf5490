package bleu

import (
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// workspace holds one segment: its words interned, its n-grams indexed.
type workspace struct {
	m       *Metric
	tok     *token.Tokenizer
	intern  *ngram.Interner
	index   *ngram.Index
	tokens  []uint32
	refs    texts
	hyps    texts
	matches []int32
}

// texts maps each text of a block to the first one equal to it, and that one
// to its place in the index.
type texts struct {
	first  []int
	slot   []int
	length []int
}

// NewWorkspace returns memory for one goroutine.
func (m *Metric) NewWorkspace() metrics.Workspace {
	n := m.opt.MaxOrder
	return &workspace{
		m:       m,
		tok:     token.New(m.opt.Tokenize),
		intern:  ngram.NewInterner(),
		index:   ngram.New(n),
		matches: make([]int32, n),
	}
}

// Load tokenizes every distinct text of b and counts its n-grams.
func (w *workspace) Load(b metrics.Block) {
	w.intern.Reset()
	w.index.Reset()
	w.load(&w.refs, b.References, w.index.AddReference)
	w.index.Seal()
	w.load(&w.hyps, b.Hypotheses, w.index.AddHypothesis)
}

func (w *workspace) load(t *texts, in []string, add func([]uint32)) {
	t.first = ngram.Distinct(t.first[:0], in)
	t.slot, t.length = t.slot[:0], t.length[:0]
	added := 0
	for i, s := range in {
		if f := t.first[i]; f != i {
			t.slot = append(t.slot, t.slot[f])
			t.length = append(t.length, t.length[f])
			continue
		}
		if w.m.opt.Lowercase {
			s = text.Lower(s)
		}
		w.tokens = w.tokens[:0]
		w.tok.Split(s, func(b []byte) { w.tokens = append(w.tokens, w.intern.ID(b)) })
		add(w.tokens)
		t.slot = append(t.slot, added)
		t.length = append(t.length, len(w.tokens))
		added++
	}
}

// Cells appends sentence BLEU of every pair.
func (w *workspace) Cells(dst []float64) []float64 {
	return ngram.Cells(dst, w.hyps.first, w.refs.first, func(h, r int) float64 {
		w.index.Matches(w.matches, w.hyps.slot[h], w.refs.slot[r])
		return w.m.sentence(w.matches, w.hyps.length[h], w.refs.length[r])
	})
}

// Native appends sentence BLEU of every hypothesis against all references.
func (w *workspace) Native(dst []float64) []float64 {
	return ngram.PerHypothesis(dst, w.hyps.first, func(h int) float64 {
		w.index.UnionMatches(w.matches, w.hyps.slot[h])
		return w.m.sentence(w.matches, w.hyps.length[h], w.closest(h))
	})
}

// CellStatistics appends lengths, matches and totals of one pair.
func (w *workspace) CellStatistics(dst []float64, h, r int) []float64 {
	w.index.Matches(w.matches, w.hyps.slot[h], w.refs.slot[r])
	return w.statistics(dst, w.hyps.length[h], w.refs.length[r])
}

// NativeStatistics appends them for one hypothesis against all references.
func (w *workspace) NativeStatistics(dst []float64, h int) []float64 {
	w.index.UnionMatches(w.matches, w.hyps.slot[h])
	return w.statistics(dst, w.hyps.length[h], w.closest(h))
}

func (w *workspace) statistics(dst []float64, hypLen, refLen int) []float64 {
	dst = append(dst, float64(hypLen), float64(refLen))
	for _, c := range w.matches {
		dst = append(dst, float64(c))
	}
	for i := range w.matches {
		dst = append(dst, float64(ngram.Total(hypLen, i+1)))
	}
	return dst
}

// closest is the length of the reference nearest in length to hypothesis h,
// the shorter of two equally near.
func (w *workspace) closest(h int) int {
	n := w.hyps.length[h]
	best := -1
	for _, l := range w.refs.length {
		if best < 0 || abs(n-l) < abs(n-best) || abs(n-l) == abs(n-best) && l < best {
			best = l
		}
	}
	return best
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
