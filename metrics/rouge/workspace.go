package rouge

import (
	"strings"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// workspace holds one segment: its words interned, and the counters of common ones.
type workspace struct {
	ngram.Pairs[document]
	m      *metric
	split  *token.Tokenizer
	intern *ngram.Interner
	order  int          // of the n-grams; 0 for subsequences
	index  *ngram.Index // of n-grams
	common sequences
	word   []byte
}

// document is a text as lines of words. Only rougeLsum has more than one line a text.
type document struct {
	lines [][]uint32
	words int
}

// NewWorkspace returns memory for one goroutine.
func (m *metric) NewWorkspace() metrics.Workspace {
	w := &workspace{m: m, split: token.New(m.opt.Split, true), intern: ngram.NewInterner()}
	w.Pair = func(h, r int) float64 {
		score, _ := w.score(h, r)
		return score
	}
	w.Union = w.best
	if w.order = map[kind]int{rouge1: 1, rouge2: 2}[m.opt.Kind]; w.order > 0 {
		w.index = ngram.New(w.order)
	}
	return w
}

// Load reads every distinct text of b.
func (w *workspace) Load(b metrics.Block) {
	w.intern.Reset()
	w.Refs.Load(b.References, w.read)
	w.Hyps.Load(b.Hypotheses, w.read)
	if w.order == 0 {
		w.common.words(w.intern.Len())
		return
	}
	w.index.Reset()
	for _, d := range w.Refs.All {
		w.index.AddReference(d.lines[0])
	}
	for _, d := range w.Hyps.All {
		w.index.AddHypothesis(d.lines[0])
	}
	w.index.Count()
}

// read splits a text into lines and words, and replaces what d held.
func (w *workspace) read(s string, d *document) {
	d.words = 0
	lines := d.lines[:0]
	for rest, more := s, true; more; {
		line := rest
		if more = false; w.m.opt.Kind == rougeLsum {
			line, rest, more = strings.Cut(rest, "\n")
		}
		var ids []uint32
		if n := len(lines); n < cap(lines) {
			ids = lines[:n+1][n][:0]
		}
		w.split.Split(line, func(word []byte) {
			if w.m.opt.Stemmer && len(word) > 3 && token.IsRouge(word) {
				w.word = append(w.word[:0], word...)
				word = stem(w.word)
			}
			ids = append(ids, w.intern.ID(word))
		})
		lines = append(lines, ids)
		d.words += len(ids)
	}
	d.lines = lines
}

// hits counts what a hypothesis and a reference have in common.
func (w *workspace) hits(h, r int) int {
	if w.order == 0 {
		return w.common.union(w.Refs.Of(r), w.Hyps.Of(h))
	}
	return int(w.index.Matches(w.Hyps.Slot[h], w.Refs.Slot[r])[w.order-1])
}

// score returns the chosen part of a pair's score, and its F1.
func (w *workspace) score(h, r int) (score, f float64) {
	hits := w.hits(h, r)
	if hits == 0 {
		return 0, 0
	}
	lacking := max(0, w.order-1) // a text has this many fewer n-grams than words
	found := float64(hits) / float64(w.Hyps.Of(h).words-lacking)
	covered := float64(hits) / float64(w.Refs.Of(r).words-lacking)
	f = 2 * found * covered / (found + covered)
	switch w.m.opt.Part {
	case precision:
		return found, f
	case recall:
		return covered, f
	}
	return f, f
}

// best returns ROUGE against the reference with the best F1.
func (w *workspace) best(h int) float64 {
	best, bestF := 0.0, -1.0
	for r, same := range w.Refs.First {
		if same != r {
			continue
		}
		if score, f := w.score(h, r); f > bestF {
			best, bestF = score, f
		}
	}
	return best
}
