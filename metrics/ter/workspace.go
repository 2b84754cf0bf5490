package ter

import (
	"math"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
)

// workspace holds the texts of one block as words, and the edits of the pairs
// that were asked for.
type workspace struct {
	tokens tokenizer
	vocab  *ngram.Interner
	search search

	seen  map[key]int // to the index in texts
	texts []loaded
	words []int32 // the words of all texts, one text after another
	hyps  []int   // index into texts, per hypothesis
	refs  []int   // the same, per reference
	edits []int32 // per first hypothesis and first reference; unknown where not computed
}

// key is a text and the way to tokenize it.
type key struct {
	text  string
	twice bool
}

// loaded is a distinct text of the block.
type loaded struct {
	start, end int // of its words
	hyp, ref   int // where it is first a hypothesis and a reference; none where it never is
}

const (
	none    = -1
	unknown = -1
)

func newWorkspace(o Options) *workspace {
	return &workspace{
		tokens: tokenizer{Options: o},
		vocab:  ngram.NewInterner(),
		seen:   make(map[key]int),
	}
}

// Load implements [metrics.Workspace].
func (w *workspace) Load(b metrics.Block) {
	w.vocab.Reset()
	clear(w.seen)
	w.texts, w.words = w.texts[:0], w.words[:0]

	w.hyps = w.hyps[:0]
	for i, s := range b.Hypotheses {
		t := w.read(key{s, false})
		w.hyps = append(w.hyps, t)
		if w.texts[t].hyp == none {
			w.texts[t].hyp = i
		}
	}
	w.refs = w.refs[:0]
	for i, s := range b.References {
		t := w.read(key{s, w.tokens.readsTwice()})
		w.refs = append(w.refs, t)
		if w.texts[t].ref == none {
			w.texts[t].ref = i
		}
	}

	w.edits = w.edits[:0]
	for range len(w.hyps) * len(w.refs) {
		w.edits = append(w.edits, unknown)
	}
}

// read returns the index of a text, and tokenizes it unless the block had it
// before.
func (w *workspace) read(k key) int {
	if t, ok := w.seen[k]; ok {
		return t
	}
	start := len(w.words)
	for token := range w.tokens.words(k.text, k.twice) {
		w.words = append(w.words, int32(w.vocab.ID(token)))
	}
	t := len(w.texts)
	w.texts = append(w.texts, loaded{start: start, end: len(w.words), hyp: none, ref: none})
	w.seen[k] = t
	return t
}

// statistics returns the edits of a pair and the length of the reference.
func (w *workspace) statistics(h, r int) (edits, length int) {
	hyp, ref := w.texts[w.hyps[h]], w.texts[w.refs[r]]
	known := &w.edits[hyp.hyp*len(w.refs)+ref.ref]
	if *known == unknown {
		*known = int32(w.search.edits(w.words[hyp.start:hyp.end], w.words[ref.start:ref.end], w.vocab.Len()))
	}
	return int(*known), ref.end - ref.start
}

func (w *workspace) cell(h, r int) float64 {
	edits, length := w.statistics(h, r)
	return rate(float64(edits), float64(length))
}

// native returns the least edits and the mean length over the references.
func (w *workspace) native(h int) (edits, length float64) {
	least, total := math.MaxInt, 0
	for r := range w.refs {
		e, n := w.statistics(h, r)
		least = min(least, e)
		total += n
	}
	return float64(least), float64(total) / float64(len(w.refs))
}

// Cells implements [metrics.Workspace].
func (w *workspace) Cells(dst []float64) []float64 {
	for h := range w.hyps {
		for r := range w.refs {
			dst = append(dst, w.cell(h, r))
		}
	}
	return dst
}

// Native implements [metrics.NativeWorkspace].
func (w *workspace) Native(dst []float64) []float64 {
	for h := range w.hyps {
		dst = append(dst, rate(w.native(h)))
	}
	return dst
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
