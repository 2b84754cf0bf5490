package publish

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/refract-eval/refract"
	"github.com/refract-eval/refract/diversify/selection"
)

// LeastKept is the share of a model's variants that should keep the meaning.
const LeastKept = 0.8

// Finding tells how many variants of a model keep the meaning of their references, according to
// people's decisions on a random sample, the variants with an Audit. It is measured only once
// people have decided on the whole sample, because what they look at first is not random.
type Finding struct {
	Model    string // that wrote the variants
	Variants int    // accepted variants
	// Drawn is the size of the sample, including variants rejected since; Decided counts
	// those that people decided on, and Kept those that they accepted.
	Drawn, Decided, Kept int
	InSet                int // variants of the sample in the set
	Aside                int // variants of the sample that a selection left out
}

// Measured reports whether people decided on the whole sample.
func (f *Finding) Measured() bool { return f.Drawn > 0 && f.Decided == f.Drawn }

// Share returns the share of the sample that keeps the meaning, between 0 and 1.
func (f *Finding) Share() float64 { return float64(f.Kept) / float64(f.Drawn) }

// Interval returns Wilson's 95 % interval of the share, between 0 and 1.
func (f *Finding) Interval() (low, high float64) {
	const z = 1.959963984540054
	p, n := f.Share(), float64(f.Drawn)
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
}

// String returns a description such as "meaning kept, by eye: 11 % [7, 17] (n = 156, judged by
// people)".
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

// Advice says what to do about the finding.
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

// Tally computes findings from segments. The zero value is ready for use.
type Tally struct{ models []Finding }

// Add counts the variants and rejected answers of a segment.
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

// Findings returns a finding for each model that has a variant, in the set or in the sample,
// in order of appearance.
func (t *Tally) Findings() []Finding { return slices.Clone(t.models) }
