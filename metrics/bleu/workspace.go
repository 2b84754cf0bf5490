package bleu

import (
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// workspace holds one segment: its words interned, its n-grams indexed, the lengths of its
// texts.
type workspace struct {
	ngram.Pooled[int]
	m      *Metric
	split  token.Splitter
	intern *ngram.Interner
	index  *ngram.Index
	tokens []uint32
	united []int // lengths of the references that native numbers are against
}

// NewWorkspace returns memory for one goroutine.
func (m *Metric) NewWorkspace() metrics.Workspace {
	w := &workspace{m: m, split: m.splitter(), intern: ngram.NewInterner(), index: ngram.New(m.opt.MaxOrder)}
	w.OfPair = func(dst []float64, h, r int) []float64 {
		return statistics(dst, w.index.Matches(w.Hyps.Slot[h], w.Refs.Slot[r]), *w.Hyps.Of(h), *w.Refs.Of(r))
	}
	w.OfUnion = func(dst []float64, h int) []float64 {
		length := *w.Hyps.Of(h)
		return statistics(dst, w.index.UnionMatches(w.Hyps.Slot[h]), length, closest(length, w.united))
	}
	w.ScoreBy(w.sentence)
	return w
}

func (w *workspace) sentence(statistics []float64) float64 {
	return w.m.compute(statistics, w.m.effective(metrics.Sentence))
}

// Load tokenizes every distinct text of b and counts its n-grams.
func (w *workspace) Load(b metrics.Block) {
	w.intern.Reset()
	w.index.Reset()
	w.load(&w.Refs, b.References, w.index.AddReference)
	w.load(&w.Hyps, b.Hypotheses, w.index.AddHypothesis)
	w.index.Count()
	w.united = w.Refs.All
}

func (w *workspace) load(t *ngram.Texts[int], in []string, add func([]uint32)) {
	t.Load(in, func(s string, length *int) {
		w.tokens = w.tokens[:0]
		w.split.Split(s, func(b []byte) { w.tokens = append(w.tokens, w.intern.ID(b)) })
		add(w.tokens)
		*length = len(w.tokens)
	})
}

// NativeAgainst appends sentence BLEU of every hypothesis against some references, by their
// indices. After it, the other native numbers need a new Load.
func (w *workspace) NativeAgainst(dst []float64, references []int) []float64 {
	slots := make([]int, len(references))
	w.united = make([]int, len(references))
	for i, r := range references {
		slots[i], w.united[i] = w.Refs.Slot[r], *w.Refs.Of(r)
	}
	w.index.Unite(slots)
	return w.Native(dst)
}

// statistics appends lengths, matches and totals.
func statistics(dst []float64, matches []int32, hypLen, refLen int) []float64 {
	dst = append(dst, float64(hypLen), float64(refLen))
	for _, c := range matches {
		dst = append(dst, float64(c))
	}
	for i := range matches {
		dst = append(dst, float64(ngram.Total(hypLen, i+1)))
	}
	return dst
}

// closest is the length closest to n, the shorter of two equally close ones.
func closest(n int, lengths []int) int {
	best := -1
	for _, l := range lengths {
		d, least := max(n-l, l-n), max(n-best, best-n)
		if best < 0 || d < least || d == least && l < best {
			best = l
		}
	}
	return best
}
