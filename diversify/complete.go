package diversify

import (
	"slices"

	refract "github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

// complete asks for as many more samples as the segment needs to reach Config.Complete
// accepted variants. It prefers prompts whose answers were accepted for this segment, and
// among equals those asked least, so that the choice depends only on the answers.
func (e *Expander) complete(j *job) {
	lack := e.cfg.Complete - j.accepted()
	if lack <= 0 || j.rounds == e.cfg.Rounds || j.mute {
		return // without a verdict of the judge, more answers would be paid for in vain
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
		e.sample(j, best)
	}
}

// continues reports whether the segment has answers already and only needs to be completed.
func (e *Expander) continues(seg *refract.Segment) bool {
	return e.cfg.Complete > 0 && e.expandedBefore(seg) != nil
}

// recall restores a cell's counts from the variants that the segment already has.
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

// before reports whether the next sample of c is more likely to be accepted than the next
// sample of d.
func (c *cell) before(d *cell) bool {
	p, q := (c.accepted+c.recalled+1)*(d.samples+2), (d.accepted+d.recalled+1)*(c.samples+2)
	return p > q || p == q && c.samples < d.samples
}

// accepted returns the number of accepted variants with a text so far.
func (j *job) accepted() int {
	return selection.Usable(j.seg) + j.found()
}

// found returns how many of them this run accepted.
func (j *job) found() (n int) {
	for i := range j.cells {
		n += j.cells[i].accepted
	}
	return n
}

// wanted returns how many variants this run should add to the segment.
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
