package diversify

import (
	"slices"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

// complete asks for as many further samples as a segment lacks of
// Config.Complete accepted variants. Prompts that gave this segment what it
// accepted come first, of equals those that were asked least: the choice
// depends on the answers alone.
func (x *Expander) complete(j *job) {
	lack := x.cfg.Complete - j.accepted()
	if lack <= 0 || j.rounds == x.cfg.Rounds || j.mute {
		return // a judge that gives no verdict has more answers bought for nothing
	}
	j.rounds++
	for range lack {
		best := -1
		for i := range j.cells {
			if !j.cells[i].failed && (best < 0 || j.cells[i].before(&j.cells[best])) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		x.sample(j, best)
	}
}

// goesOn reports whether answers of a segment are there already, to be
// completed.
func (x *Expander) goesOn(seg *refract.Segment) bool {
	return x.cfg.Complete > 0 && x.expandedBefore(seg) != nil
}

// recall makes a cell what it was when its answers were judged.
func (j *job) recall(c *cell) {
	c.wanted = 0
	for i, v := range slices.Concat(j.seg.Variants, j.seg.Rejected) {
		if v.Model != j.x.cfg.Model || v.Reference != c.reference || v.Prompt != j.x.cfg.Prompts[c.prompt].Name {
			continue
		}
		c.samples = max(c.samples, v.Sample+1)
		if i < len(j.seg.Variants) {
			c.recalled++
		}
	}
}

// before reports whether the next sample of a cell is more likely to be
// accepted than that of another one.
func (c *cell) before(d *cell) bool {
	p, q := (c.accepted+c.recalled+1)*(d.samples+2), (d.accepted+d.recalled+1)*(c.samples+2)
	return p > q || p == q && c.samples < d.samples
}

// accepted is how many variants with a text the segment has by now.
func (j *job) accepted() int {
	return selection.Usable(j.seg) + j.found()
}

// found is how many of them this run has accepted.
func (j *job) found() (n int) {
	for i := range j.cells {
		n += j.cells[i].accepted
	}
	return n
}

// wanted is how many variants a run is to add to the segment.
func (j *job) wanted() int {
	n := 0
	for i := range j.cells {
		n += j.cells[i].wanted
	}
	if len(j.cells) > 0 && j.x.cfg.Complete > 0 {
		return max(n, j.x.cfg.Complete-j.accepted())
	}
	return n
}
