package ter

import (
	"math"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
)

// workspace holds the texts of one block as words, and the edits of the pairs computed so
// far.
type workspace struct {
	ngram.Pooled[[]int32]
	tokens tokenizer
	vocab  *ngram.Interner
	search search
	edits  []int32 // per distinct hypothesis and reference; unknown if not yet computed
}

const (
	none    = -1
	unknown = -1
)

// NewWorkspace implements [metrics.Preparer]. Its rule for several references is the least
// number of edits over the mean length of the references. Its statistics are the number of
// edits and the length of the reference in words. A loaded block must have references.
func (m *Metric) NewWorkspace() metrics.Workspace {
	w := &workspace{tokens: tokenizer{Options: m.options}, vocab: ngram.NewInterner()}
	w.OfPair = func(dst []float64, h, r int) []float64 {
		edits, length := w.pair(h, r)
		return append(dst, float64(edits), float64(length))
	}
	w.OfUnion = func(dst []float64, h int) []float64 {
		least, total := math.MaxInt, 0
		for r := range w.Refs.Slot {
			edits, length := w.pair(h, r)
			least = min(least, edits)
			total += length
		}
		return append(dst, float64(least), float64(total)/float64(len(w.Refs.Slot)))
	}
	w.ScoreBy(m.CorpusScore)
	return w
}

// Load implements [metrics.Workspace].
func (w *workspace) Load(b metrics.Block) {
	w.vocab.Reset()
	w.load(&w.Hyps, b.Hypotheses, false)
	w.load(&w.Refs, b.References, w.tokens.readsTwice())
	w.edits = w.edits[:0]
	for range len(w.Hyps.All) * len(w.Refs.All) {
		w.edits = append(w.edits, unknown)
	}
}

func (w *workspace) load(t *ngram.Texts[[]int32], in []string, twice bool) {
	t.Load(in, func(s string, words *[]int32) {
		*words = (*words)[:0]
		w.tokens.words(s, twice, func(word []byte) { *words = append(*words, int32(w.vocab.ID(word))) })
	})
}

// pair returns the edits of a pair and the length of the reference.
func (w *workspace) pair(h, r int) (edits, length int) {
	ref := *w.Refs.Of(r)
	known := &w.edits[w.Hyps.Slot[h]*len(w.Refs.All)+w.Refs.Slot[r]]
	if *known == unknown {
		*known = int32(w.search.edits(*w.Hyps.Of(h), ref, w.vocab.Len()))
	}
	return int(*known), len(ref)
}
