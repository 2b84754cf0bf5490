package ter

import (
	"math"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
)

// workspace holds the texts of one block as words, and the edits of the pairs computed so
// far.
type workspace struct {
	tokens     tokenizer
	vocab      *ngram.Interner
	search     search
	hyps, refs texts
	edits      []int32 // per distinct hypothesis and reference; unknown if not yet computed
}

// texts are one side of a block, with the words of the distinct ones, one text
// after another.
type texts struct {
	ngram.Texts
	words []int32
	ends  []int
}

// wordsOf returns the words of text i.
func (t *texts) wordsOf(i int) []int32 {
	slot, start := t.Slot[i], 0
	if slot > 0 {
		start = t.ends[slot-1]
	}
	return t.words[start:t.ends[slot]]
}

const (
	none    = -1
	unknown = -1
)

func newWorkspace(o Options) *workspace {
	return &workspace{tokens: tokenizer{Options: o}, vocab: ngram.NewInterner()}
}

// Load implements [metrics.Workspace].
func (w *workspace) Load(b metrics.Block) {
	w.vocab.Reset()
	w.load(&w.hyps, b.Hypotheses, false)
	w.load(&w.refs, b.References, w.tokens.readsTwice())
	w.edits = w.edits[:0]
	for range len(w.hyps.ends) * len(w.refs.ends) {
		w.edits = append(w.edits, unknown)
	}
}

func (w *workspace) load(t *texts, in []string, twice bool) {
	t.words, t.ends = t.words[:0], t.ends[:0]
	t.Load(in, func(s string) {
		w.tokens.words(s, twice, func(word []byte) { t.words = append(t.words, int32(w.vocab.ID(word))) })
		t.ends = append(t.ends, len(t.words))
	})
}

// statistics returns the edits of a pair and the length of the reference.
func (w *workspace) statistics(h, r int) (edits, length int) {
	ref := w.refs.wordsOf(r)
	known := &w.edits[w.hyps.Slot[h]*len(w.refs.ends)+w.refs.Slot[r]]
	if *known == unknown {
		*known = int32(w.search.edits(w.hyps.wordsOf(h), ref, w.vocab.Len()))
	}
	return int(*known), len(ref)
}

func (w *workspace) cell(h, r int) float64 {
	edits, length := w.statistics(h, r)
	return rate(float64(edits), float64(length))
}

// native returns the least edits and the mean length over the references.
func (w *workspace) native(h int) (edits, length float64) {
	least, total := math.MaxInt, 0
	for r := range w.refs.Slot {
		e, n := w.statistics(h, r)
		least = min(least, e)
		total += n
	}
	return float64(least), float64(total) / float64(len(w.refs.Slot))
}

// Cells implements [metrics.Workspace].
func (w *workspace) Cells(dst []float64) []float64 {
	return ngram.Cells(dst, &w.hyps.Texts, &w.refs.Texts, w.cell)
}

// Native implements [metrics.NativeWorkspace].
func (w *workspace) Native(dst []float64) []float64 {
	return ngram.PerHypothesis(dst, &w.hyps.Texts, func(h int) float64 { return rate(w.native(h)) })
}

// CellStatistics implements [metrics.StatisticsWorkspace].
func (w *workspace) CellStatistics(dst []float64, h, r int) []float64 {
	edits, length := w.statistics(h, r)
	return append(dst, float64(edits), float64(length))
}

// NativeStatistics implements [metrics.StatisticsWorkspace].
func (w *workspace) NativeStatistics(dst []float64, h int) []float64 {
	edits, length := w.native(h)
	return append(dst, edits, length)
}
