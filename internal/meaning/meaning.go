// Package meaning tells from random samples how many variants keep the meaning
// of their references.
//
// The variants of a sample have an Audit. What models say of them and what
// people decide are two estimates. A model's word on what it wrote itself counts
// for nothing, and people count once they have decided on all that was drawn:
// what they look at first is no random choice.
package meaning

import (
	"fmt"
	"math"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

// Estimate is the share of the accepted variants of a model that keep the
// meaning, by a random sample of them.
type Estimate struct {
	Model    string // that wrote the variants
	By       string // the model that judged them; "" for people
	Kept, Of int    // of the sample; Of is at least 1
	Unclear  int    // drawn too, and left out, as the judge said neither yes nor no
	// InSet are those of the sample that are variants of the set, and Aside those
	// that a selection has left out since. The others are rejected.
	InSet, Aside int
}

// mostAside is the share of the accepted sample that a selection may leave out
// so that the estimate still tells of the set: what it can change is as small.
const mostAside = 0.1

// BeforeSelection reports whether the estimate is of what the set was selected
// from. What was lost was taken out before, so that those of the sample that were
// selected cannot tell how many of the set keep the meaning.
func (e *Estimate) BeforeSelection() bool {
	return float64(e.Aside) > mostAside*float64(e.InSet+e.Aside)
}

// place counts where a variant of the sample has come to.
func (e *Estimate) place(v *refract.Variant) {
	switch v.Verdict {
	case "", refract.Accepted:
		e.InSet++
	case selection.NotSelected:
		e.Aside++
	}
}

// Share is between 0 and 1.
func (e *Estimate) Share() float64 { return float64(e.Kept) / float64(e.Of) }

// Interval is Wilson's of 95 % about the share.
func (e *Estimate) Interval() (low, high float64) { return Wilson(e.Kept, e.Of) }

// Wilson returns the 95 % interval about the share k of n, by Wilson's score;
// 0 and 1 where n is 0.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	p, m := float64(k)/float64(n), float64(n)
	middle, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
}

// String is such as "meaning kept: 11 % [7, 17] (n = 156, judged by m)".
func (e *Estimate) String() string {
	low, high := e.Interval()
	what, who := "meaning kept", "judged by "+e.By
	if e.By == "" {
		what, who = "meaning kept, by eye", "judged by people"
	}
	if e.Unclear > 0 {
		who += fmt.Sprintf(", who left %d unclear", e.Unclear)
	}
	if e.BeforeSelection() {
		who += fmt.Sprintf("; measured before selection, %d of the %d are in this set", e.InSet, e.Of)
	}
	return fmt.Sprintf("%s: %.0f %% [%.0f, %.0f] (n = %d, %s)", what, 100*e.Share(), 100*low, 100*high, e.Of, who)
}

// Advice says in plain words what the estimate calls for, where at least the
// share least is to keep the meaning.
func (e *Estimate) Advice(least float64) string {
	switch low, _ := e.Interval(); {
	case e.Share() < least/2:
		return "this model is too weak for the task: take a stronger one"
	case e.Share() < least:
		return "too many say something else: take a stronger model, or have a judge look at every answer (--judge-on all)"
	case e.BeforeSelection():
		return "enough of what it was selected from, and of the selected ones nobody knows, as selection prefers what is unlike the rest: select first, then have people look at the selected set ('refract review')"
	case low < least:
		return "enough of them, but the sample is too small to be sure: have people look at more ('refract review')"
	}
	return "enough of them to publish the set"
}

// Finding is what is known of the variants of a model.
type Finding struct {
	Model     string
	Variants  int // that are accepted
	Drawn     int // for a sample, rejected ones since then included
	Decided   int // of Drawn, by people
	Estimates []Estimate

	people  Estimate // which counts once all that was drawn is decided
	unclear int      // of Drawn, of which judges said neither yes nor no, where they have no Estimate
}

// Lines states the estimates, or that there is none.
func (f *Finding) Lines() []string {
	if len(f.Estimates) == 0 {
		line := "meaning kept: not measured"
		if f.unclear > 0 {
			line += fmt.Sprintf("; the judge was asked about %d variants, and said neither yes nor no of any", f.unclear)
		}
		if f.Drawn > 0 {
			line += fmt.Sprintf("; people have decided on %d of the %d variants that were drawn for it", f.Decided, f.Drawn)
		}
		return []string{line}
	}
	var out []string
	for i := range f.Estimates {
		out = append(out, f.Estimates[i].String())
	}
	return out
}

// Worst returns the estimate that counts for the variants of the model: that by
// people, or the lowest one of judges; nil where there is none.
func (f *Finding) Worst() *Estimate {
	var worst *Estimate
	for i := range f.Estimates {
		e := &f.Estimates[i]
		if e.By == "" {
			return e
		}
		if worst == nil || e.Share() < worst.Share() {
			worst = e
		}
	}
	return worst
}

// Tally counts the samples in segments. The zero value is ready for use.
type Tally struct{ models []*Finding }

// mostNames bounds the models and judges that are told apart: their names are
// untrusted, and may be many. The others are counted together.
const (
	mostNames = 100
	others    = "(others)"
)

// place finds a name among n, or says under which one to add it, and where.
func place(name string, n int, at func(int) string) (string, int) {
	for i := range n {
		if at(i) == name {
			return name, i
		}
	}
	if n >= mostNames && name != others {
		return place(others, n, at)
	}
	return strings.Clone(name), n
}

// Add counts the variants of a segment, and what was rejected.
func (t *Tally) Add(s *refract.Segment) {
	for i := range s.Variants {
		t.add(&s.Variants[i]).Variants++
	}
	for i := range s.Rejected {
		if v := &s.Rejected[i]; v.Audit != "" {
			t.add(v)
		}
	}
}

func (t *Tally) add(v *refract.Variant) *Finding {
	model, i := place(v.Model, len(t.models), func(i int) string { return t.models[i].Model })
	if i == len(t.models) {
		t.models = append(t.models, &Finding{Model: model})
	}
	f := t.models[i]
	if v.Audit == "" {
		return f
	}
	f.Drawn++
	if v.Review != "" {
		f.Decided++
	}
	if v.Review == refract.ReviewAccept {
		f.people.Kept++
	}
	f.people.place(v)
	if v.Audit == refract.AuditSampled || v.AuditedBy == "" || v.AuditedBy == v.Model || v.Origin != nil && v.AuditedBy == v.Origin.ServedModel {
		return f
	}
	by, i := place(v.AuditedBy, len(f.Estimates), func(i int) string { return f.Estimates[i].By })
	if i == len(f.Estimates) {
		f.Estimates = append(f.Estimates, Estimate{Model: f.Model, By: by})
	}
	switch e := &f.Estimates[i]; v.Audit {
	case refract.AuditKept:
		e.Kept++
		e.Of++
		e.place(v)
	case refract.AuditLost:
		e.Of++
		e.place(v)
	default:
		e.Unclear++
	}
	return f
}

// Findings returns what is known of each model that has a variant or had one
// drawn, in the order of appearance; estimates of people come first.
func (t *Tally) Findings() []Finding {
	var out []Finding
	for _, g := range t.models {
		f := *g
		f.Estimates = nil
		if f.Drawn > 0 && f.Decided == f.Drawn {
			f.people.Model, f.people.Of = f.Model, f.Drawn
			f.Estimates = append(f.Estimates, f.people)
		}
		for _, e := range g.Estimates {
			if e.Of > 0 {
				f.Estimates = append(f.Estimates, e)
			} else {
				f.unclear += e.Unclear
			}
		}
		out = append(out, f)
	}
	return out
}
