package rouge

import (
	"strings"

	"github.com/refract-eval/refract/internal/text"
	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// workspace holds one segment: its words interned, and the counters of common ones.
type workspace struct {
	m      *metric
	split  *token.Tokenizer // nil for rouge-score's
	intern *ngram.Interner
	refs   texts
	hyps   texts
	order  int          // of the n-grams; 0 for subsequences
	index  *ngram.Index // of n-grams
	common sequences

	lower, word []byte
}

// texts are one side of a block: the distinct texts as lines of words. Only rougeLsum has
// more than one line a text.
type texts struct {
	ngram.Texts
	all []document
}

func (t *texts) document(i int) *document { return &t.all[t.Slot[i]] }

type document struct {
	lines [][]uint32
	words int
}

// NewWorkspace returns memory for one goroutine.
func (m *metric) NewWorkspace() metrics.Workspace {
	w := &workspace{m: m, split: token.New(m.opt.Split), intern: ngram.NewInterner()}
	if w.order = map[kind]int{rouge1: 1, rouge2: 2}[m.opt.Kind]; w.order > 0 {
		w.index = ngram.New(w.order)
	}
	return w
}

// Load reads every distinct text of b.
func (w *workspace) Load(b metrics.Block) {
	w.intern.Reset()
	w.load(&w.refs, b.References)
	w.load(&w.hyps, b.Hypotheses)
	if w.order == 0 {
		w.common.words(w.intern.Len())
		return
	}
	w.index.Reset()
	for _, d := range w.refs.all {
		w.index.AddReference(d.lines[0])
	}
	for _, d := range w.hyps.all {
		w.index.AddHypothesis(d.lines[0])
	}
	w.index.Count()
}

func (w *workspace) load(t *texts, in []string) {
	t.all = t.all[:0]
	t.Load(in, func(s string) {
		n := len(t.all)
		if n < cap(t.all) {
			t.all = t.all[:n+1]
		} else {
			t.all = append(t.all, document{})
		}
		w.read(&t.all[n], s)
	})
}

// read splits a text into lines and words, and replaces what d held.
func (w *workspace) read(d *document, s string) {
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
		w.words(line, func(word []byte) {
			if w.m.opt.Stemmer && len(word) > 3 && latin(word) {
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

// words calls yield with each word of a line.
func (w *workspace) words(line string, yield func(word []byte)) {
	w.lower = text.AppendLower(w.lower[:0], line)
	if w.split != nil {
		w.split.Split(string(w.lower), yield)
		return
	}
	start := 0
	for i, c := range w.lower {
		if alphanumeric[c] {
			continue
		}
		if start < i {
			yield(w.lower[start:i])
		}
		start = i + 1
	}
	if start < len(w.lower) {
		yield(w.lower[start:])
	}
}

var alphanumeric = func() (a [256]bool) {
	for _, r := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		a[r] = true
	}
	return a
}()

// latin reports whether rouge-score could find a word in these bytes.
func latin(word []byte) bool {
	for _, c := range word {
		if !alphanumeric[c] {
			return false
		}
	}
	return true
}

// hits counts what a hypothesis and a reference have in common.
func (w *workspace) hits(h, r int) int {
	if w.order == 0 {
		return w.common.union(w.refs.document(r), w.hyps.document(h))
	}
	return int(w.index.Matches(w.hyps.Slot[h], w.refs.Slot[r])[w.order-1])
}

// score returns the chosen part of a pair's score, and its F1.
func (w *workspace) score(h, r int) (score, f float64) {
	hits := w.hits(h, r)
	if hits == 0 {
		return 0, 0
	}
	lacking := max(0, w.order-1) // a text has this many fewer n-grams than words
	found := float64(hits) / float64(w.hyps.document(h).words-lacking)
	covered := float64(hits) / float64(w.refs.document(r).words-lacking)
	f = 2 * found * covered / (found + covered)
	switch w.m.opt.Part {
	case precision:
		return found, f
	case recall:
		return covered, f
	}
	return f, f
}

// Cells appends ROUGE of every pair.
func (w *workspace) Cells(dst []float64) []float64 {
	return ngram.Cells(dst, &w.hyps.Texts, &w.refs.Texts, func(h, r int) float64 {
		score, _ := w.score(h, r)
		return score
	})
}

// Native appends, for every hypothesis, ROUGE against the reference with the
// best F1.
func (w *workspace) Native(dst []float64) []float64 {
	return ngram.PerHypothesis(dst, &w.hyps.Texts, func(h int) float64 {
		best, bestF := 0.0, -1.0
		for r, first := range w.refs.First {
			if first != r {
				continue
			}
			if score, f := w.score(h, r); f > bestF {
				best, bestF = score, f
			}
		}
		return best
	})
}
