package sari

import (
	"encoding/binary"
	"slices"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// workspace holds one segment. Its n-grams are numbered, those of the source first, so a
// number below len(source) is an n-gram that can be kept or deleted, and any other one can
// only be added.
type workspace struct {
	ngram.Pooled[counts]
	m      *metric
	split  *token.Tokenizer
	words  *ngram.Interner
	grams  *ngram.Interner // of n-grams, as the one without its last word and that word
	order  []int           // of each n-gram: its words, minus 1
	source []int           // counts
	all    []int           // the positions of the references

	ids    []uint32 // words of the text being read
	states []uint32 // of each word: the n-gram that begins there, plus one
	among  []int    // of each n-gram of the source: its count in the references compared with
	news   []bool   // of each other n-gram: whether it is in them
}

// counts are the n-grams of a text.
type counts struct {
	shared []int // of each n-gram of the source: its count
	added  []int // the distinct n-grams that the source lacks
}

// NewWorkspace returns memory for one goroutine.
func (m *metric) NewWorkspace() metrics.Workspace {
	w := &workspace{m: m, split: token.New(m.split, !m.mixed), words: ngram.NewInterner(), grams: ngram.NewInterner()}
	w.OfPair = func(dst []float64, h, r int) []float64 { return w.statistics(dst, h, r) }
	w.OfUnion = func(dst []float64, h int) []float64 { return w.statistics(dst, h, w.all...) }
	w.ScoreBy(m.score)
	return w
}

// Load reads every distinct text of b.
func (w *workspace) Load(b metrics.Block) {
	w.words.Reset()
	w.grams.Reset()
	w.order, w.source, w.all = w.order[:0], w.source[:0], w.all[:0]
	w.read(b.Source, func(g int) {
		if g == len(w.source) {
			w.source = append(w.source, 0)
		}
		w.source[g]++
	})
	w.load(&w.Hyps, b.Hypotheses)
	w.load(&w.Refs, b.References)
	for r := range b.References {
		w.all = append(w.all, r)
	}
}

func (w *workspace) load(t *ngram.Texts[counts], in []string) {
	t.Load(in, func(s string, c *counts) {
		c.shared, c.added = append(c.shared[:0], make([]int, len(w.source))...), c.added[:0]
		w.read(s, func(g int) {
			if g < len(w.source) {
				c.shared[g]++
			} else {
				c.added = append(c.added, g)
			}
		})
		slices.Sort(c.added)
		c.added = slices.Compact(c.added)
	})
}

// read calls found with the number of each n-gram of a text.
func (w *workspace) read(s string, found func(gram int)) {
	w.ids = w.ids[:0]
	w.split.Split(s, func(word []byte) { w.ids = append(w.ids, w.words.ID(word)) })
	if len(w.ids) == 0 && w.m.byTypes() {
		w.ids = append(w.ids, w.words.ID(nil))
	}
	w.states = append(w.states[:0], make([]uint32, len(w.ids))...)
	var key [8]byte
	for k := range longest {
		for i := 0; i+k < len(w.ids); i++ {
			binary.LittleEndian.PutUint32(key[:4], w.states[i])
			binary.LittleEndian.PutUint32(key[4:], w.ids[i+k])
			g := w.grams.ID(key[:])
			w.states[i] = g + 1
			if int(g) == len(w.order) {
				w.order = append(w.order, k)
			}
			found(int(g))
		}
	}
}

// statistics appends those of a hypothesis against some references together, by positions in
// the block.
func (w *workspace) statistics(dst []float64, h int, refs ...int) []float64 {
	dst = append(dst, make([]float64, size)...)
	stats := dst[len(dst)-size:]
	w.among = append(w.among[:0], make([]int, len(w.source))...)
	w.news = append(w.news[:0], make([]bool, len(w.order))...)
	for _, r := range refs {
		ref := w.Refs.Of(r)
		for g, n := range ref.shared {
			w.among[g] += n
		}
		for _, g := range ref.added {
			if !w.news[g] {
				w.news[g] = true
				stats[place(w.order[g], added)+3]++
			}
		}
	}
	hyp, types := w.Hyps.Of(h), w.m.byTypes()
	for _, g := range hyp.added {
		f := stats[place(w.order[g], added):]
		f[1]++
		if w.news[g] {
			f[0]++
			f[2]++
		}
	}
	for g, in := range w.source {
		in, out, among := len(refs)*in, len(refs)*hyp.shared[g], w.among[g]
		keep, keeps := min(in, among), min(in, out) // of the references and of the output
		del, deletes := max(in-among, 0), max(in-out, 0)
		right := min(del, deletes)
		if types {
			right = max(deletes-among, 0)
		}
		f := stats[place(w.order[g], kept):]
		add(f, min(keep, keeps), keeps, types)
		add(f[2:], min(keep, keeps), keep, w.m.rules == original)
		f = stats[place(w.order[g], deleted):]
		add(f, right, deletes, types)
		add(f[2:], right, del, false)
	}
	return dst
}

// add adds an n-gram to a numerator and a denominator: its counts, or its share if the mean
// over distinct n-grams is wanted.
func add(f []float64, right, all int, share bool) {
	switch {
	case all == 0:
	case share:
		f[0], f[1] = f[0]+float64(right)/float64(all), f[1]+1
	default:
		f[0], f[1] = f[0]+float64(right), f[1]+float64(all)
	}
}
