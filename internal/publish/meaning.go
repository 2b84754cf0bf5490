package publish

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

// LeastKept is the share of a model's variants that are to keep the meaning.
const LeastKept = 0.8

// Finding tells how many variants of a model keep the meaning of their references, by
// what people decided about a random sample, the variants with an Audit. They count
// once people have decided on all of it: what they look at first is no random choice.
type Finding struct {
	Model    string // that wrote them
	Variants int    // that are accepted
	// Drawn are the sample, rejected ones since then included; Decided those of them
	// that people decided about, and Kept those that they accepted.
	Drawn, Decided, Kept int
	InSet                int // variants of Drawn that the set has
	Aside                int // variants of Drawn that a selection left out
}

// Measured reports whether people decided on all that was drawn.
func (f *Finding) Measured() bool { return f.Drawn > 0 && f.Decided == f.Drawn }

// Share is that of the sample that keeps the meaning, between 0 and 1.
func (f *Finding) Share() float64 { return float64(f.Kept) / float64(f.Drawn) }

// Interval is Wilson's of 95 % about the share.
func (f *Finding) Interval() (low, high float64) {
	const z = 1.959963984540054
	p, n := f.Share(), float64(f.Drawn)
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
}

// String is such as "meaning kept, by eye: 11 % [7, 17] (n = 156, judged by people)".
func (f *Finding) String() string {
	switch {
	case f.Drawn == 0:
		return "meaning kept: not measured"
	case !f.Measured():
		return fmt.Sprintf("meaning kept: not measured; people have decided on %d of the %d variants that were drawn for it", f.Decided, f.Drawn)
	}
	low, high := f.Interval()
	who := "judged by people"
	if f.Aside > 0 {
		who += fmt.Sprintf("; measured before selection, %d of the %d are in this set", f.InSet, f.Drawn)
	}
	return fmt.Sprintf("meaning kept, by eye: %.0f %% [%.0f, %.0f] (n = %d, %s)", 100*f.Share(), 100*low, 100*high, f.Drawn, who)
}

// Advice says in plain words what the finding calls for.
func (f *Finding) Advice() string {
	if !f.Measured() {
		return "'refract review' shows variants to people, whose decisions measure it"
	}
	switch low, _ := f.Interval(); {
	case f.Share() < LeastKept:
		return "too many say something else: take a stronger model, or have a judge look at the answers ('refract expand --judge')"
	case f.Aside > 0:
		return "selection prefers what is unlike the rest: have people look at the selected set ('refract review')"
	case low < LeastKept:
		return "enough of them, but the sample is too small to be sure: have people look at more ('refract review')"
	}
	return "enough of them to publish the set"
}

// Tally counts the samples in segments. The zero value is ready for use.
type Tally struct{ models []Finding }

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
	i := slices.IndexFunc(t.models, func(f Finding) bool { return f.Model == v.Model })
	if i < 0 {
		i, t.models = len(t.models), append(t.models, Finding{Model: strings.Clone(v.Model)})
	}
	f := &t.models[i]
	if v.Audit == "" {
		return f
	}
	f.Drawn++
	if v.Review != "" {
		f.Decided++
	}
	if v.Review == refract.ReviewAccept {
		f.Kept++
	}
	switch v.Verdict {
	case "", refract.Accepted:
		f.InSet++
	case selection.NotSelected:
		f.Aside++
	}
	return f
}

// Findings returns what is known of each model that has a variant or had one
// drawn, in the order of appearance.
func (t *Tally) Findings() []Finding { return slices.Clone(t.models) }
