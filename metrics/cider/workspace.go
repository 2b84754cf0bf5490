package cider

import (
	"math"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/internal/ngram"
	"github.com/refract-eval/refract/metrics/internal/token"
)

// sigma is the standard deviation of the Gaussian, in words.
const sigma = 6

// workspace holds one segment: its texts as vectors of n-grams, and all scores. Words and
// n-grams are numbered within the segment, so that n-grams missing from the frequencies
// stay distinct.
type workspace struct {
	ngram.Pairs[vector]
	m       *metric
	split   token.Splitter
	intern  *ngram.Interner
	known   []uint32 // of each word: its number in the frequencies, plus one; 0 if missing
	grams   tree
	global  []uint32  // of each n-gram: its number in the frequencies; 0 if missing
	weights []float64 // of each n-gram
	place   []int32   // of each n-gram: its position in the text being read, plus one; 0 between texts
	values  []float64 // of each n-gram: its value in the current reference; 0 between references
	words   []uint32
	states  []uint32  // of each word: the n-gram that begins there
	scores  []float64 // of distinct texts, hypotheses × references
}

// vector is a text as n-grams, order by order, each once, with its weight times its count.
type vector struct {
	grams []uint32
	value []float64
	ends  [longest]int // end of each order in grams
	norm  [longest]float64
	pairs int // number of pairs of adjacent words
}

// NewWorkspace returns memory for one goroutine. The metric must be fitted before a block
// is loaded.
func (m *metric) NewWorkspace() metrics.Workspace {
	w := &workspace{m: m, intern: ngram.NewInterner(), grams: tree{}}
	w.Pair = func(h, r int) float64 { return w.scores[w.Hyps.Slot[h]*len(w.Refs.All)+w.Refs.Slot[r]] }
	w.Union = w.mean
	return w
}

// Load scores all pairs of distinct texts of b.
func (w *workspace) Load(b metrics.Block) {
	if w.split == nil {
		w.split = newSplitter(w.m.opt.Split)
	}
	w.intern.Reset()
	if clear(w.grams); len(w.weights) > 1<<16 {
		w.grams = tree{} // clearing a large tree takes long, even if it holds little
	}
	w.known = w.known[:0]
	w.global, w.weights, w.place, w.values = append(w.global[:0], 0), append(w.weights[:0], 0), append(w.place[:0], 0), append(w.values[:0], 0)
	w.Refs.Load(b.References, w.read)
	w.Hyps.Load(b.Hypotheses, w.read)
	columns := len(w.Refs.All)
	w.scores = append(w.scores[:0], make([]float64, len(w.Hyps.All)*columns)...)
	for r := range w.Refs.All {
		ref := &w.Refs.All[r]
		for i, g := range ref.grams {
			w.values[g] = ref.value[i]
		}
		for h := range w.Hyps.All {
			w.scores[h*columns+r] = w.similarity(&w.Hyps.All[h], ref)
		}
		for _, g := range ref.grams {
			w.values[g] = 0
		}
	}
}

// read makes a vector of a text and replaces what v held.
func (w *workspace) read(s string, v *vector) {
	w.words = w.words[:0]
	w.split.Split(s, func(word []byte) {
		id := w.intern.ID(word)
		if int(id) == len(w.known) {
			number, ok := w.m.opt.Frequencies.words[string(word)]
			w.known = append(w.known, 0)
			if ok {
				w.known[id] = number + 1
			}
		}
		w.words = append(w.words, id)
	})
	v.grams, v.value = v.grams[:0], v.value[:0]
	v.pairs = max(0, len(w.words)-1)
	w.states = append(w.states[:0], make([]uint32, len(w.words))...)
	for k := range longest {
		from := len(v.grams)
		for i := 0; i+k < len(w.words); i++ {
			g := w.gram(w.states[i], w.words[i+k])
			w.states[i] = g
			if w.place[g] == 0 {
				v.grams, v.value = append(v.grams, g), append(v.value, 0)
				w.place[g] = int32(len(v.grams))
			}
			v.value[w.place[g]-1]++
		}
		squares := 0.0
		for i, g := range v.grams[from:] {
			v.value[from+i] *= w.weights[g]
			squares += v.value[from+i] * v.value[from+i]
			w.place[g] = 0
		}
		v.ends[k], v.norm[k] = len(v.grams), math.Sqrt(squares)
	}
}

// gram returns the segment's number of an n-gram.
func (w *workspace) gram(before, word uint32) uint32 {
	key := step(before, word)
	n, ok := w.grams[key]
	if ok {
		return n
	}
	n = uint32(len(w.weights))
	w.grams[key] = n
	f, number := w.m.opt.Frequencies, uint32(0)
	if w.known[word] > 0 && (before == 0 || w.global[before] > 0) {
		number = f.grams[step(w.global[before], w.known[word]-1)]
	}
	w.global = append(w.global, number)
	w.weights = append(w.weights, f.weight(f.in[number]))
	w.place, w.values = append(w.place, 0), append(w.values, 0)
	return n
}

// similarity returns CIDEr of a hypothesis and the reference that is in values.
func (w *workspace) similarity(hyp, ref *vector) float64 {
	sum, from := 0.0, 0
	for k, to := range hyp.ends {
		product := 0.0
		for i, g := range hyp.grams[from:to] {
			in, has := w.values[g], hyp.value[from+i]
			if !w.m.opt.Plain {
				has = min(has, in)
			}
			product += has * in
		}
		if from = to; hyp.norm[k] != 0 && ref.norm[k] != 0 {
			sum += product / (hyp.norm[k] * ref.norm[k])
		}
	}
	if !w.m.opt.Plain {
		d := float64(hyp.pairs - ref.pairs)
		sum *= math.Exp(-d * d / (2 * sigma * sigma))
	}
	return 10 * sum / longest
}

// mean returns the mean of a hypothesis over all references; a repeated reference counts
// each time.
func (w *workspace) mean(h int) float64 {
	sum := 0.0
	for r := range w.Refs.First {
		sum += w.Pair(h, r)
	}
	return sum / float64(len(w.Refs.First))
}
