package neural

import (
	"github.com/refract-eval/refract/metrics"
)

// row is what has one score.
type row struct{ source, hypothesis, reference string }

// rows are the cells of a call of Score, equal ones once.
type rows struct {
	all []row
	at  [][]int // of each block: the row of each cell, -1 for one that is not needed
}

// rowsOf makes rows of the cells of blocks, by segment, then system, then
// reference.
func rowsOf(blocks []metrics.Block, f *form, firstOnly bool) rows {
	out := rows{at: make([][]int, len(blocks))}
	index := map[row]int{}
	for b, block := range blocks {
		columns := block.Columns()
		for _, h := range block.Hypotheses {
			for c := range columns {
				if firstOnly && c > 0 {
					out.at[b] = append(out.at[b], -1)
					continue
				}
				r := row{source: block.Source, hypothesis: h}
				if f.reference {
					r.reference = block.References[c]
				}
				i, ok := index[r]
				if !ok {
					i = len(out.all)
					index[r] = i
					out.all = append(out.all, r)
				}
				out.at[b] = append(out.at[b], i)
			}
		}
	}
	return out
}

// rowBytes is what a row counts beside its texts.
const rowBytes = 12

// parts cuts rows into requests of about as many bytes of text, and no more rows than
// the model takes.
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
		if w.add(r); i > 0 && (w.bytes > most || f.most > 0 && i >= f.most) {
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

// text is one of a kind: an input's name.
type text struct{ kind, text string }

func (w *weigher) add(r row) {
	w.bytes += rowBytes
	for _, t := range []text{{inSource, r.source}, {inHypothesis, r.hypothesis}, {inReference, r.reference}} {
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
	if f.bySegment {
		return f.segments(all)
	}
	one := func(name string, of func(row) string) tensor {
		t := tensor{name: name, datatype: bytesType, shape: f.shape(len(all)), texts: make([]string, len(all))}
		for i, r := range all {
			t.texts[i] = of(r)
		}
		return t
	}
	out := []tensor{one(inHypothesis, func(r row) string { return r.hypothesis })}
	if f.source {
		out = append(out, one(inSource, func(r row) string { return r.source }))
	}
	if f.reference {
		out = append(out, one(inReference, func(r row) string { return r.reference }))
	}
	if f.counts {
		t := tensor{name: inCounts, datatype: int32Type, shape: f.shape(len(all)), ints: make([]int32, len(all))}
		for i := range t.ints {
			t.ints[i] = 1
		}
		out = append(out, t)
	}
	return out
}

// segments are the tensors of a request by segment.
func (f *form) segments(all []row) []tensor {
	var texts [3][]string
	index := map[text]int32{}
	pairs := tensor{name: inPairs, datatype: int32Type, shape: []int{len(all), 3}, ints: make([]int32, 0, 3*len(all))}
	for _, r := range all {
		for k, t := range []struct {
			text
			has bool
		}{{text{inSource, r.source}, f.source}, {text{inHypothesis, r.hypothesis}, true}, {text{inReference, r.reference}, f.reference}} {
			i := int32(-1)
			if t.has {
				var ok bool
				if i, ok = index[t.text]; !ok {
					i = int32(len(texts[k]))
					index[t.text] = i
					texts[k] = append(texts[k], t.text.text)
				}
			}
			pairs.ints = append(pairs.ints, i)
		}
	}
	var out []tensor
	for k, name := range []string{inSource, inHypothesis, inReference} {
		if texts[k] != nil {
			out = append(out, tensor{name: name, datatype: bytesType, shape: []int{len(texts[k])}, texts: texts[k]})
		}
	}
	return append(out, pairs)
}

// shape is that of a tensor with a value a row.
func (f *form) shape(n int) []int {
	if f.column {
		return []int{n, 1}
	}
	return []int{n}
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
