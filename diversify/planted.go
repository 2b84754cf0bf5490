package diversify

import (
	"slices"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/internal/plant"
)

// turn returns the number of the change to plant in segment n, or -1.
func (e *Expander) turn(n int) int {
	of, plants := e.cfg.Segments, e.cfg.Plant
	switch {
	case e.judge == nil:
	case of <= plants || of == 0:
		if n < plants {
			return n
		}
	case n*plants/of != (n+1)*plants/of:
		return n * plants / of
	}
	return -1
}

// plantIn adds a changed answer and another human reference to the judge's question about a
// reference, once per segment.
func (e *Expander) plantIn(j *job, reference int, items []item) []item {
	if len(items) == 0 {
		return nil
	}
	if j.judged == nil {
		j.judged = &refract.Judged{Model: e.judge.Model}
		if was := j.seg.Judged; was != nil {
			*j.judged = *was
			j.judged.Planted = slices.Clone(was.Planted)
			if was.Human+len(was.Planted) > 0 {
				j.turn = -1
			}
		}
	}
	if j.turn < 0 {
		return items
	}
	turn := j.turn
	j.turn = -1
	for i, ref := range j.seg.References {
		if i != reference && hasText(ref) && ref.Value != j.seg.References[reference].Value {
			items = append(items, item{ask: -1, text: ref.Value})
			break
		}
	}
	kinds := plant.Kinds()
	for k := range kinds {
		kind := kinds[(turn+k)%len(kinds)]
		for _, it := range items {
			if it.ask < 0 {
				continue
			}
			changed := plant.Change(j.asks[it.ask].result.Text, kind, j.others)
			if changed != "" && !slices.Contains(texts(j.seg.References), changed) {
				return append(items, item{ask: -1, text: changed, planted: kind})
			}
		}
	}
	return items
}

// judgedItem counts the judge's verdict on a text.
func judgedItem(d *refract.Judged, it item, flagged bool) {
	n := 0
	if flagged {
		n = 1
	}
	switch {
	case it.ask >= 0:
		d.Asked, d.Flagged = d.Asked+1, d.Flagged+n
	case it.planted != "":
		d.Planted = append(d.Planted, refract.Planted{Kind: it.planted, Caught: flagged})
	default:
		d.Human, d.HumanFlagged = d.Human+1, d.HumanFlagged+n
	}
}
