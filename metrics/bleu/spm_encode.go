package bleu

import (
	"fmt"
	"slices"
)

// spEncoder splits texts. It reuses its memory and is not safe for concurrent use.
type spEncoder struct {
	*spModel
	text  []byte // normalized
	spans []span
	best  []route  // of a unigram model, by the position where the route ends
	chars []symbol // of a BPE model
	queue queue
	parts map[string]int // length of the left part of unused pieces, which are split again
}

// span is a piece of the normalized text.
type span struct {
	end int
	id  int32
}

// newEncoder returns memory for one goroutine.
func (m *spModel) newEncoder() *spEncoder { return &spEncoder{spModel: m} }

// encode calls yield with each piece of a text. The bytes are valid only during the call.
// Adjacent unknown characters form one piece, unless the model has byte pieces such as
// "<0xE2>".
func (e *spEncoder) encode(text string, yield func(piece []byte)) {
	e.text = e.norm.normalize(e.text, text)
	e.spans = e.spans[:0]
	if e.bpe {
		e.mergePairs()
	} else {
		e.bestPath()
	}
	for i, start := 0, 0; i < len(e.spans); i++ {
		s := e.spans[i]
		switch {
		case s.id != e.unknown:
			yield(e.text[start:s.end])
		case e.byteFallback:
			for _, b := range e.text[start:s.end] {
				yield(fmt.Appendf(nil, "<0x%02X>", b))
			}
		default:
			for i+1 < len(e.spans) && e.spans[i+1].id == e.unknown {
				i++
			}
			s.end = e.spans[i].end
			yield(e.text[start:s.end])
		}
		start = s.end
	}
}

// charLength is the length of the character at the start of a text, judged by its first
// byte.
func charLength(text []byte) int {
	n := 1
	switch b := text[0]; {
	case b >= 0xf0:
		n = 4
	case b >= 0xe0:
		n = 3
	case b >= 0xc0:
		n = 2
	}
	return min(n, len(text))
}

// route is the best way to a position of the text.
type route struct {
	score float32
	start int // of its last piece; -1 if there is no way
	id    int32
}

// bestPath is the Viterbi algorithm over sums of float32, as in the original: the order of
// nearly equal paths depends on them.
func (e *spEncoder) bestPath() {
	e.best = e.best[:0]
	for range len(e.text) + 1 {
		e.best = append(e.best, route{start: -1})
	}
	for start := 0; start < len(e.text); {
		till := e.best[start].score
		char := charLength(e.text[start:])
		whole := false // whether some piece is exactly the next character
		for i := start; i < len(e.text); i++ {
			id, ok := e.ids[string(e.text[start:i+1])]
			if !ok {
				break
			}
			if id == prefix || e.pieces[id].kind == unused {
				continue
			}
			length := i + 1 - start
			score := float64(e.pieces[id].score)
			if e.pieces[id].kind == user {
				score = float64(float32(length)*e.highest) - 0.1
			}
			e.best[i+1].improve(score+float64(till), start, id)
			whole = whole || length == char
		}
		if !whole {
			e.best[start+char].improve(float64(e.unknownScore+till), start, e.unknown)
		}
		start += char
	}
	for end := len(e.text); end > 0; end = e.best[end].start {
		e.spans = append(e.spans, span{end, e.best[end].id})
	}
	slices.Reverse(e.spans)
}

func (r *route) improve(score float64, start int, id int32) {
	if r.start < 0 || score > float64(r.score) {
		*r = route{float32(score), start, id}
	}
}
