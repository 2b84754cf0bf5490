package bleu

import (
	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
)

// workspace holds one segment: its words interned, its n-grams indexed.
type workspace struct {
	m      *Metric
	tok    splitter
	intern *ngram.Interner
	index  *ngram.Index
	tokens []uint32
	refs   texts
	hyps   texts
}

// texts are one side of a block, with the number of words of each distinct text.
type texts struct {
	ngram.Texts
	lengths []int
}

func (t *texts) length(i int) int { return t.lengths[t.Slot[i]] }

// NewWorkspace returns memory for one goroutine.
func (m *Metric) NewWorkspace() metrics.Workspace {
	return &workspace{m: m, tok: m.tokenizer(), intern: ngram.NewInterner(), index: ngram.New(m.opt.MaxOrder)}
}

// Load tokenizes every distinct text of b and counts its n-grams.
func (w *workspace) Load(b metrics.Block) {
	w.intern.Reset()
	w.index.Reset()
	w.load(&w.refs, b.References, w.index.AddReference)
	w.load(&w.hyps, b.Hypotheses, w.index.AddHypothesis)
	w.index.Count()
}

func (w *workspace) load(t *texts, in []string, add func([]uint32)) {
	t.lengths = t.lengths[:0]
	t.Load(in, func(s string) {
		if w.m.opt.Lowercase {
			s = text.Lower(s)
		}
		w.tokens = w.tokens[:0]
		w.tok.Split(s, func(b []byte) { w.tokens = append(w.tokens, w.intern.ID(b)) })
		add(w.tokens)
		t.lengths = append(t.lengths, len(w.tokens))
	})
}

// pair returns the matches of hypothesis h and reference r.
func (w *workspace) pair(h, r int) []int32 { return w.index.Matches(w.hyps.Slot[h], w.refs.Slot[r]) }

// all returns the matches of hypothesis h against all references.
func (w *workspace) all(h int) []int32 { return w.index.UnionMatches(w.hyps.Slot[h]) }

// Cells appends sentence BLEU of every pair.
func (w *workspace) Cells(dst []float64) []float64 {
	return ngram.Cells(dst, &w.hyps.Texts, &w.refs.Texts, func(h, r int) float64 {
		return w.m.sentence(w.pair(h, r), w.hyps.length(h), w.refs.length(r))
	})
}

// Native appends sentence BLEU of every hypothesis against all references.
func (w *workspace) Native(dst []float64) []float64 { return w.native(dst, w.refs.lengths) }

// NativeAgainst appends sentence BLEU of every hypothesis against some references, by their
// indices. After it, the other native numbers need a new Load.
func (w *workspace) NativeAgainst(dst []float64, references []int) []float64 {
	slots, lengths := make([]int, len(references)), make([]int, len(references))
	for i, r := range references {
		slots[i], lengths[i] = w.refs.Slot[r], w.refs.length(r)
	}
	w.index.Unite(slots)
	return w.native(dst, lengths)
}

func (w *workspace) native(dst []float64, lengths []int) []float64 {
	return ngram.PerHypothesis(dst, &w.hyps.Texts, func(h int) float64 {
		return w.m.sentence(w.all(h), w.hyps.length(h), closest(w.hyps.length(h), lengths))
	})
}

// CellStatistics appends lengths, matches and totals of one pair.
func (w *workspace) CellStatistics(dst []float64, h, r int) []float64 {
	return statistics(dst, w.pair(h, r), w.hyps.length(h), w.refs.length(r))
}

// NativeStatistics appends the statistics of one hypothesis against all references.
func (w *workspace) NativeStatistics(dst []float64, h int) []float64 {
	return statistics(dst, w.all(h), w.hyps.length(h), closest(w.hyps.length(h), w.refs.lengths))
}

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
