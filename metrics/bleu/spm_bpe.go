package bleu

import "container/heap"

// symbol is a part of a text that merges have produced so far.
type symbol struct {
	start, end int // empty once merged into the symbol before it
	prev, next int // -1 at the ends
	fixed      bool
}

// merge joins two adjacent symbols.
type merge struct {
	score       float32
	left, right int
	size        int // of both when queued; a merge with another size is outdated
}

// queue is a heap of merges, best first.
type queue []merge

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(m any)   { *q = append(*q, m.(merge)) }

func (q queue) Less(i, j int) bool {
	return q[i].score > q[j].score || q[i].score == q[j].score && q[i].left < q[j].left
}

func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// mergePairs merges the pair with the best score until no pair is a piece.
func (e *spEncoder) mergePairs() {
	if len(e.text) == 0 {
		return
	}
	e.chars, e.queue = e.chars[:0], e.queue[:0]
	clear(e.parts)
	for start := 0; start < len(e.text); {
		n := 0
		if len(e.norm.users) > 0 {
			n = e.norm.user(string(e.text[start:]))
		}
		fixed := n > 0
		if !fixed {
			n = charLength(e.text[start:])
		}
		i := len(e.chars)
		e.chars = append(e.chars, symbol{start, start + n, i - 1, i + 1, fixed})
		start += n
	}
	e.chars[len(e.chars)-1].next = -1
	for i := 1; i < len(e.chars); i++ {
		e.consider(i-1, i)
	}
	for len(e.queue) > 0 {
		m := heap.Pop(&e.queue).(merge)
		l, r := &e.chars[m.left], &e.chars[m.right]
		if l.start == l.end || r.start == r.end || r.end-l.start != m.size {
			continue
		}
		l.end, l.next, r.start = r.end, r.next, r.end
		if r.next >= 0 {
			e.chars[r.next].prev = m.left
		}
		e.consider(l.prev, m.left)
		e.consider(m.left, l.next)
	}
	for i := 0; i >= 0; i = e.chars[i].next {
		e.emit(e.chars[i].start, e.chars[i].end)
	}
}

// consider queues the merge of two symbols if it is a piece.
func (e *spEncoder) consider(left, right int) {
	if left < 0 || right < 0 || e.chars[left].fixed || e.chars[right].fixed {
		return
	}
	l, r := e.chars[left], e.chars[right]
	text := e.text[l.start:r.end]
	id, ok := e.ids[string(text)]
	if !ok {
		return
	}
	heap.Push(&e.queue, merge{e.pieces[id].score, left, right, len(text)})
	if e.pieces[id].kind == unused {
		if e.parts == nil {
			e.parts = map[string]int{}
		}
		e.parts[string(text)] = l.end - l.start
	}
}

// emit adds a symbol to the result, or its parts if the piece is marked unused.
func (e *spEncoder) emit(start, end int) {
	id, ok := e.ids[string(e.text[start:end])]
	if !ok {
		id = e.unknown
	}
	if part, split := e.parts[string(e.text[start:end])]; split && e.pieces[id].kind == unused {
		e.emit(start, start+part)
		e.emit(start+part, end)
		return
	}
	e.spans = append(e.spans, span{end, id})
}
