package neural

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/refract-eval/refract/metrics"
	"github.com/refract-eval/refract/metrics/analysis"
)

// row is what gets one score: texts by column. A text that the metric does not need is "".
type row [3]string

// The columns of rows, and of pairs.
const (
	source = iota
	hypothesis
	reference
)

// scored is a row with its score, once it has one.
type scored struct {
	row
	value  float64 // NaN for a row that has none
	report *analysis.Report
	done   bool
}

// rows are the distinct cells of a call of Score.
type rows struct {
	all []scored
	at  [][]int // the row of each cell, by block
}

// rowsOf makes rows of blocks, by segment, then system, then reference.
func rowsOf(blocks []metrics.Block) rows {
	out := rows{at: make([][]int, len(blocks))}
	index := map[row]int{}
	for b, block := range blocks {
		for _, h := range block.Hypotheses {
			for c := range block.Columns() {
				r := row{block.Source, h}
				if len(block.References) > 0 {
					r[reference] = block.References[c]
				}
				i, ok := index[r]
				if !ok {
					i = len(out.all)
					index[r] = i
					out.all = append(out.all, scored{row: r})
				}
				out.at[b] = append(out.at[b], i)
			}
		}
	}
	return out
}

// place puts the scores into cells. Blocks with a row that is not done have none.
func (r *rows) place() []metrics.Scores {
	out := make([]metrics.Scores, len(r.at))
	for b, at := range r.at {
		if slices.ContainsFunc(at, func(i int) bool { return !r.all[i].done }) {
			continue
		}
		s := metrics.Scores{Values: make([]float64, len(at)), Status: make([]metrics.Status, len(at)), Reports: make([]*analysis.Report, len(at))}
		explains := false
		for c, i := range at {
			if s.Values[c], s.Reports[c] = r.all[i].value, r.all[i].report; math.IsNaN(s.Values[c]) {
				s.Values[c], s.Status[c] = 0, metrics.Failed
			}
			explains = explains || s.Reports[c] != nil
		}
		if !explains {
			s.Reports = nil
		}
		out[b] = s
	}
	return out
}

// rowBytes is what a row counts besides its texts.
const rowBytes = 12

// parts cuts rows into requests of up to a number of bytes of text. Each text counts once,
// unless rows are flat. A request has at least one row.
func parts(all []scored, most int, flat bool) (out [][]scored) {
	start, size := 0, 0
	seen := map[string]bool{}
	for i, r := range all {
		more := rowBytes
		for _, text := range r.row {
			if flat || !seen[text] {
				more += len(text)
			}
		}
		if i > start && size+more > most {
			out = append(out, all[start:i])
			start, size = i, 0
			clear(seen)
			more = rowBytes + len(r.row[source]) + len(r.row[hypothesis]) + len(r.row[reference])
		}
		size += more
		for _, text := range r.row {
			seen[text] = true
		}
	}
	if len(all) > start {
		out = append(out, all[start:])
	}
	return out
}

// tensor is an input or output in a message.
type tensor struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype,omitempty"`
	Shape    []int  `json:"shape,omitempty"`
	Data     any    `json:"data,omitempty"`
}

// inputs returns the tensors of a request. By segment, it has each text once, and pairs
// with the indices of a row's source, hypothesis and reference, -1 for a text not needed.
// Flat, each row has its own texts. A text that is not valid UTF-8 is an error, because
// servers refuse or change it.
func (f *form) inputs(all []scored) ([]tensor, error) {
	var out []tensor
	pairs := make([]int32, 3*len(all))
	for column, name := range [3]string{inSource, inHypothesis, inReference} {
		index, texts := map[string]int32{}, []string{}
		for i, r := range all {
			at := &pairs[3*i+column]
			if *at = -1; !f.reads[column] {
				continue
			}
			text := r.row[column]
			k, ok := index[text]
			if !ok || f.flat {
				if !utf8.ValidString(text) {
					return nil, fmt.Errorf("the %s %.60q is not valid UTF-8, which servers refuse or change", name, text)
				}
				k = int32(len(texts))
				index[text], texts = k, append(texts, text)
			}
			*at = k
		}
		if f.reads[column] {
			out = append(out, tensor{name, bytesType, []int{len(texts)}, texts})
		}
	}
	if f.flat {
		return out, nil
	}
	return append(out, tensor{inPairs, int32Type, []int{len(all), 3}, pairs}), nil
}

// outputs returns the tensors to ask for.
func (f *form) outputs(score string) []tensor {
	out := []tensor{{Name: score}}
	if f.spans {
		out = append(out, tensor{Name: outSpans})
	}
	if f.facts {
		out = append(out, tensor{Name: outFacts})
	}
	return out
}
