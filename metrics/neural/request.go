package neural

import (
	"slices"
	"strconv"

	"github.com/refract-eval/refract/metrics"
)

// row is what has one score.
type row struct {
	source, hypothesis string
	references         []string // one, or those of a native score; none where the metric needs none
}

// key tells rows apart.
func (r row) key() string {
	var key []byte
	for t := range r.texts {
		key = append(strconv.AppendInt(key, int64(len(t.text)), 10), ' ')
		key = append(key, t.text...)
	}
	return string(key)
}

// texts yields the texts of the row.
func (r row) texts(yield func(text) bool) {
	if !yield(text{inSource, r.source}) || !yield(text{inHypothesis, r.hypothesis}) {
		return
	}
	for _, ref := range r.references {
		if !yield(text{inReference, ref}) {
			return
		}
	}
}

// text is one of a kind: an input's name.
type text struct{ kind, text string }

// rows are the cells of a call of Score, equal ones once.
type rows struct {
	all   []row
	block []int   // of each row: the first that has it
	at    [][]int // of each block: the row of each cell
}

// rowsOf makes rows of blocks, by segment, then system, then reference; native takes
// all references of a hypothesis together.
func rowsOf(blocks []metrics.Block, native bool) rows {
	out := rows{at: make([][]int, len(blocks))}
	index := map[string]int{}
	add := func(b int, r row) {
		key := r.key()
		i, ok := index[key]
		if !ok {
			i = len(out.all)
			index[key] = i
			out.all, out.block = append(out.all, r), append(out.block, b)
		}
		out.at[b] = append(out.at[b], i)
	}
	for b, block := range blocks {
		for _, h := range block.Hypotheses {
			if native || len(block.References) == 0 {
				add(b, row{block.Source, h, block.References})
				continue
			}
			for c := range block.References {
				add(b, row{block.Source, h, block.References[c : c+1]})
			}
		}
	}
	return out
}

// rowBytes is what a row counts beside its texts.
const rowBytes = 12

// parts cuts rows into requests of about as many bytes of text.
func parts(all []row, f *form, most int) (out [][]row) {
	total := weight(all, f)
	each := total
	if n := (total + most - 1) / most; n > 1 {
		each = (total + n - 1) / n
	}
	for len(all) > 0 {
		n := fill(all, f, each)
		out, all = append(out, all[:n]), all[n:]
	}
	return out
}

// weight is the number of bytes of a request.
func weight(all []row, f *form) int {
	w := weigher{form: f, seen: map[text]bool{}}
	for _, r := range all {
		w.add(r)
	}
	return w.bytes
}

// fill is how many rows fit into a number of bytes, at least one.
func fill(all []row, f *form, most int) int {
	w := weigher{form: f, seen: map[text]bool{}}
	for i, r := range all {
		if w.add(r); i > 0 && w.bytes > most {
			return i
		}
	}
	return len(all)
}

// weigher adds up the bytes of the texts that a request has.
type weigher struct {
	*form
	seen  map[text]bool // by segment
	bytes int
}

func (w *weigher) add(r row) {
	w.bytes += rowBytes
	for t := range r.texts {
		if w.bySegment {
			if w.seen[t] {
				continue
			}
			w.seen[t] = true
		}
		w.bytes += len(t.text)
	}
}

// tensor is an input of a request. One of its data is set.
type tensor struct {
	name, datatype string
	shape          []int
	texts          []string
	ints           []int32
}

// inputs are the tensors of a request.
func (f *form) inputs(all []row) []tensor {
	lists := map[string]*tensor{}
	out := []tensor{{name: inHypothesis, datatype: bytesType}, {name: inSource, datatype: bytesType}, {name: inReference, datatype: bytesType}}
	for i := range out {
		lists[out[i].name] = &out[i]
	}
	if !f.bySegment {
		counts := tensor{name: inCounts, datatype: int32Type, shape: []int{len(all)}}
		for _, r := range all {
			for t := range r.texts {
				lists[t.kind].texts = append(lists[t.kind].texts, t.text)
			}
			counts.ints = append(counts.ints, int32(len(r.references)))
		}
		if f.counts {
			out = append(out, counts)
		}
	} else {
		index := map[text]int32{}
		pairs := tensor{name: inPairs, datatype: int32Type, shape: []int{len(all), 3}}
		for _, r := range all {
			triple := map[string]int32{inSource: -1, inReference: -1}
			for t := range r.texts {
				if !f.wants(t.kind) {
					continue
				}
				i, ok := index[t]
				if !ok {
					i = int32(len(lists[t.kind].texts))
					index[t] = i
					lists[t.kind].texts = append(lists[t.kind].texts, t.text)
				}
				triple[t.kind] = i
			}
			pairs.ints = append(pairs.ints, triple[inSource], triple[inHypothesis], triple[inReference])
		}
		out = append(out, pairs)
	}
	out = slices.DeleteFunc(out, func(t tensor) bool { return t.datatype == bytesType && !f.wants(t.name) })
	for i := range out {
		if out[i].shape == nil {
			out[i].shape = []int{len(out[i].texts)}
		}
	}
	return out
}

// wants reports whether the model has an input of texts.
func (f *form) wants(name string) bool {
	return name == inHypothesis || name == inSource && f.source || name == inReference && f.reference
}

// outputs are the tensors of an answer.
func (f *form) outputs(score string) []string {
	out := []string{score}
	if f.spans {
		out = append(out, outSpans)
	}
	if f.facts {
		out = append(out, outFacts)
	}
	return out
}
